package api

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"regexp"
	"strings"

	"github.com/klauspost/compress/gzip"

	"purser/api/mediatype"
	"purser/internal/document"
	"purser/internal/fault"
)

var mediaTypes = map[string]document.Media{
	"application/x-yaml": document.YAML,
	"application/yaml":   document.YAML,
	"application/json":   document.JSON,
}

// checkBody rejects bodies of unsupported content types before any other check (spec/api.md §1.3).
func (s *server) checkBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hasBody := r.ContentLength != 0 // -1 for a body of unknown length
		if hasBody && r.Method != http.MethodGet && r.Method != http.MethodDelete {
			if err := checkContentType(r); err != nil {
				s.answers.Fail(w, r, err)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// takesArchive matches the paths whose body is the archive of a package.
var takesArchive = regexp.MustCompile(`^/api/v1\.0/(packages/check|buckets/[^/]+/packages/[^/]+)/?$`)

func checkContentType(r *http.Request) error {
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

// sizeOfBody returns the maximum decompressed size of the body, or 0 if the body will be rejected unread.
func (s *server) sizeOfBody(r *http.Request) int64 {
	switch {
	case r.ContentLength > s.Limits.Body:
		return 0
	case r.ContentLength < 0, r.Header.Get("Content-Encoding") == "gzip":
		return s.Limits.Body
	}
	return r.ContentLength
}

// readBody reads and decompresses the body. Fault: TooLarge if it exceeds the limit.
func (s *server) readBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, document.Media, error) {
	media := mediaTypes[mediaTypeOf(r.Header.Get("Content-Type"))]
	if r.ContentLength > limit {
		return nil, media, bodyTooLarge(limit)
	}
	var source io.Reader = http.MaxBytesReader(w, r.Body, limit)
	size := max(r.ContentLength, 0)
	if r.Header.Get("Content-Encoding") == "gzip" {
		unzipped, err := gzip.NewReader(source)
		if err != nil {
			return nil, media, bodyFault(limit, fmt.Errorf("not gzip: %w", err))
		}
		// One byte more than allowed shows that the body was larger.
		source, size = io.LimitReader(unzipped, limit+1), 0
	}
	buffer := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead)) // room to read EOF without growing
	if _, err := buffer.ReadFrom(source); err != nil {
		return nil, media, bodyFault(limit, err)
	}
	if int64(buffer.Len()) > limit {
		return nil, media, bodyTooLarge(limit)
	}
	return buffer.Bytes(), media, nil
}

func bodyTooLarge(limit int64) error {
	return document.TooLarge("The request body has more than %d bytes (decompressed), the most that is read here; "+
		"documents can be sent as several buckets, or --max-body be raised", limit)
}

func bodyFault(limit int64, err error) error {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return bodyTooLarge(limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fault.New(fault.Timeout, "HTTPRequestTimeout", "The request body took too long to arrive; nothing was stored")
	}
	return fault.New(fault.Invalid, "HTTPBadRequest", "The request body ended early or is damaged: %w", err)
}
