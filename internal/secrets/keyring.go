package secrets

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"time"

	"purser/internal/document"
	"purser/internal/files"
	"purser/internal/keysets"
)

// Keyring is a Sealer with the keys of a file, which it reads again when the file has changed.
type Keyring struct {
	file *files.Watched[*keys]
	now  func() time.Time
}

var _ Sealer = (*Keyring)(nil)

// Options are the options of Open.
type Options = keysets.Options

// Open reads a keyset file. The error explains the problem and the remedy.
func Open(ctx context.Context, path string, options Options) (*Keyring, error) {
	options = options.Filled()
	file, err := kind().Open(ctx, path, options)
	if err != nil {
		return nil, err
	}
	return &Keyring{file, options.Now}, nil
}

// sameDigests refuses a change of the digest key.
func sameDigests(before, after *keys) error {
	if subtle.ConstantTimeCompare(before.digestKey, after.digestKey) == 0 {
		return errOtherDigest
	}
	return nil
}

// The purposes of an encoded place, with the versions of the encoding.
const (
	sealPurpose   = "purser seal 1"
	digestPurpose = "purser digest 1"
)

// current returns the keys as they are used now.
func (k *Keyring) current() sealing { return k.file.Current().at(k.now()) }

// Seal encrypts a cleartext with the primary key and binds it to its place. The result is 45 bytes longer.
func (k *Keyring) Seal(_ context.Context, place Place, cleartext []byte) ([]byte, error) {
	sealed, err := k.current().aead.Encrypt(cleartext, place.encode(sealPurpose))
	if err != nil {
		return nil, fmt.Errorf("seal the secret of document %s: %w", place, err)
	}
	return sealed, nil
}

// Open decrypts a text that Seal returned for the same place, with the key that it was sealed with. The error is
// *Unopened.
func (k *Keyring) Open(_ context.Context, place Place, sealed []byte) ([]byte, error) {
	id, ok := KeyOf(sealed)
	if !ok {
		return nil, &Unopened{Place: place, Cause: Damaged}
	}
	at := k.file.Current()
	if !at.enabled[id] {
		if at = k.file.Latest(); !at.enabled[id] { // another server may have rotated a moment ago
			return nil, &Unopened{Place: place, Cause: LostKey, Key: id}
		}
	}
	cleartext, err := at.use.First.aead.Decrypt(sealed, place.encode(sealPurpose))
	if err != nil {
		return nil, &Unopened{Place: place, Cause: Damaged}
	}
	return cleartext, nil
}

// Has reports whether texts that were sealed with a key can be opened.
func (k *Keyring) Has(key uint32) bool { return k.file.Latest().enabled[key] }

// Digest returns the keyed digest of the content of a place. Digests are equal only for equal contents of the same
// place, whichever key is primary. content is the canonical JSON text or a digest of it, always of the same kind.
func (k *Keyring) Digest(place Place, content []byte) document.Digest {
	mac := hmac.New(sha256.New, k.file.Current().digestKey)
	mac.Write(place.encode(digestPurpose))
	mac.Write(content)
	return document.Digest(mac.Sum(nil))
}

// Prefix returns the first five bytes of texts that are sealed with the primary key. Others need resealing.
func (k *Keyring) Prefix(context.Context) []byte { return k.current().prefix() }

// NeedsReseal reports whether a text is not sealed with the primary key.
func (k *Keyring) NeedsReseal(_ context.Context, sealed []byte) bool {
	id, ok := KeyOf(sealed)
	return !ok || id != k.current().primary
}

// Reseal seals a text with the primary key. It returns the text itself, without opening it, if that key has sealed it.
// The error is *Unopened if the text does not open.
func (k *Keyring) Reseal(ctx context.Context, place Place, sealed []byte) ([]byte, error) {
	if !k.NeedsReseal(ctx, sealed) {
		return sealed, nil
	}
	cleartext, err := k.Open(ctx, place, sealed)
	if err != nil {
		return nil, err
	}
	return k.Seal(ctx, place, cleartext)
}
