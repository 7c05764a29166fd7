package api

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

const (
	// minSize is the smallest size of a compressed answer, in bytes.
	minSize = 1 << 10
	// maxCompressors bounds the answers that one method compresses concurrently, and so the memory: a compressor takes
	// about a megabyte for as long as its client reads. Further answers are sent uncompressed.
	maxCompressors = 32
	// compressionWindow is how far back zstd looks for repetitions, in bytes.
	compressionWindow = 256 << 10
)

// noTransform in Cache-Control prevents the compression of an answer with secrets, here and by proxies. From the
// compressed size, an attacker who can place text beside a secret learns whether the two are similar (BREACH).
const noTransform = "no-transform"

// compressor compresses one answer at a time and can be reused.
type compressor interface {
	io.WriteCloser
	Reset(w io.Writer)
}

// method is a compression method with its name in Accept-Encoding.
type compression struct {
	name string
	idle chan compressor // nil for compressors not created yet
	make func() (compressor, error)
}

func newCompression(name string, newCompressor func() (compressor, error)) *compression {
	m := &compression{name, make(chan compressor, maxCompressors), newCompressor}
	for range maxCompressors {
		m.idle <- nil
	}
	return m
}

// newCompressions returns the methods, the best first.
func newCompressions() []*compression {
	return []*compression{
		newCompression("zstd", func() (compressor, error) {
			return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
				zstd.WithWindowSize(compressionWindow), zstd.WithLowerEncoderMem(true))
		}),
		newCompression("gzip", func() (compressor, error) { return gzip.NewWriterLevel(nil, gzip.BestSpeed) }),
	}
}

// take returns a compressor, nil if all are in use.
func (m *compression) take() compressor {
	select {
	case c := <-m.idle:
		if c == nil {
			made, err := m.make()
			if err != nil {
				panic(fmt.Errorf("make a compressor for %s: %w", m.name, err)) // only for invalid options
			}
			return made
		}
		return c
	default:
		return nil
	}
}

// release returns a compressor for reuse.
func (m *compression) release(c compressor) {
	c.Reset(nil)
	m.idle <- c
}

// preferredCompression returns the method that Accept-Encoding prefers, nil if it accepts none.
func preferredCompression(r *http.Request, methods []*compression) *compression {
	var best *compression
	bestQuality := 0.0
	for _, m := range methods {
		for name, quality := range preferences(r.Header.Values("Accept-Encoding")) {
			if name == m.name && quality > bestQuality {
				best, bestQuality = m, quality
			}
		}
	}
	return best
}

// compress returns a writer that compresses an answer as requested by Accept-Encoding, unless it is small. A compressed
// answer differs byte for byte, so its ETag becomes weak; If-None-Match and If-Match accept both forms. Pass the end of
// a complete answer to end, and release the writer.
func (s *server) compress(w http.ResponseWriter, r *http.Request) *compressingWriter {
	return &compressingWriter{
		ResponseWriter: w, method: preferredCompression(r, s.compressions), reading: isReading(r.Method),
	}
}

// writer delays the status of an answer until its size is known from Content-Length or the first write.
type compressingWriter struct {
	http.ResponseWriter

	method     *compression // nil if the client accepts none
	reading    bool
	status     int // 0 until the handler has chosen it
	sent       bool
	compressor compressor // nil if the answer is not compressed
}

// WriteHeader implements http.ResponseWriter.
func (w *compressingWriter) WriteHeader(status int) {
	if w.method == nil || w.sent || status < http.StatusOK {
		w.ResponseWriter.WriteHeader(status)
		return
	}
	w.status = status
	if size, err := strconv.Atoi(w.Header().Get("Content-Length")); err == nil {
		w.send(size)
	}
}

// Write implements http.ResponseWriter.
func (w *compressingWriter) Write(text []byte) (int, error) {
	if w.method != nil && w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if w.method != nil && !w.sent {
		w.send(len(text))
	}
	if w.compressor != nil {
		return w.compressor.Write(text)
	}
	return w.ResponseWriter.Write(text)
}

// send sends the status of an answer of at least size bytes.
func (w *compressingWriter) send(size int) {
	w.sent = true
	header := w.Header()
	known := header.Get("Content-Encoding") != "" || strings.Contains(header.Get("Cache-Control"), noTransform)
	if !known && size >= minSize {
		w.compressor = w.method.take()
	}
	if w.compressor != nil {
		w.compressor.Reset(w.ResponseWriter)
		header.Set("Content-Encoding", w.method.name)
		header.Del("Content-Length")
		if header.Get("Vary") == "" {
			header.Set("Vary", "Accept-Encoding")
		}
	}
	if tag := header.Get("ETag"); tag != "" && w.reading && (w.compressor != nil || w.status == http.StatusNotModified) {
		header.Set("ETag", "W/"+tag)
	}
	w.ResponseWriter.WriteHeader(w.status)
}

// end finishes a complete answer.
func (w *compressingWriter) end() {
	if w.status != 0 && !w.sent {
		w.send(0)
	}
	if w.compressor != nil {
		_ = w.compressor.Close() // the client may have disconnected
	}
}

// release returns the compressor.
func (w *compressingWriter) release() {
	if w.compressor != nil {
		w.method.release(w.compressor)
	}
}

// Unwrap is for http.ResponseController.
func (w *compressingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
