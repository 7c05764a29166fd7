package signin

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
)

// sealer encrypts the content of cookies.
type sealer struct{ aead cipher.AEAD }

func newSealer(key []byte) (*sealer, error) {
	const minKey, keySize = 32, 32
	if len(key) < minKey {
		return nil, fmt.Errorf("the key of sessions has %d bytes and needs %d", len(key), minKey)
	}
	derived, err := hkdf.Key(sha256.New, key, nil, "purser ui sessions", keySize)
	if err != nil {
		return nil, fmt.Errorf("derive the key of sessions: %w", err)
	}
	block, err := aes.NewCipher(derived)
	if err != nil {
		return nil, fmt.Errorf("key of sessions: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("key of sessions: %w", err)
	}
	return &sealer{aead}, nil
}

// seal encrypts a value for a purpose.
func (s *sealer) seal(purpose string, value any) (string, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("seal: %w", err)
	}
	sealed := s.aead.Seal(nil, nil, text, []byte(purpose)) //nolint:gosec // it takes a random nonce itself
	return base64.RawURLEncoding.EncodeToString(sealed), nil
}

// open decrypts a value sealed for a purpose.
func (s *sealer) open(purpose, sealed string, into any) error {
	raw, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil {
		return errors.New("open: it is not in Base64")
	}
	text, err := s.aead.Open(nil, nil, raw, []byte(purpose))
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("open: %w", err)
	}
	return nil
}
