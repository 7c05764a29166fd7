package secrets

import (
	"encoding/json"
	"errors"
	"log/slog"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/prf"
	"github.com/tink-crypto/tink-go/v2/tink"

	"purser/internal/keysets"
)

// envelope is the content of a keyset file: two keysets, of which the first is rotated.
type envelope struct {
	AEAD   json.RawMessage     `json:"aead"`
	Digest json.RawMessage     `json:"digest"`
	Next   *keysets.Succession `json:"next,omitempty"`
}

var (
	errNoKeyset    = errors.New(`this is no keyset file of Purser's, {"aead": …, "digest": …} with a Tink keyset in each`)
	errOtherDigest = errors.New(
		`its "digest" has changed, which would make every content look changed; only "aead" can be rotated`)
)

// kind returns the kind of keyset files that a Keyring reads.
func kind() keysets.Kind[envelope, *keys] {
	return keysets.Kind[envelope, *keys]{
		New: newEnvelope, Template: aead.XChaCha20Poly1305KeyTemplate,
		Rotated:  func(e *envelope) keysets.Rotated { return keysets.Rotated{Keyset: &e.AEAD, Next: &e.Next} },
		Complete: func(e envelope) bool { return e.AEAD != nil && e.Digest != nil },
		NoKeyset: errNoKeyset, Keys: envelope.keys, Unchanged: sameDigests,
		Created: func(log *slog.Logger, path string) {
			log.Info("created the keyset file: back it up, for no secret can be decrypted without it", slog.String("path", path))
		},
	}
}

// newEnvelope makes both keysets. XChaCha20-Poly1305 has a nonce of 192 bits, so a key can seal any number of secrets.
func newEnvelope(kms tink.AEAD) (e envelope, err error) {
	if e.AEAD, err = keysets.New(aead.XChaCha20Poly1305KeyTemplate(), kms); err != nil {
		return e, err
	}
	e.Digest, err = keysets.New(prf.HMACSHA256PRFKeyTemplate(), kms)
	return e, err
}
