package bodies

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
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
	case r.ContentLength < 0, r.Header.Get("Content-Encoding") == "gzip":
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
	var source io.Reader = http.MaxBytesReader(w, r.Body, limit)
	size := max(r.ContentLength, 0)
	if r.Header.Get("Content-Encoding") == "gzip" {
		unzipped, err := gzip.NewReader(source)
		if err != nil {
			return nil, media, faultOf(limit, fmt.Errorf("not gzip: %w", err))
		}
		// One byte more than allowed shows that the body was larger.
		source, size = io.LimitReader(unzipped, limit+1), 0
	}
	buffer := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead)) // room to read EOF without growing
	if _, err := buffer.ReadFrom(source); err != nil {
		return nil, media, faultOf(limit, err)
	}
	if int64(buffer.Len()) > limit {
		return nil, media, tooLarge(limit)
	}
	return buffer.Bytes(), media, nil
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
	}
	return fault.New(fault.Invalid, "HTTPBadRequest", "The request body ended early or is damaged: %w", err)
}
