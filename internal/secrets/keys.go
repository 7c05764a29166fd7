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

// keys are what a keyset file holds, ready for use. They never change.
type keys struct {
	aead      tink.AEAD
	primary   uint32
	enabled   map[uint32]bool // the ids of the keys that open
	digestKey []byte          // from which digests are made; 32 bytes
}

var (
	errUnfitAEAD = errors.New("its keys are not for authenticated encryption, or cannot be used by this version")
	errUnfitKey  = errors.New("each of its keys must have the output prefix TINK, by which its texts are known")
	errUnfitPRF  = errors.New("its primary key is not for a PRF of at least 32 bytes, such as HMAC_SHA256_PRF")
)

// Each use of the digest key has a name of its own, so that their results have nothing to do with each other.
const digestKeyPurpose = "purser digest key 1"

// keys reads both keysets. It asks the KMS, if there is one, for each.
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

// digestKeyOf derives the key of the digests once, after which making one cannot fail.
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

// prefixSize is what every sealed text begins with: the byte 1 and the id of its key (Tink's wire format).
const prefixSize = 5

// keyOf returns the id of the key that a text was sealed with; false if no text that was sealed begins so.
func keyOf(sealed []byte) (uint32, bool) {
	if len(sealed) < prefixSize || sealed[0] != 1 {
		return 0, false
	}
	return binary.BigEndian.Uint32(sealed[1:]), true
}

func (k *keys) prefix() []byte { return binary.BigEndian.AppendUint32([]byte{1}, k.primary) }
