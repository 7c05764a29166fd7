package keysets

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	tinkpb "github.com/tink-crypto/tink-go/v2/proto/tink_go_proto"
	"github.com/tink-crypto/tink-go/v2/tink"
)

// The reasons why a keyset cannot be read.
var (
	ErrNeedsKMS = errors.New("the keyset is encrypted by a KMS: name its key with --secrets-kms")
	ErrNoKMS    = errors.New("the keyset is not encrypted, but --secrets-kms names a key that it should be encrypted by")
	ErrNoSuch   = errors.New("this is not a Tink keyset")

	errEmpty = errors.New("it is empty")
)

// New makes a keyset with one key, encrypted unless kms is nil.
func New(template *tinkpb.KeyTemplate, kms tink.AEAD) (json.RawMessage, error) {
	handle, err := keyset.NewHandle(template)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	return pack(handle, kms)
}

// pack serializes a keyset in Tink's JSON form, {"primaryKeyId": …, "key": […]} in cleartext or {"encryptedKeyset": …,
// "keysetInfo": …} encrypted. It is encrypted unless kms is nil.
func pack(handle *keyset.Handle, kms tink.AEAD) (json.RawMessage, error) {
	var text bytes.Buffer
	if kms == nil {
		if err := insecurecleartextkeyset.Write(handle, keyset.NewJSONWriter(&text)); err != nil {
			return nil, fmt.Errorf("write a keyset: %w", err)
		}
		return text.Bytes(), nil
	}
	if err := handle.Write(keyset.NewJSONWriter(&text), kms); err != nil {
		return nil, fmt.Errorf("encrypt a keyset by the KMS: %w", err)
	}
	return text.Bytes(), nil
}

// Unpack parses a keyset. Its errors about one in cleartext have no details, because those of Tink and encoding/json
// quote their input.
func Unpack(text json.RawMessage, kms tink.AEAD) (*keyset.Handle, error) {
	reader := keyset.NewJSONReader(bytes.NewReader(text))
	switch encrypted := isEncrypted(text); {
	case encrypted && kms == nil:
		return nil, ErrNeedsKMS
	case encrypted:
		handle, err := keyset.Read(reader, kms)
		if err != nil {
			return nil, fmt.Errorf("decrypt it by the KMS: %w", err)
		}
		return handle, nil
	}
	handle, err := insecurecleartextkeyset.Read(reader)
	switch {
	case err != nil:
		return nil, ErrNoSuch
	case kms != nil:
		return nil, ErrNoKMS
	}
	return handle, nil
}

func isEncrypted(text json.RawMessage) bool {
	var members struct {
		EncryptedKeyset json.RawMessage `json:"encryptedKeyset"`
	}
	return json.Unmarshal(text, &members) == nil && members.EncryptedKeyset != nil
}
