package api

import (
	"mime"
	"net/http"
	"regexp"
	"strings"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/words"
)

var bodyTypes = map[string]document.Media{
	"application/x-yaml": document.YAML,
	"application/yaml":   document.YAML,
	"application/json":   document.JSON,
}

var (
	// takesArchive matches the paths to which archives of packages are uploaded.
	takesArchive = regexp.MustCompile(`^/api/v1\.0/(packages/check|buckets/[^/]+/packages/[^/]+)/?$`)
	// takesCatalog matches the paths to which Puppet catalogs are sent.
	takesCatalog = regexp.MustCompile(`^/api/v1\.0/revisions/[^/]+/puppet/(catalog|diff/[^/]+)/?$`)
)

// checkBodyType rejects bodies of unsupported content types.
func checkBodyType(r *http.Request) error {
	header := r.Header.Get("Content-Type")
	if header == "" {
		return missingType(r)
	}
	if takesArchive.MatchString(r.URL.EscapedPath()) {
		return checkArchiveType(r)
	}
	if _, known := bodyTypes[mediaTypeOf(header)]; !known {
		hint := ""
		if mediaTypeOf(header) == "application/x-www-form-urlencoded" {
			hint = " curl -d sends that, and removes line breaks: use -T FILE or --data-binary @FILE, with " +
				"-H 'Content-Type: application/x-yaml'."
		}
		return fault.New(fault.UnsupportedType, "HTTPUnsupportedMediaType", "Unexpected content type: %s. Expected "+
			"content types are: ['application/x-yaml', 'application/yaml', 'application/json'].%s", words.Excerpt(header), hint)
	}
	if encoding := encodingOf(r); encoding != "" && !isGzip(r) {
		return fault.New(fault.UnsupportedType, "HTTPUnsupportedMediaType",
			"Unexpected content encoding: %s. Send the body uncompressed or with gzip.", words.Excerpt(encoding))
	}
	return nil
}

// missingType returns the fault of a request that does not name the type of its body.
func missingType(r *http.Request) error {
	kinds := "application/x-yaml, application/yaml or application/json"
	switch path := r.URL.EscapedPath(); {
	case takesArchive.MatchString(path):
		kinds = typeZip
	case takesCatalog.MatchString(path):
		kinds = typeJSON
	}
	return fault.New(fault.Invalid, "HTTPMissingHeader", "The Content-Type header is required.").
		Hint("Send Content-Type: %s.", kinds)
}

// encodingOf returns the encodings of a body, "" for none. Their names are in any case (RFC 9110 §8.4.1).
func encodingOf(r *http.Request) string {
	encoding := strings.ToLower(strings.Join(r.Header.Values("Content-Encoding"), ", "))
	if encoding == "identity" {
		return ""
	}
	return encoding
}

// isGzip reports whether a body is compressed with gzip, also by the name from HTTP/1.0.
func isGzip(r *http.Request) bool {
	encoding := encodingOf(r)
	return encoding == "gzip" || encoding == "x-gzip"
}

// checkArchiveType is checkBodyType for a package archive, which is already compressed.
func checkArchiveType(r *http.Request) error {
	header := r.Header.Get("Content-Type")
	switch mediaTypeOf(header) {
	case typeZip, "application/x-zip-compressed", "application/octet-stream":
	default:
		return fault.New(fault.UnsupportedType, "HTTPUnsupportedMediaType",
			"Unexpected content type: %s. A package is sent as a zip archive, with Content-Type: application/zip.",
			words.Excerpt(header))
	}
	if encoding := encodingOf(r); encoding != "" {
		return fault.New(fault.UnsupportedType, "HTTPUnsupportedMediaType",
			"Unexpected content encoding: %s. An archive is already compressed; send it without Content-Encoding.",
			words.Excerpt(encoding))
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

// mediaOf returns the format that the Content-Type of a request names.
func mediaOf(r *http.Request) document.Media {
	return bodyTypes[mediaTypeOf(r.Header.Get("Content-Type"))]
}
