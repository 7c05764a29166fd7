package api

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"regexp"
	"strings"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/words"
)

// bodySize returns the maximum decompressed size of the body, or 0 if the body will be rejected unread because it
// exceeds the limit.
func bodySize(r *http.Request, limit int64) int64 {
	switch {
	case r.ContentLength > limit:
		return 0
	case r.ContentLength < 0, isGzip(r):
		return limit
	}
	return r.ContentLength
}

// readSmall reads and decompresses a body. It reserves no memory, so the limit must be low. Faults: TooLarge if the
// body exceeds the limit, Timeout if it arrives too slowly.
func (u *uploads) readSmall(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, document.Media, error) {
	return u.read(w, r, limit, func(int64) error { return nil })
}

// read is readSmall for larger bodies: it calls reserve for the bytes after the first ones, as they arrive.
func (u *uploads) read(w http.ResponseWriter, r *http.Request, limit int64, reserve func(bytes int64) error) (
	[]byte, document.Media, error,
) {
	media := mediaOf(r)
	if r.ContentLength > limit {
		return nil, media, bodyTooLarge(limit)
	}
	source := paceOf(w, r.Body, u.patience)
	waited := func(bytes int64) error {
		defer source.pause()() // the body cannot be read in the meantime
		return reserve(bytes)
	}
	text, err := readBody(r, http.MaxBytesReader(w, source, limit), limit, waited)
	if err == nil { // otherwise the rest is not waited for without a deadline
		source.end()
	}
	return text, media, err
}

// readBody reads a body from source and decompresses it.
func readBody(r *http.Request, source io.Reader, limit int64, reserve func(int64) error) ([]byte, error) {
	size := bodySize(r, limit)
	if !isGzip(r) {
		return readAll(source, size, limit, reserve)
	}
	const unpacked = "; compress it with gzip, or send it without Content-Encoding; nothing was stored"
	unzipped, err := gzip.NewReader(source)
	switch {
	case errors.Is(err, io.EOF):
		return nil, damagedBody("The request body is empty, but Content-Encoding says that it is compressed" + unpacked)
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, damagedBody("The request body is not compressed, but Content-Encoding says so" + unpacked)
	case err != nil:
		return nil, bodyFault(limit, err)
	}
	// One byte more than allowed shows that the body was larger.
	return readAll(io.LimitReader(unzipped, limit+1), size, limit, reserve)
}

// firstBytes of a body are read before memory for more is reserved, so that nobody gets that memory by announcing a
// large body alone. Most bodies are not larger.
const firstBytes = 1 << 20

// readAll reads a body of at most size bytes to its end. It reserves memory for as many bytes as have arrived, again
// and again. An error of reserve is returned unwrapped.
func readAll(source io.Reader, size, limit int64, reserve func(bytes int64) error) ([]byte, error) {
	var buffer bytes.Buffer
	room := min(size, firstBytes)
	for {
		_, err := io.CopyN(&buffer, source, room)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, bodyFault(limit, err)
		}
		read := int64(buffer.Len())
		if room = min(size-read, read); err != nil || room <= 0 {
			break
		}
		if err := reserve(room); err != nil {
			return nil, err
		}
		grown := make([]byte, read, read+room+bytes.MinRead) // Grow would make room for more than is reserved
		copy(grown, buffer.Bytes())
		buffer = *bytes.NewBuffer(grown)
	}
	if _, err := buffer.ReadFrom(source); err != nil { // the body ends here, unless it is too large
		return nil, bodyFault(limit, err)
	}
	if int64(buffer.Len()) > limit {
		return nil, bodyTooLarge(limit)
	}
	return buffer.Bytes(), nil
}

func bodyTooLarge(limit int64) error {
	return document.TooLarge("The request body has more than %d bytes (decompressed), the most that is read here", limit)
}

func bodyFault(limit int64, err error) error {
	var exceeds *http.MaxBytesError
	switch {
	case errors.As(err, &exceeds):
		return bodyTooLarge(limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fault.New(fault.Timeout, "HTTPRequestTimeout", "The request body took too long to arrive; nothing was stored")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return damagedBody("The request body ended early; send all of it again; nothing was stored")
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader), errors.As(err, new(flate.CorruptInputError)):
		return damagedBody("The request body is damaged: it cannot be decompressed; send it again; nothing was stored")
	}
	return fault.New(fault.Invalid, "HTTPBadRequest", "The request body is damaged: %w; send it again; nothing was stored",
		err)
}

func damagedBody(message string) error {
	return fault.New(fault.Invalid, "HTTPBadRequest", "%s", message)
}

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
