package main

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Only the owner may be able to read the certificate's key; everybody may read the certificate.
func TestTLSFlags_openTLS(t *testing.T) {
	t.Parallel()
	for _, mode := range []fs.FileMode{0o400, 0o600, 0o620, 0o640, 0o604} {
		refused := mode > 0o600
		t.Run(fmt.Sprintf("%04o", mode), func(t *testing.T) {
			t.Parallel()
			f := certificateFiles(t, t.TempDir())
			if err := errors.Join(os.Chmod(f.TLSCert, 0o644), os.Chmod(f.TLSKey, mode)); err != nil {
				t.Fatal(err)
			}
			_, err := f.openTLS(slog.New(slog.DiscardHandler))
			switch {
			case !refused && err != nil:
				t.Error(err)
			case refused && (err == nil || !strings.Contains(err.Error(), "chmod 600 "+f.TLSKey)):
				t.Errorf("the error does not tell what to do: %v", err)
			}
		})
	}
}

// certificateFiles writes a certificate and its key, and returns their flags.
func certificateFiles(t *testing.T, dir string) tlsFlags {
	t.Helper()
	other := httptest.NewTLSServer(nil)
	t.Cleanup(other.Close)
	pair := other.TLS.Certificates[0]
	private, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	f := tlsFlags{TLSCert: filepath.Join(dir, "cert.pem"), TLSKey: filepath.Join(dir, "key.pem")}
	for path, block := range map[string]*pem.Block{
		f.TLSCert: {Type: "CERTIFICATE", Bytes: pair.Certificate[0]},
		f.TLSKey:  {Type: "PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return f
}
