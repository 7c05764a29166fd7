package bodies

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"
)

// A body has ten seconds to begin, and then as long as 4 KiB/s take, but no longer than a request may.
func TestPaced_due(t *testing.T) {
	t.Parallel()
	for received, want := range map[int64]time.Duration{
		0: 10 * time.Second, 40 << 10: 10 * time.Second, 40<<10 + 4096: 11 * time.Second, 200 << 10: 50 * time.Second,
		1 << 20: time.Minute,
	} {
		p := &paced{patience: time.Minute, received: received}
		if got := p.due(); got != want {
			t.Errorf("after %d bytes: %v, want %v", received, got, want)
		}
	}
}

// Memory for the rest of a body is reserved once its first MiB has arrived, and not if the body ends there.
func TestReadAll(t *testing.T) {
	t.Parallel()
	refused := errors.New("no memory")
	for name, c := range map[string]struct {
		sent, announced, size int64
		reserved              int64 // -1: nothing is
		err                   error
	}{
		"small":                     {1000, 1000, 1000, -1, nil},
		"empty":                     {0, 0, 5 << 20, -1, nil},
		"of unknown size, small":    {1000, 0, 5 << 20, -1, nil},
		"of unknown size, large":    {3 << 20, 0, 5 << 20, 4 << 20, nil},
		"large":                     {3 << 20, 3 << 20, 3 << 20, 2 << 20, nil},
		"just the first bytes":      {1 << 20, 1 << 20, 1 << 20, -1, nil},
		"large, without memory":     {3 << 20, 3 << 20, 3 << 20, 2 << 20, refused},
		"small, although announced": {1000, 3 << 20, 3 << 20, -1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sent, reserved := bytes.Repeat([]byte("x"), int(c.sent)), int64(-1)
			source := &counting{Reader: bytes.NewReader(sent)}
			text, err := readAll(source, c.announced, c.size, 5<<20, func(bytes int64) error {
				if reserved = bytes; source.n > firstBytes {
					t.Errorf("%d bytes were read before memory was reserved", source.n)
				}
				return c.err
			})
			if !errors.Is(err, c.err) || reserved != c.reserved {
				t.Errorf("reserved %d, want %d: %v", reserved, c.reserved, err)
			}
			if c.err == nil && !bytes.Equal(text, sent) {
				t.Errorf("read %d bytes, want %d", len(text), len(sent))
			}
		})
	}
}

// counting counts the bytes that are read.
type counting struct {
	io.Reader

	n int
}

// Read implements io.Reader.
func (c *counting) Read(buffer []byte) (n int, err error) {
	n, err = c.Reader.Read(buffer)
	c.n += n
	return n, err
}
