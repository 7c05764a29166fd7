package secrets

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tink-crypto/tink-go/v2/tink"

	"purser/internal/document"
)

// Keyring is the Sealer that works with the keys of a file.
type Keyring struct {
	path string
	kms  tink.AEAD
	now  func() time.Time
	log  *slog.Logger
	keys atomic.Pointer[keys]

	watch sync.Mutex  // held while the file is looked at; guards what follows
	seen  os.FileInfo // the state of the file that keys are from
	next  time.Time   // before which the file is not looked at again
	ill   bool        // the file could not be used when it was last looked at
}

var _ Sealer = (*Keyring)(nil)

// Options say how a keyring is opened.
type Options struct {
	Create bool             // make the file if there is none; for a server with a private database
	KMS    tink.AEAD        // decrypts the keysets (secrets/vault); nil: they are in the cleartext
	Now    func() time.Time // nil: time.Now
	Log    *slog.Logger     // told when the file changes or breaks; nil: nobody is
}

// Open reads a keyset file. The error says what is wrong with it and what to do about it.
func Open(ctx context.Context, path string, options Options) (*Keyring, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	k := &Keyring{path: path, kms: options.KMS, now: options.Now, log: options.Log}
	if k.now == nil {
		k.now = time.Now
	}
	if k.log == nil {
		k.log = slog.New(slog.DiscardHandler)
	}
	loaded, info, err := load(path, k.kms)
	if options.Create && errors.Is(err, os.ErrNotExist) {
		loaded, info, err = k.create(ctx)
	}
	if err != nil {
		return nil, err
	}
	k.keys.Store(loaded)
	k.seen, k.next = info, k.now().Add(healthyPause)
	return k, nil
}

// create makes the file, unless another server was faster, and reads it.
func (k *Keyring) create(ctx context.Context) (*keys, os.FileInfo, error) {
	switch err := Create(k.path, k.kms); {
	case err == nil:
		k.log.LogAttrs(ctx, slog.LevelInfo, "keyset file made: back it up, without it no secret opens",
			slog.String("path", k.path))
	case !errors.Is(err, os.ErrExist):
		return nil, nil, err
	}
	return load(k.path, k.kms)
}

func load(path string, kms tink.AEAD) (*keys, os.FileInfo, error) {
	e, info, err := readEnvelope(path)
	if err != nil {
		return nil, nil, err
	}
	k, err := e.keys(kms)
	if err != nil {
		return nil, nil, fmt.Errorf("read the keyset file %s: %w", path, err)
	}
	return k, info, nil
}

// The names of what a place is encoded for; the numbers are the versions of the encoding.
const (
	sealPurpose   = "purser seal 1"
	digestPurpose = "purser digest 1"
)

// Seal encrypts a clear text with the primary key, bound to its place. It is 45 bytes longer then.
func (k *Keyring) Seal(ctx context.Context, place Place, cleartext []byte) ([]byte, error) {
	sealed, err := k.current(ctx).aead.Encrypt(cleartext, place.encode(sealPurpose))
	if err != nil {
		return nil, fmt.Errorf("seal the secret of document %s: %w", place, err)
	}
	return sealed, nil
}

// Open decrypts what Seal returned for the same place, with whichever key it was. The error is *Unopened.
func (k *Keyring) Open(ctx context.Context, place Place, sealed []byte) ([]byte, error) {
	id, ok := keyOf(sealed)
	if !ok {
		return nil, &Unopened{Place: place, Cause: Damaged}
	}
	at := k.current(ctx)
	if !at.enabled[id] {
		if at = k.latest(ctx); !at.enabled[id] { // another server may have rotated a moment ago
			return nil, &Unopened{Place: place, Cause: LostKey, Key: id}
		}
	}
	cleartext, err := at.aead.Decrypt(sealed, place.encode(sealPurpose))
	if err != nil {
		return nil, &Unopened{Place: place, Cause: Damaged}
	}
	return cleartext, nil
}

// Forget has nothing to do: a sealed text is all there is of a secret.
func (k *Keyring) Forget(context.Context, []byte) error { return nil }

// Digest returns the keyed digest of the content of a place: equal for equal content of the same place, whichever key
// is primary, and for nothing else. content is the canonical JSON text or a digest of it (document.Document's is one),
// as the caller likes, but always the same.
func (k *Keyring) Digest(place Place, content []byte) document.Digest {
	mac := hmac.New(sha256.New, k.keys.Load().digestKey)
	mac.Write(place.encode(digestPurpose))
	mac.Write(content)
	return document.Digest(mac.Sum(nil))
}

// Prefix returns the five bytes that every text begins with that is sealed now: what begins otherwise needs resealing.
func (k *Keyring) Prefix(ctx context.Context) []byte { return k.current(ctx).prefix() }

// NeedsReseal tells whether a sealed text is not under the primary key.
func (k *Keyring) NeedsReseal(ctx context.Context, sealed []byte) bool {
	id, ok := keyOf(sealed)
	return !ok || id != k.current(ctx).primary
}

// Reseal returns a sealed text under the primary key: itself if it is already, and then unopened. The error is
// *Unopened if it does not open.
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
