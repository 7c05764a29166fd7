package secrets

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/prf"
	tinkpb "github.com/tink-crypto/tink-go/v2/proto/tink_go_proto"
	"github.com/tink-crypto/tink-go/v2/tink"

	"purser/internal/document"
)

// keys are the keys of a keyset file. They are immutable.
type keys struct {
	aead      tink.AEAD
	primary   uint32
	enabled   map[uint32]bool // by the ids of the keys
	digestKey []byte          // of Digest; 32 bytes
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
	handle, err := unpack(e.AEAD, kms)
	if err != nil {
		return nil, fmt.Errorf(`read its "aead": %w`, err)
	}
	k, err := newKeys(handle)
	if err != nil {
		return nil, fmt.Errorf(`use its "aead": %w`, err)
	}
	if handle, err = unpack(e.Digest, kms); err != nil {
		return nil, fmt.Errorf(`read its "digest": %w`, err)
	}
	if k.digestKey, err = digestKeyOf(handle); err != nil {
		return nil, fmt.Errorf(`use its "digest": %w`, err)
	}
	return k, nil
}

func newKeys(handle *keyset.Handle) (*keys, error) {
	primitive, err := aead.New(handle)
	if err != nil {
		return nil, errUnfitAEAD // Tink's error may quote the key
	}
	info := handle.KeysetInfo()
	k := &keys{aead: primitive, primary: info.GetPrimaryKeyId(), enabled: map[uint32]bool{}}
	for _, key := range info.GetKeyInfo() {
		if key.GetOutputPrefixType() != tinkpb.OutputPrefixType_TINK {
			return nil, errUnfitKey
		}
		k.enabled[key.GetKeyId()] = key.GetStatus() == tinkpb.KeyStatusType_ENABLED
	}
	return k, nil
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

// keyOf returns the id of the key that a text was sealed with, and false for a text without a prefix.
func keyOf(sealed []byte) (uint32, bool) {
	if len(sealed) < prefixSize || sealed[0] != 1 {
		return 0, false
	}
	return binary.BigEndian.Uint32(sealed[1:]), true
}

func (k *keys) prefix() []byte { return binary.BigEndian.AppendUint32([]byte{1}, k.primary) }
