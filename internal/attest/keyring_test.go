package attest_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/secure-systems-lab/go-securesystemslib/dsse"
	"github.com/secure-systems-lab/go-securesystemslib/signerverifier"

	"purser/internal/attest"
	"purser/internal/keysets"
)

// foreign verifies with a verifier of DSSE that is not ours and a key.
type foreign struct {
	*signerverifier.ECDSASignerVerifier
	id string
}

// KeyID implements dsse.Verifier.
func (f foreign) KeyID() (string, error) { return f.id, nil }

func foreignly(t *testing.T, envelope []byte, public crypto.PublicKey, id string) error {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	key, err := signerverifier.NewECDSASignerVerifierFromSSLibKey(&signerverifier.SSLibKey{
		KeyType: signerverifier.ECDSAKeyType, Scheme: signerverifier.ECDSAKeyScheme, KeyID: id,
		KeyVal: signerverifier.KeyVal{Public: string(text)},
	})
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := dsse.NewEnvelopeVerifier(foreign{key, id})
	if err != nil {
		t.Fatal(err)
	}
	var parsed dsse.Envelope
	if err := json.Unmarshal(envelope, &parsed); err != nil {
		t.Fatal(err)
	}
	accepted, err := verifier.Verify(context.Background(), &parsed)
	if err == nil && len(accepted) != 1 {
		err = fmt.Errorf("%d keys are accepted", len(accepted))
	}
	return err
}

// A verifier of DSSE that is not ours accepts envelopes with public keys from PEM, which have no ID, and from the key
// set, and no others.
func TestSign_foreignVerifier(t *testing.T) {
	t.Parallel()
	keyring, _, _ := openKeys(t)
	envelope := sign(t, keyring, factsOf(t, widgets))
	texts, err := attest.PEM(keyring.Public())
	set, otherErr := attest.JWKS(keyring.Public())
	if err := errors.Join(err, otherErr); err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(texts)
	public, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	var web jose.JSONWebKeySet
	if err := json.Unmarshal(set, &web); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(foreignly(t, envelope, public, ""), foreignly(t, envelope, web.Keys[0].Key, web.Keys[0].KeyID)); err != nil {
		t.Error(err)
	}
	if id, err := dsse.SHA256KeyID(public); err != nil || id != web.Keys[0].KeyID {
		t.Errorf("the key has the ID %s, and a fingerprint %s: %v", web.Keys[0].KeyID, id, err)
	}
	other, _, _ := openKeys(t)
	otherSet, err := attest.JWKS(other.Public())
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(otherSet, &web); err != nil {
		t.Fatal(err)
	}
	if foreignly(t, envelope, web.Keys[0].Key, "") == nil {
		t.Error("another key is accepted")
	}
	if _, isECDSA := web.Keys[0].Key.(*ecdsa.PublicKey); !isECDSA || web.Keys[0].Algorithm != "ES256" || web.Keys[0].Use != "sig" {
		t.Errorf("the key is %+v", web.Keys[0])
	}
}

// While keys are rotated, whoever has the public keys of any moment verifies what is signed until the next rotation.
func TestRotate(t *testing.T) {
	t.Parallel()
	keyring, path, hands := openKeys(t)
	facts := factsOf(t, widgets)
	before, old := keyring.Public(), sign(t, keyring, facts)
	_, from, err := attest.Rotate(path, nil, hands.at, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	hands.at = hands.at.Add(time.Second)
	coming := keyring.Public()
	if len(before) != 1 || len(coming) != 2 || coming[0].ID != before[0].ID {
		t.Errorf("keys before %v, and after %v", before, coming)
	}
	isRefused(t, verify(t, sign(t, keyring, facts), before, nil, now), "")
	hands.at = from
	next := sign(t, keyring, facts)
	isRefused(t, verify(t, next, coming, nil, now), "")
	isRefused(t, verify(t, next, before, nil, now), "none of the given keys")
	isRefused(t, verify(t, old, coming, nil, now), "")
	if found := verify(t, next, coming, nil, now); found.KeyID != coming[1].ID {
		t.Errorf("signed with %s, want %s", found.KeyID, coming[1].ID)
	}
	if _, _, err := attest.Rotate(path, nil, hands.at, 0); err != nil { // at once
		t.Fatal(err)
	}
	hands.at = hands.at.Add(time.Second)
	if found := verify(t, sign(t, keyring, facts), keyring.Public(), nil, now); found.KeyID != keyring.Public()[2].ID {
		t.Errorf("signed with %s, want %s", found.KeyID, keyring.Public()[2].ID)
	}
}

// Keys that signatures of DSSE cannot be made with, and files of other keys, are refused.
func TestOpen_refuses(t *testing.T) {
	t.Parallel()
	_, path, _ := openKeys(t)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ text, want string }{
		"the keys of secrets": {`{"aead": {}, "digest": {}}`, "no file of signing keys"},
		"no keyset":           {`{"signing": {}}`, `read its "signing": this is not a Tink keyset`},
		"with prefixes":       {strings.Replace(string(good), `"RAW"`, `"TINK"`, 1), "the output prefix RAW"},
		"empty":               {"", "it is empty"},
		"no next key":         {strings.Replace(string(good), "{", `{"next": {"key": 1, "from": "2026-11-26T18:20:00Z"},`, 1), `"next" must name an enabled key`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "signing.json")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := attest.Open(t.Context(), path, keysets.Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestParseKeys(t *testing.T) {
	t.Parallel()
	keyring, _, _ := openKeys(t)
	other, _, _ := openKeys(t)
	both := append(keyring.Public(), other.Public()...)
	texts, err := attest.PEM(both)
	set, otherErr := attest.JWKS(both)
	if err := errors.Join(err, otherErr); err != nil {
		t.Fatal(err)
	}
	one := bytes.TrimSuffix(bytes.SplitAfter(set[len(`{"keys":[`):], []byte("}"))[0], []byte(","))
	for name, text := range map[string][]byte{"PEM": texts, "a key set": set, "a key": one, "with text": append([]byte("my keys\n"), texts...)} {
		keys, err := attest.ParseKeys(text)
		if err != nil || len(keys) == 0 || keys[0].ID != both[0].ID {
			t.Errorf("%s: %v, %v", name, keys, err)
		}
	}
	for name, text := range map[string]string{
		"empty": "", "text": "hunter2", "no keys": `{"keys": []}`, "cut off": string(set[:len(set)/2]),
		"a changed point": strings.Replace(string(set), `"x":"`, `"x":"A`, 1),
		"a secret":        `{"keys": [{"kty": "oct", "k": "aHVudGVyMg"}]}`,
		"a certificate":   strings.ReplaceAll(string(texts), "PUBLIC KEY", "CERTIFICATE"),
		"another curve":   `{"keys": [{"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}`,
	} {
		if keys, err := attest.ParseKeys([]byte(text)); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, %v", name, keys, err)
		}
	}
}
