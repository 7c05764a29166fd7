package secrets

import (
	"time"

	"github.com/tink-crypto/tink-go/v2/tink"
)

// Create makes a keyset file with a key for each purpose, as keysets.Kind.Create does.
func Create(path string, kms tink.AEAD) error { return kind().Create(path, kms) }

// Rotate adds a key to a keyset file, as keysets.Kind.Rotate does: servers open texts with the key at once, and seal
// with it after a time. The older keys stay, to open the texts that they sealed, and so does the key of the digests.
func Rotate(path string, kms tink.AEAD, now time.Time, after time.Duration) (key uint32, from time.Time, err error) {
	return kind().Rotate(path, kms, now, after)
}
