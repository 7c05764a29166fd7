package bodies

import (
	"mime"
	"net/http"
	"regexp"
	"strings"

	"purser/api/mediatype"
	"purser/internal/document"
	"purser/internal/fault"
)

var mediaTypes = map[string]document.Media{
	"application/x-yaml": document.YAML,
	"application/yaml":   document.YAML,
	"application/json":   document.JSON,
}

// takesArchive matches the paths to which archives of packages are uploaded.
var takesArchive = regexp.MustCompile(`^/api/v1\.0/(packages/check|buckets/[^/]+/packages/[^/]+)/?$`)

// CheckType rejects bodies of unsupported content types (spec/api.md §1.3).
func CheckType(r *http.Request) error {
	header := r.Header.Get("Content-Type")
	if header == "" {
		missing := fault.New(fault.Invalid, "HTTPMissingHeader", "The Content-Type header is required.")
		missing.Messages = []fault.Message{
			{Message: missing.Message, Error: true},
			{Message: "Send Content-Type: application/x-yaml, application/yaml or application/json.", Error: true},
		}
		return missing
	}
	if takesArchive.MatchString(r.URL.EscapedPath()) {
		return checkArchiveType(r)
	}
	if _, known := mediaTypes[mediaTypeOf(header)]; !known {
		hint := ""
		if mediaTypeOf(header) == "application/x-www-form-urlencoded" {
			hint = " curl -d sends that, and removes line breaks: use -T FILE or --data-binary @FILE, with " +
				"-H 'Content-Type: application/x-yaml'."
		}
		return fault.New(fault.UnsupportedType, "HTTPUnsupportedMediaType", "Unexpected content type: %s. Expected "+
			"content types are: ['application/x-yaml', 'application/yaml', 'application/json'].%s", header, hint)
	}
	switch r.Header.Get("Content-Encoding") {
	case "", "identity", "gzip":
		return nil
	}
	return fault.New(fault.UnsupportedType, "HTTPUnsupportedMediaType",
		"Unexpected content encoding: %s. Send the body uncompressed or with gzip.", r.Header.Get("Content-Encoding"))
}

// checkArchiveType is checkContentType for a package archive, which is already compressed.
func checkArchiveType(r *http.Request) error {
	header := r.Header.Get("Content-Type")
	switch mediaTypeOf(header) {
	case mediatype.Zip, "application/x-zip-compressed", "application/octet-stream":
	default:
		return fault.New(fault.UnsupportedType, "HTTPUnsupportedMediaType",
			"Unexpected content type: %s. A package is sent as a zip archive, with Content-Type: application/zip.", header)
	}
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return fault.New(fault.UnsupportedType, "HTTPUnsupportedMediaType",
			"Unexpected content encoding: %s. An archive is already compressed; send it without Content-Encoding.", encoding)
	}
	return nil
}

func mediaTypeOf(header string) string {
	if parsed, _, err := mime.ParseMediaType(header); err == nil {
		return parsed
	}
	raw, _, _ := strings.Cut(header, ";")
	return strings.ToLower(strings.TrimSpace(raw))
}

// Media returns the format that the Content-Type of a request names.
func Media(r *http.Request) document.Media {
	return mediaTypes[mediaTypeOf(r.Header.Get("Content-Type"))]
}
