package api

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
