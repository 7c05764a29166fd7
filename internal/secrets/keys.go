package secrets

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/prf"
	tinkpb "github.com/tink-crypto/tink-go/v2/proto/tink_go_proto"
	"github.com/tink-crypto/tink-go/v2/tink"

	"purser/internal/document"
	"purser/internal/keysets"
)

// keys are the keys of a keyset file. They are immutable.
type keys struct {
	use       keysets.Use[sealing]
	enabled   map[uint32]bool // by the ids of the keys
	digestKey []byte          // of Digest; 32 bytes
}

// sealing opens texts with every enabled key of a keyset and seals with one of them.
type sealing struct {
	aead    tink.AEAD
	primary uint32
}

// at returns the keys as they are used at a time.
func (k *keys) at(now time.Time) sealing { return k.use.At(now) }

// Described implements keysets.Keys.
func (k *keys) Described(now time.Time) (primary uint32, number int, next *keysets.Succession) {
	return k.at(now).primary, len(k.enabled), k.use.Next
}

var (
	errUnfitAEAD = errors.New("its keys are not for authenticated encryption, or cannot be used by this version")
	errUnfitKey  = errors.New("each of its keys must have the output prefix TINK, by which its texts are known")
	errUnfitPRF  = errors.New("its primary key is not for a PRF of at least 32 bytes, such as HMAC_SHA256_PRF")
)

// digestKeyPurpose separates this use of the digest keyset from others.
const digestKeyPurpose = "purser digest key 1"

// keys reads both keysets, each of which is a request to the KMS, if there is one.
func (e envelope) keys(kms tink.AEAD) (*keys, error) {
	handle, err := keysets.Unpack(e.AEAD, kms)
	if err != nil {
		return nil, fmt.Errorf(`read its "aead": %w`, err)
	}
	k := &keys{enabled: keysets.Enabled(handle)}
	if k.use, err = keysets.UseOf(handle, e.Next, sealingWith); err != nil {
		return nil, fmt.Errorf(`use its "aead": %w`, err)
	}
	for _, key := range handle.KeysetInfo().GetKeyInfo() {
		if key.GetOutputPrefixType() != tinkpb.OutputPrefixType_TINK {
			return nil, fmt.Errorf(`use its "aead": %w`, errUnfitKey)
		}
	}
	if handle, err = keysets.Unpack(e.Digest, kms); err != nil {
		return nil, fmt.Errorf(`read its "digest": %w`, err)
	}
	if k.digestKey, err = digestKeyOf(handle); err != nil {
		return nil, fmt.Errorf(`use its "digest": %w`, err)
	}
	return k, nil
}

// sealingWith returns the use of a keyset with a primary key, which need not be its own.
func sealingWith(handle *keyset.Handle, primary uint32) (sealing, error) {
	manager := keyset.NewManagerFromHandle(handle)
	if err := manager.SetPrimary(primary); err != nil {
		return sealing{}, errUnfitAEAD // Tink's errors may quote a key
	}
	handle, err := manager.Handle()
	if err != nil {
		return sealing{}, errUnfitAEAD
	}
	primitive, err := aead.New(handle)
	if err != nil {
		return sealing{}, errUnfitAEAD
	}
	return sealing{primitive, primary}, nil
}

// digestKeyOf derives the key of the digests once, so that making a digest cannot fail.
func digestKeyOf(handle *keyset.Handle) ([]byte, error) {
	set, err := prf.NewPRFSet(handle)
	if err != nil {
		return nil, errUnfitPRF
	}
	key, err := set.ComputePrimaryPRF([]byte(digestKeyPurpose), uint32(len(document.Digest{})))
	if err != nil {
		return nil, errUnfitPRF
	}
	return key, nil
}

// prefixSize is the size of the prefix of sealed texts: the byte 1 and the id of the key (Tink's wire format).
const prefixSize = 5

// KeyOf returns the id of the key that a text was sealed with, and false for a text without a prefix.
func KeyOf(sealed []byte) (uint32, bool) {
	if len(sealed) < prefixSize || sealed[0] != 1 {
		return 0, false
	}
	return binary.BigEndian.Uint32(sealed[1:]), true
}

func (s sealing) prefix() []byte { return binary.BigEndian.AppendUint32([]byte{1}, s.primary) }
