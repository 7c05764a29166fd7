package secrets

import (
	"context"
	"encoding/binary"
	"fmt"

	"purser/internal/document"
)

// Sealer turns secrets into strings that are safe to store. It is safe for concurrent use.
type Sealer interface {
	// Seal returns the text to store in place of the cleartext of a place. Sealing twice returns two different texts.
	Seal(ctx context.Context, place Place, cleartext []byte) (sealed []byte, err error)

	// Open returns the cleartext. The error is *Unopened if the text cannot be opened at this place with the present
	// keys; any other error may be temporary.
	Open(ctx context.Context, place Place, sealed []byte) (cleartext []byte, err error)
}

// Place is the document of a site that a secret belongs to.
type Place struct {
	Site string
	document.Identity
}

// String returns the name of a place for errors: [acme/Widget/v1, site] w1 of site default.
func (p Place) String() string { return fmt.Sprintf("%s of site %s", p.Identity, p.Site) }

// encode returns a purpose and a place, each part after its length, so that different ones have different encodings
// even with data appended.
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

// IsEmpty reports whether a document value is an empty payload: "", {}, [] or null, but not 0 or false. Empty payloads
// are stored in cleartext and their storagePolicy is shown as cleartext.
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
