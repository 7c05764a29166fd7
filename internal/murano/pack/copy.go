package pack

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"purser/internal/budget"
	"purser/internal/murano"
)

// errTooLarge is the error for a package that exceeds its limits in bytes.
var errTooLarge = errors.New("the package is too large")

// copier reads files and counts their bytes.
type copier struct {
	meter  *budget.Meter
	limits Limits
	most   int64 // limit for the bytes of all files
	total  int64
	buffer [32 << 10]byte
}

// byteSteps is the cost of inflating and hashing a byte, in steps of the budget.
const byteSteps = 10

// file reads a file. A failed read is a *readError. errTooLarge and other errors end the reading of the package.
func (c *copier) file(name string, from io.Reader) (*murano.File, error) {
	f := &murano.File{}
	digest := sha256.New()
	var raw bytes.Buffer
	for {
		n, err := from.Read(c.buffer[:])
		f.Size += int64(n)
		c.total += int64(n)
		if f.Size > c.limits.File || c.total > c.most {
			return nil, errTooLarge
		}
		if spent := c.meter.Spend(byteSteps * n); spent != nil {
			return nil, spent
		}
		digest.Write(c.buffer[:n])
		if c.limits.keeps(name) && n > 0 {
			if spent := c.meter.Hold(n); spent != nil {
				return nil, spent
			}
			raw.Write(c.buffer[:n])
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, &readError{err}
		}
	}
	f.Digest = hex.EncodeToString(digest.Sum(nil))
	if c.limits.keeps(name) {
		f.Raw = raw.Bytes()
	}
	return f, nil
}

// readError is the error for a file that cannot be read.
type readError struct{ err error }

func (e *readError) Error() string { return e.err.Error() }

func (e *readError) Unwrap() error { return e.err }

// tooLarge describes the limit that a file exceeded.
func (c *copier) tooLarge(name string) *murano.Package {
	if c.total > c.most && c.most < c.limits.Total {
		return giveUpf("The archive inflates to more than %d times its size; at %q it was given up", c.limits.Ratio,
			short(name))
	}
	return giveUpf("File %q is too large: a file has at most %d bytes, all files of a package %d", short(name),
		c.limits.File, c.limits.Total)
}

func short(name string) string {
	const most = 200
	return fmt.Sprintf("%.*s", most, name)
}
