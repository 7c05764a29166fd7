package secrets

import (
	"context"
	"encoding/binary"
	"fmt"

	"purser/internal/document"
)

// Sealer keeps secrets. Tink's way of it (Keyring) turns a clear text into a sealed one; a service such as Barbican
// keeps the clear text and gives a reference to it as the sealed one.
//
// The methods are safe for concurrent use: a caller with many documents hides the latency of a service by calling from
// several goroutines. A Keyring needs a few microseconds a document, so there is nothing to gain by batches.
type Sealer interface {
	// Seal returns what to store in place of the clear text of a place. Sealing twice gives two different texts.
	Seal(ctx context.Context, place Place, cleartext []byte) (sealed []byte, err error)

	// Open returns the clear text. The error is *Unopened if this text does not open at this place and never will with
	// the keys at hand; any other error may pass.
	Open(ctx context.Context, place Place, sealed []byte) (cleartext []byte, err error)

	// Forget is called after the last document with a sealed text was removed for good.
	Forget(ctx context.Context, sealed []byte) error
}

// Place is where a secret belongs: a document of a site.
type Place struct {
	Site string
	document.Identity
}

// String names a place in errors: [acme/Widget/v1, site] w1 of site default.
func (p Place) String() string { return fmt.Sprintf("%s of site %s", p.Identity, p.Site) }

// encode writes a purpose, with its version, and a place so that no two pairs of them give the same bytes, whatever
// follows: each part after its length.
func (p Place) encode(purpose string) []byte {
	parts := [...]string{purpose, p.Site, p.Schema, p.Layer, p.Name}
	size := 0
	for _, part := range parts {
		size += binary.MaxVarintLen32 + len(part)
	}
	encoded := make([]byte, 0, size)
	for _, part := range parts {
		encoded = append(binary.AppendUvarint(encoded, uint64(len(part))), part...)
	}
	return encoded
}

// IsEmpty tells whether a document value is an empty payload, "", {}, [] or null, but not 0 or false: these are stored
// in the clear and their storagePolicy is shown as cleartext (spec/api.md §9).
func IsEmpty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case document.Mapping:
		return len(v) == 0
	}
	return false
}
