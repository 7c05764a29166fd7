package secrets

import (
	"errors"
	"testing"
	"time"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/prf"

	"purser/internal/keysets"
)

func FuzzKeyring_Open(f *testing.F) {
	k := openFirst(f)
	genuine := unhex(f, firstSealed)
	f.Add(genuine)
	f.Add(unhex(f, secondSealed))
	f.Add(genuine[:prefixSize])
	f.Add([]byte(nil))
	f.Fuzz(func(t *testing.T, sealed []byte) {
		cleartext, err := k.Open(t.Context(), passphrase, sealed)
		if err == nil && string(cleartext) != firstContents {
			t.Errorf("what was never sealed opens as %q", cleartext)
		}
		if u, ok := errors.AsType[*Unopened](err); err != nil && (!ok || u.Place != passphrase || cleartext != nil) {
			t.Errorf("opened as %q, %v", cleartext, err)
		}
		k.NeedsReseal(t.Context(), sealed)
	})
}

// Run it with -fuzzminimizetime=10x: Tink and protojson take random ways, which the minimizer believes to be new ones.
func FuzzEnvelope_keys(f *testing.F) {
	sealed, err := keysets.New(aead.AES128CTRHMACSHA256KeyTemplate(), nil)
	digesting, otherErr := keysets.New(prf.HKDFSHA256PRFKeyTemplate(), nil)
	text, textErr := keysets.Text(envelope{AEAD: sealed, Digest: digesting})
	if err := errors.Join(err, otherErr, textErr); err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(firstKeyset))
	f.Add([]byte(withNext(firstKeyset, `{"key": 3489695400, "from": "2026-11-26T18:20:00Z"}`)))
	f.Add([]byte(`{"aead": {"encryptedKeyset": "eA=="}, "digest": {"key": [{"keyData": {}}]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		e, err := kind().Parse(text)
		if err != nil {
			return
		}
		k, err := e.keys(nil)
		if err != nil {
			return
		}
		for _, use := range []sealing{k.at(time.Time{}), k.at(time.Unix(1<<40, 0))} {
			sealed, err := use.aead.Encrypt([]byte(firstContents), nil)
			if err != nil {
				t.Fatal(err)
			}
			if id, ok := KeyOf(sealed); !ok || id != use.primary || !k.enabled[id] || len(k.digestKey) != 32 {
				t.Errorf("sealed with %d instead of %d", id, use.primary)
			}
		}
	})
}
