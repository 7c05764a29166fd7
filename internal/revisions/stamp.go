package revisions

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"strconv"
)

// Stamp is a random number that distinguishes a revision from others with the same number: numbers start over after a
// purge, and a database that is restored or fails over may return to an earlier state. Zero means no stamp.
type Stamp int64

// NewStamp returns a random stamp.
func NewStamp() Stamp {
	var random [8]byte
	_, _ = rand.Read(random[:]) // it never fails
	// The first digit is a letter, so that YAML never parses a stamp as a number.
	const letter = 0xc << 60
	return Stamp(binary.BigEndian.Uint64(random[:]) | letter) //nolint:gosec // its bits
}

// String returns the stamp as clients write it, 16 hexadecimal digits.
func (s Stamp) String() string { return fmt.Sprintf("%016x", uint64(s)) } //nolint:gosec // its bits

// ParseStamp parses the form that String returns.
func ParseStamp(text string) (Stamp, error) {
	bits, err := strconv.ParseUint(text, 16, 64)
	if err != nil {
		return 0, fmt.Errorf("read a stamp: %w", err)
	}
	return Stamp(bits), nil //nolint:gosec // its bits
}
