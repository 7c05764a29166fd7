package secrets

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"
)

// These were written by the first version. Whatever changes, they must be read: the keys are for this test alone.
const (
	firstKeyset = `{
  "aead": {
    "primaryKeyId": 1856062082,
    "key": [
      {
        "keyData": {
          "typeUrl": "type.googleapis.com/google.crypto.tink.XChaCha20Poly1305Key",
          "value": "GiCqX9dO5qLSnV8si5yMdpkuTg1hKJ+arGmIIFy6Z0oFKQ==",
          "keyMaterialType": "SYMMETRIC"
        },
        "status": "ENABLED",
        "keyId": 3489695400,
        "outputPrefixType": "TINK"
      },
      {
        "keyData": {
          "typeUrl": "type.googleapis.com/google.crypto.tink.XChaCha20Poly1305Key",
          "value": "GiB9yLs1pS99mgUNGC78o/4kpJpwUrdWPUybVpVuLtzv/w==",
          "keyMaterialType": "SYMMETRIC"
        },
        "status": "ENABLED",
        "keyId": 1856062082,
        "outputPrefixType": "TINK"
      }
    ]
  },
  "digest": {
    "primaryKeyId": 1116166690,
    "key": [
      {
        "keyData": {
          "typeUrl": "type.googleapis.com/google.crypto.tink.HmacPrfKey",
          "value": "EgIIAxogCnL3xALdlsT9kwrplry+AYqcDc8TMrHXq0Ns8OAr89o=",
          "keyMaterialType": "SYMMETRIC"
        },
        "status": "ENABLED",
        "keyId": 1116166690,
        "outputPrefixType": "RAW"
      }
    ]
  }
}
`
	firstSealed   = "01d00086a89000dfe7b6bdf70860dd7ad3d2ce2f477ae2f32300abd9a762ad861f76a456a1955c21e2af7f32ca1f9c1932cf02b9"
	secondSealed  = "016ea14282baab6b7a351263193c67dd0ccca4a6bd29cdcc33a33e408085ba43c677bafb83517f4a521d3396bea5d36226521c69" // after a rotation
	firstDigest   = "57f06f1a5f12b7a6dbe9d7c4a40f49c6d57827c1d71c8f369767db6a8ac62572"
	firstContents = "hunter2"
)

// openFirst opens the keyset of the first version.
func openFirst(t tester) *Keyring {
	t.Helper()
	path := filepath.Join(directory(t), "keyset")
	if err := os.WriteFile(path, []byte(firstKeyset), 0o600); err != nil {
		t.Fatal(err)
	}
	return openKeyring(t, path, Options{})
}

func unhex(t tester, text string) []byte {
	t.Helper()
	decoded, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return decoded
}

func TestKeyring_firstVersion(t *testing.T) {
	t.Parallel()
	k := openFirst(t)
	for text, needsReseal := range map[string]bool{firstSealed: true, secondSealed: false} {
		sealed := unhex(t, text)
		if opened, err := k.Open(t.Context(), passphrase, sealed); err != nil || string(opened) != firstContents {
			t.Errorf("opened as %q, %v", opened, err)
		}
		if k.NeedsReseal(t.Context(), sealed) != needsReseal {
			t.Errorf("%s needs resealing: %v", text, !needsReseal)
		}
	}
	if digest := k.Digest(passphrase, []byte(firstContents)); digest.String() != firstDigest {
		t.Errorf("the digest is %s now", digest)
	}
}
