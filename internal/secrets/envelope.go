package secrets

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/prf"
	tinkpb "github.com/tink-crypto/tink-go/v2/proto/tink_go_proto"
	"github.com/tink-crypto/tink-go/v2/tink"
)

// envelope is the content of a keyset file: two keysets in Tink's JSON form, {"primaryKeyId": …, "key": […]} in
// cleartext or {"encryptedKeyset": …, "keysetInfo": …} encrypted by a KMS.
type envelope struct {
	AEAD   json.RawMessage `json:"aead"`
	Digest json.RawMessage `json:"digest"`
	Next   *succession     `json:"next,omitempty"`
}

// succession names the key of an envelope that is used in place of the primary one from a time on. The time is in the
// file so that all servers with a copy of it change the key together, and so that a restart does not postpone it.
type succession struct {
	Key  uint32    `json:"key"`
	From time.Time `json:"from"`
}

var (
	errNoKeyset = errors.New(`this is no keyset file of Purser's, {"aead": …, "digest": …} with a Tink keyset in each`)
	errNeedsKMS = errors.New("the keyset is encrypted by a KMS: name its key with --secrets-kms")
	errNoKMS    = errors.New("the keyset is not encrypted, but --secrets-kms names a key that it should be encrypted by")
	errEmpty    = errors.New("it is empty")
	errNoSuch   = errors.New("this is not a Tink keyset")
)

// newEnvelope makes both keysets. XChaCha20-Poly1305 has a nonce of 192 bits, so a key can seal any number of secrets.
func newEnvelope(kms tink.AEAD) (e envelope, err error) {
	if e.AEAD, err = fresh(aead.XChaCha20Poly1305KeyTemplate(), kms); err != nil {
		return e, err
	}
	e.Digest, err = fresh(prf.HMACSHA256PRFKeyTemplate(), kms)
	return e, err
}

func fresh(template *tinkpb.KeyTemplate, kms tink.AEAD) (json.RawMessage, error) {
	handle, err := keyset.NewHandle(template)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	return pack(handle, kms)
}

// pack serializes a keyset, encrypted unless kms is nil.
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

// unpack parses the result of pack. Its errors about a keyset in cleartext have no details, because those of Tink and
// encoding/json quote their input.
func unpack(text json.RawMessage, kms tink.AEAD) (*keyset.Handle, error) {
	reader := keyset.NewJSONReader(bytes.NewReader(text))
	switch encrypted := isEncrypted(text); {
	case encrypted && kms == nil:
		return nil, errNeedsKMS
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
		return nil, errNoSuch
	case kms != nil:
		return nil, errNoKMS
	}
	return handle, nil
}

func isEncrypted(text json.RawMessage) bool {
	var members struct {
		EncryptedKeyset json.RawMessage `json:"encryptedKeyset"`
	}
	return json.Unmarshal(text, &members) == nil && members.EncryptedKeyset != nil
}

func parseEnvelope(text []byte) (e envelope, err error) {
	if len(text) == 0 {
		return envelope{}, errEmpty
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if decoder.Decode(&e) != nil || decoder.More() || e.AEAD == nil || e.Digest == nil {
		return envelope{}, errNoKeyset
	}
	return e, nil
}

func (e envelope) text() ([]byte, error) {
	text, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write a keyset file: %w", err)
	}
	return append(text, '\n'), nil
}
