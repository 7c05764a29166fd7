package bodies

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"os"

	"purser/internal/document"
	"purser/internal/fault"
)

// sizeOf returns the maximum decompressed size of the body, or 0 if the body will be rejected unread because it
// exceeds the limit.
func sizeOf(r *http.Request, limit int64) int64 {
	switch {
	case r.ContentLength > limit:
		return 0
	case r.ContentLength < 0, isGzip(r):
		return limit
	}
	return r.ContentLength
}

// Read reads and decompresses the body. Fault: TooLarge if it exceeds the limit.
func Read(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, document.Media, error) {
	media := Media(r)
	if r.ContentLength > limit {
		return nil, media, tooLarge(limit)
	}
	if isGzip(r) {
		text, err := readGzip(w, r, limit)
		return text, media, err
	}
	text, err := readAll(http.MaxBytesReader(w, r.Body, limit), max(r.ContentLength, 0), limit)
	return text, media, err
}

// readGzip reads the body and decompresses it.
func readGzip(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	const unpacked = "; compress it with gzip, or send it without Content-Encoding; nothing was stored"
	unzipped, err := gzip.NewReader(http.MaxBytesReader(w, r.Body, limit))
	switch {
	case errors.Is(err, io.EOF):
		return nil, damaged("The request body is empty, but Content-Encoding says that it is compressed" + unpacked)
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, damaged("The request body is not compressed, but Content-Encoding says so" + unpacked)
	case err != nil:
		return nil, faultOf(limit, err)
	}
	// One byte more than allowed shows that the body was larger.
	return readAll(io.LimitReader(unzipped, limit+1), 0, limit)
}

// readAll reads a body to its end, of at most limit bytes. size is the expected number of bytes, 0 if it is unknown.
func readAll(source io.Reader, size, limit int64) ([]byte, error) {
	buffer := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead)) // room to read EOF without growing
	if _, err := buffer.ReadFrom(source); err != nil {
		return nil, faultOf(limit, err)
	}
	if int64(buffer.Len()) > limit {
		return nil, tooLarge(limit)
	}
	return buffer.Bytes(), nil
}

func tooLarge(limit int64) error {
	return document.TooLarge("The request body has more than %d bytes (decompressed), the most that is read here", limit)
}

func faultOf(limit int64, err error) error {
	var exceeds *http.MaxBytesError
	switch {
	case errors.As(err, &exceeds):
		return tooLarge(limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fault.New(fault.Timeout, "HTTPRequestTimeout", "The request body took too long to arrive; nothing was stored")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return damaged("The request body ended early; send all of it again; nothing was stored")
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader), errors.As(err, new(flate.CorruptInputError)):
		return damaged("The request body is damaged: it cannot be decompressed; send it again; nothing was stored")
	}
	return fault.New(fault.Invalid, "HTTPBadRequest", "The request body is damaged: %w; send it again; nothing was stored",
		err)
}

func damaged(message string) error { return fault.New(fault.Invalid, "HTTPBadRequest", "%s", message) }
