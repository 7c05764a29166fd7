package attest

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"

	"github.com/go-jose/go-jose/v4"
)

// Key is a public key: ECDSA with the curve P-256.
type Key struct {
	ID     string
	public *ecdsa.PublicKey
}

// newKey returns a key of an uncompressed point.
func newKey(point []byte) (Key, error) {
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	if err != nil {
		return Key{}, fmt.Errorf("read a public key: %w", err)
	}
	return Key{idOf(point), public}, nil
}

// idOf returns the ID of a key by its uncompressed point: its fingerprint as OpenSSH writes it. Verifiers of DSSE that
// get a key without an ID, as from PEM, give it this one, and try a signature only with the key whose ID it names.
func idOf(point []byte) string {
	var wire []byte
	for _, part := range [][]byte{[]byte("ecdsa-sha2-nistp256"), []byte("nistp256"), point} {
		wire = append(binary.BigEndian.AppendUint32(wire, uint32(len(part))), part...) //nolint:gosec // it is short
	}
	sum := sha256.Sum256(wire)
	return "SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:])
}

// verifies reports whether the key has signed a text.
func (k Key) verifies(text, signature []byte) bool {
	sum := sha256.Sum256(text)
	return ecdsa.VerifyASN1(k.public, sum[:], signature)
}

// JWKS returns keys as a JSON Web Key Set.
func JWKS(keys []Key) ([]byte, error) {
	set := jose.JSONWebKeySet{Keys: []jose.JSONWebKey{}}
	for _, key := range keys {
		set.Keys = append(set.Keys, jose.JSONWebKey{
			Key: key.public, KeyID: key.ID, Algorithm: string(jose.ES256), Use: "sig",
		})
	}
	text, err := json.Marshal(set)
	if err != nil {
		return nil, fmt.Errorf("write the public keys: %w", err)
	}
	return append(text, '\n'), nil
}

// PEM returns keys as PEM, one after the other.
func PEM(keys []Key) ([]byte, error) {
	var text []byte
	for _, key := range keys {
		der, err := x509.MarshalPKIXPublicKey(key.public)
		if err != nil {
			return nil, fmt.Errorf("write the public keys: %w", err)
		}
		text = append(text, pem.EncodeToMemory(&pem.Block{Type: pemType, Bytes: der})...)
	}
	return text, nil
}

const pemType = "PUBLIC KEY"

var (
	errNoKeys = errors.New("it has no public keys: it must be a JSON Web Key Set, as at /.well-known/purser-keys, or " +
		"PEM with -----BEGIN PUBLIC KEY-----")
	errPrivate = errors.New("it has a private key; verifying needs only public ones")
	errUnfit   = errors.New("it has a key that is not one of ECDSA with the curve P-256")
)

// ParseKeys parses public keys: a JSON Web Key Set, a single JSON Web Key, or PEM. At least one must be there.
func ParseKeys(text []byte) (keys []Key, err error) {
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		keys, err = fromJWKS(text)
	} else {
		keys, err = fromPEM(text)
	}
	if err == nil && len(keys) == 0 {
		err = errNoKeys
	}
	return keys, err
}

func fromPEM(text []byte) (keys []Key, err error) {
	for {
		block, rest := pem.Decode(text)
		if block == nil {
			return keys, nil
		}
		if block.Type != pemType {
			return nil, errNoKeys
		}
		public, err := x509.ParsePKIXPublicKey(block.Bytes)
		if err != nil {
			return nil, errUnfit
		}
		key, err := keyOf(public)
		if err != nil {
			return nil, err
		}
		keys, text = append(keys, key), rest
	}
}

func fromJWKS(text []byte) (keys []Key, err error) {
	var set jose.JSONWebKeySet
	if json.Unmarshal(text, &set) != nil {
		return nil, errNoKeys
	}
	if len(set.Keys) == 0 {
		var one jose.JSONWebKey
		if one.UnmarshalJSON(text) != nil {
			return nil, errNoKeys
		}
		set.Keys = []jose.JSONWebKey{one}
	}
	for _, web := range set.Keys {
		if !web.IsPublic() {
			return nil, errPrivate
		}
		key, err := keyOf(web.Key)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// keyOf returns the key of a public key of any kind.
func keyOf(public any) (Key, error) {
	of, isECDSA := public.(*ecdsa.PublicKey)
	if !isECDSA || of.Curve != elliptic.P256() {
		return Key{}, errUnfit
	}
	point, err := of.Bytes()
	if err != nil {
		return Key{}, errUnfit
	}
	return newKey(point)
}
