package api

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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

// Memory for a body is reserved for as many bytes as have arrived, and no more than the body may have.
func TestReadAll(t *testing.T) {
	t.Parallel()
	refused := errors.New("no memory")
	const mib = 1 << 20
	for name, c := range map[string]struct {
		sent, size int64
		reserved   []int64
		err        error // of the last reservation
	}{
		"small":                     {1000, 1000, nil, nil},
		"empty":                     {0, 5 * mib, nil, nil},
		"of unknown size, small":    {1000, 5 * mib, nil, nil},
		"of unknown size, large":    {3 * mib, 32 * mib, []int64{mib, 2 * mib}, nil},
		"large":                     {3 * mib, 3 * mib, []int64{mib, mib}, nil},
		"very large":                {30 * mib, 30 * mib, []int64{mib, 2 * mib, 4 * mib, 8 * mib, 14 * mib}, nil},
		"just the first bytes":      {mib, mib, nil, nil},
		"large, without memory":     {9 * mib, 9 * mib, []int64{mib, 2 * mib}, refused},
		"small, although announced": {1000, 3 * mib, nil, nil},
		"ends early":                {2*mib + 1, 30 * mib, []int64{mib, 2 * mib}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sent, room := bytes.Repeat([]byte("x"), int(c.sent)), int64(firstBytes)
			source, reserved := &counting{Reader: bytes.NewReader(sent)}, []int64(nil)
			text, err := readAll(source, c.size, 32*mib, func(bytes int64) error {
				if reserved = append(reserved, bytes); source.n > room {
					t.Errorf("%d bytes were read, and memory reserved for %d", source.n, room)
				}
				if room += bytes; c.err != nil && len(reserved) == len(c.reserved) {
					return c.err
				}
				return nil
			})
			if !errors.Is(err, c.err) {
				t.Errorf("read: %v", err)
			}
			if different := cmp.Diff(c.reserved, reserved); different != "" {
				t.Errorf("reserved (-want +got):\n%s", different)
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

	n int64
}

// Read implements io.Reader.
func (c *counting) Read(buffer []byte) (n int, err error) {
	n, err = c.Reader.Read(buffer)
	c.n += int64(n)
	return n, err
}
