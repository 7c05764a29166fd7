package secrets

import (
	"bytes"
	"path/filepath"
	"testing"

	"purser/internal/document"
)

// Each result is for one document with 1 KiB of data; sealing may add a quarter to the cost of its ingest.
func BenchmarkKeyring(b *testing.B) {
	k := openKeyring(b, filepath.Join(b.TempDir(), "keyset"), Options{Create: true})
	cleartext := bytes.Repeat([]byte("x"), 1<<10)
	sealed := seal(b, k, passphrase, cleartext)
	for name, work := range map[string]func() error{
		"Seal":   func() error { _, err := k.Seal(b.Context(), passphrase, cleartext); return err },
		"Open":   func() error { _, err := k.Open(b.Context(), passphrase, sealed); return err },
		"Digest": func() error { k.Digest(passphrase, cleartext); return nil },
		"DigestOfDigest": func() error {
			digest := document.Digest{}
			k.Digest(passphrase, digest[:])
			return nil
		},
		"NeedsReseal": func() error { k.NeedsReseal(b.Context(), sealed); return nil },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(cleartext)))
			for b.Loop() {
				if err := work(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
