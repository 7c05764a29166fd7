package attest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/signature"
	"github.com/tink-crypto/tink-go/v2/signature/ecdsa"
	"github.com/tink-crypto/tink-go/v2/tink"

	"purser/internal/files"
	"purser/internal/keysets"
)

// Keyring signs statements with the keys of a file, which it reads again when the file has changed. It is safe for
// concurrent use.
type Keyring struct {
	file *files.Watched[*keys]
	now  func() time.Time
}

// Open reads a keyset file. The error explains the problem and the remedy.
func Open(ctx context.Context, path string, options keysets.Options) (*Keyring, error) {
	options = options.Filled()
	file, err := kind().Open(ctx, path, options)
	if err != nil {
		return nil, err
	}
	return &Keyring{file, options.Now}, nil
}

// Create makes a keyset file with one key, as keysets.Kind.Create does.
func Create(path string, kms tink.AEAD) error { return kind().Create(path, kms) }

// Rotate adds a key to a keyset file, as keysets.Kind.Rotate does. The public key is among those of Public at once, so
// that verifiers can have it before it signs.
func Rotate(path string, kms tink.AEAD, now time.Time, after time.Duration) (key uint32, from time.Time, err error) {
	return kind().Rotate(path, kms, now, after)
}

// Sign returns an envelope with a statement.
func (k *Keyring) Sign(statement Statement) ([]byte, error) {
	payload, err := statement.text()
	if err != nil {
		return nil, err
	}
	with := k.file.Current().use.At(k.now())
	signed, err := with.signer.Sign(encoded(PayloadType, payload))
	if err != nil {
		return nil, fmt.Errorf("sign a statement: %w", err)
	}
	return sealed(payload, signed, with.key.ID)
}

// Public returns the public keys of all enabled keys.
func (k *Keyring) Public() []Key { return k.file.Current().public }

// content is the content of a keyset file.
type content struct {
	Signing json.RawMessage     `json:"signing"`
	Next    *keysets.Succession `json:"next,omitempty"`
}

// keys are the keys of a keyset file. They are immutable.
type keys struct {
	use    keysets.Use[signing]
	public []Key // of the enabled keys, in the order of the file
	number int   // of all keys
}

// signing signs with one key of a keyset.
type signing struct {
	signer  tink.Signer
	primary uint32
	key     Key
}

var (
	errNoKeyset = errors.New(`this is no file of signing keys, {"signing": …} with a Tink keyset`)
	errUnfitKey = errors.New("each of its keys must be one of ECDSA with the curve P-256, SHA-256, signatures in DER " +
		"and the output prefix RAW")
)

// kind returns the kind of keyset files that a Keyring reads.
func kind() keysets.Kind[content, *keys] {
	return keysets.Kind[content, *keys]{
		New: newContent, Template: signature.ECDSAP256KeyWithoutPrefixTemplate,
		Rotated:  func(c *content) keysets.Rotated { return keysets.Rotated{Keyset: &c.Signing, Next: &c.Next} },
		Complete: func(c content) bool { return c.Signing != nil },
		NoKeyset: errNoKeyset, Keys: content.keys,
		Created: func(log *slog.Logger, path string) {
			log.Info("created the file of signing keys: back it up, for who verifies would need other keys without it",
				slog.String("path", path))
		},
	}
}

func newContent(kms tink.AEAD) (c content, err error) {
	c.Signing, err = keysets.New(signature.ECDSAP256KeyWithoutPrefixTemplate(), kms)
	return c, err
}

// Described implements keysets.Keys.
func (k *keys) Described(now time.Time) (primary uint32, number int, next *keysets.Succession) {
	return k.use.At(now).primary, k.number, k.use.Next
}

// keys reads the keyset, which is a request to the KMS, if there is one.
func (c content) keys(kms tink.AEAD) (*keys, error) {
	handle, err := keysets.Unpack(c.Signing, kms)
	if err != nil {
		return nil, fmt.Errorf(`read its "signing": %w`, err)
	}
	k := &keys{number: handle.Len()}
	byID := map[uint32]Key{}
	for i := range handle.Len() {
		entry, err := handle.Entry(i)
		if err != nil {
			return nil, fmt.Errorf(`use its "signing": %w`, errUnfitKey)
		}
		key, err := publicOf(entry)
		if err != nil {
			return nil, fmt.Errorf(`use its "signing": %w`, err)
		}
		if byID[entry.KeyID()] = key; entry.KeyStatus() == keyset.Enabled {
			k.public = append(k.public, key)
		}
	}
	k.use, err = keysets.UseOf(handle, c.Next, func(handle *keyset.Handle, primary uint32) (signing, error) {
		signer, err := signerWith(handle, primary)
		return signing{signer, primary, byID[primary]}, err
	})
	if err != nil {
		return nil, fmt.Errorf(`use its "signing": %w`, err)
	}
	return k, nil
}

// publicOf returns the public key of a key that signatures of DSSE can be made with.
func publicOf(entry *keyset.Entry) (Key, error) {
	private, isECDSA := entry.Key().(*ecdsa.PrivateKey)
	if !isECDSA {
		return Key{}, errUnfitKey
	}
	parameters, ok := private.Parameters().(*ecdsa.Parameters)
	if !ok || parameters.CurveType() != ecdsa.NistP256 || parameters.HashType() != ecdsa.SHA256 ||
		parameters.SignatureEncoding() != ecdsa.DER || parameters.Variant() != ecdsa.VariantNoPrefix {
		return Key{}, errUnfitKey
	}
	public, err := private.PublicKey()
	if err != nil {
		return Key{}, errUnfitKey
	}
	of, ok := public.(*ecdsa.PublicKey)
	if !ok {
		return Key{}, errUnfitKey
	}
	return newKey(of.PublicPoint())
}

// signerWith returns what signs with one key of a keyset, which need not be its primary one.
func signerWith(handle *keyset.Handle, primary uint32) (tink.Signer, error) {
	manager := keyset.NewManagerFromHandle(handle)
	if err := manager.SetPrimary(primary); err != nil {
		return nil, errUnfitKey // Tink's errors may quote a key
	}
	handle, err := manager.Handle()
	if err != nil {
		return nil, errUnfitKey
	}
	signer, err := signature.NewSigner(handle)
	if err != nil {
		return nil, errUnfitKey
	}
	return signer, nil
}
