package secrets

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/prf"
)

func FuzzKeyring_Open(f *testing.F) {
	k := openKeyring(f, filepath.Join(f.TempDir(), "keyset"), Options{Create: true})
	genuine := seal(f, k, passphrase, []byte("hunter2"))
	f.Add(genuine)
	f.Add(genuine[:prefixSize])
	f.Add([]byte(nil))
	f.Fuzz(func(t *testing.T, sealed []byte) {
		cleartext, err := k.Open(t.Context(), passphrase, sealed)
		if err == nil && string(cleartext) != "hunter2" {
			t.Errorf("what was never sealed opens as %q", cleartext)
		}
		if u, ok := errors.AsType[*Unopened](err); err != nil && (!ok || u.Place != passphrase || cleartext != nil) {
			t.Errorf("opened as %q, %v", cleartext, err)
		}
		k.NeedsReseal(t.Context(), sealed)
	})
}

func FuzzOpen_keyset(f *testing.F) {
	for _, template := range []func() ([]byte, error){
		func() ([]byte, error) { return fresh(aead.XChaCha20Poly1305KeyTemplate(), nil) },
		func() ([]byte, error) { return fresh(aead.AES128CTRHMACSHA256KeyTemplate(), nil) },
	} {
		sealing, err := template()
		digesting, otherErr := fresh(prf.HMACSHA256PRFKeyTemplate(), nil)
		text, textErr := envelope{sealing, digesting}.text()
		if err := errors.Join(err, otherErr, textErr); err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"aead": {"encryptedKeyset": "eA=="}, "digest": {"key": [{"keyData": {}}]}}`))
	path := filepath.Join(f.TempDir(), "keyset")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		k, err := Open(t.Context(), path, Options{})
		if err != nil {
			return
		}
		sealed := seal(t, k, passphrase, []byte("hunter2"))
		if opened, err := k.Open(t.Context(), passphrase, sealed); err != nil || string(opened) != "hunter2" {
			t.Errorf("with this keyset, opened as %q, %v", opened, err)
		}
	})
}
