package secrets

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/tink-crypto/tink-go/v2/tink"

	"purser/internal/document"
	"purser/internal/files"
)

// Keyring is a Sealer with the keys of a file, which it reads again when the file has changed.
type Keyring struct {
	file *files.Watched[*keys]
	now  func() time.Time
}

var _ Sealer = (*Keyring)(nil)

// Options are the options of Open.
type Options struct {
	Create bool             // make the file if there is none; for a server with a private database
	KMS    tink.AEAD        // decrypts the keysets (secrets/vault); nil: they are in cleartext
	Now    func() time.Time // nil: time.Now
	Log    *slog.Logger     // for changes of the file, good and bad; nil: none
}

// Open reads a keyset file. The error explains the problem and the remedy.
func Open(ctx context.Context, path string, options Options) (*Keyring, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	file, err := watch(path, options)
	if options.Create && errors.Is(err, os.ErrNotExist) {
		if err := create(path, options); err != nil {
			return nil, err
		}
		file, err = watch(path, options)
	}
	if err != nil {
		return nil, fmt.Errorf("keyset file %w", err)
	}
	return &Keyring{file, options.Now}, nil
}

// create makes the file, unless another server has done so meanwhile.
func create(path string, options Options) error {
	err := Create(path, options.KMS)
	if err == nil {
		options.Log.Info("created the keyset file: back it up, for no secret can be decrypted without it",
			slog.String("path", path))
	}
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	return err
}

const (
	maxFileSize = 1 << 20          // bytes; thousands of keys need much less
	retryAfter  = 10 * time.Second // a KMS that does not answer delays a request by some seconds
)

var errOtherDigest = errors.New(
	`its "digest" has changed, which would make every content look changed; only "aead" can be rotated`)

// watch reads the keys of a file, now and when it has changed. It refuses changes of the digest key.
func watch(path string, options Options) (*files.Watched[*keys], error) {
	var digestKey []byte
	return files.Watch(files.Source[*keys]{
		Paths: []string{path}, MaxBytes: maxFileSize, Private: []string{path}, Now: options.Now, Retry: retryAfter,
		Parse: func(texts [][]byte) (*keys, error) {
			loaded, err := parseKeys(texts[0], options.KMS)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			if digestKey != nil && subtle.ConstantTimeCompare(loaded.digestKey, digestKey) == 0 {
				return nil, fmt.Errorf("%s: %w", path, errOtherDigest)
			}
			digestKey = loaded.digestKey
			return loaded, nil
		},
		Report: func(loaded *keys, err error) {
			if err != nil {
				options.Log.Error("the changed keyset file cannot be used: the old keys stay in use until it can",
					slog.String("path", path), slog.String("error", err.Error()))
				return
			}
			read := []any{
				slog.String("path", path), slog.Uint64("primary_key", uint64(loaded.at(options.Now()).primary)),
				slog.Int("keys", len(loaded.enabled)),
			}
			if next := loaded.next; next != nil && options.Now().Before(next.From) {
				read = append(read, slog.Uint64("next_key", uint64(next.Key)), slog.Time("from", next.From))
			}
			options.Log.Info("keyset file read again", read...)
		},
	})
}

func parseKeys(text []byte, kms tink.AEAD) (*keys, error) {
	e, err := parseEnvelope(text)
	if err != nil {
		return nil, err
	}
	return e.keys(kms)
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
	cleartext, err := at.first.aead.Decrypt(sealed, place.encode(sealPurpose))
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
