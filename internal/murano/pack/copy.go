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

// errTooLarge is the error of a package with more bytes than it may have.
var errTooLarge = errors.New("the package is too large")

// copier reads files, and counts what it reads.
type copier struct {
	meter  *budget.Meter
	limits Limits
	most   int64 // bytes of all files
	total  int64
	buffer [32 << 10]byte
}

// The costs of a byte that is inflated and digested, in steps of the budget.
const byteSteps = 10

// file reads a file. reads that fail are *readError; errTooLarge and other errors end the work.
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

// readError is the error of a file that cannot be read.
type readError struct{ err error }

func (e *readError) Error() string { return e.err.Error() }

// tooLarge describes the bound that was exceeded by a file.
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
