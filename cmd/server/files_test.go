package main

import (
	"encoding/pem"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"purser/internal/authn"
)

// The error about a file begins with the flag that names it.
func TestRun_missingFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good := certificateFiles(t, dir)
	tokens := filepath.Join(dir, "tokens.yaml")
	now := time.Now()
	_, entry := authn.NewToken("anna", "", []string{"admin"}, now, now)
	if err := authn.AppendToken(tokens, entry); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(dir, "missing")
	const keystone = "--auth keystone --keystone-url http://127.0.0.1:1 --keystone-user purser"
	const oidc = "--auth oidc --oidc-issuer http://127.0.0.1:1 --oidc-audience a --public-url http://localhost --ui-oidc-client a"
	pair := "--tls-cert " + good.TLSCert + " --tls-key " + good.TLSKey
	for flag, others := range map[string]string{
		"--policy-file": "", "--ui-key-file": "", "--outgoing-ca": "",
		"--tokens-file": "--auth tokens", "--keystone-password-file": keystone, "--ui-oidc-secret-file": oidc,
		"--tls-cert": "--tls-key " + good.TLSKey, "--tls-key": "--tls-cert " + good.TLSCert,
		"--tls-client-ca": pair, "--tls-client-crl": pair + " --tls-client-ca " + good.TLSCert,
	} {
		t.Run(flag, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"serve", "--listen", "127.0.0.1:0", "--state-dir", t.TempDir(), flag, missing}, strings.Fields(others)...)
			said, code := command(t, args...)
			if code != 1 || !strings.Contains(said, flag+": ") || !strings.Contains(said, missing+": no such file") {
				t.Errorf("code %d: %s", code, said)
			}
		})
	}
	t.Run("secrets rotate", func(t *testing.T) {
		t.Parallel()
		said, code := command(t, "secrets", "rotate", "--secrets-keyset", missing)
		if code != 1 || !strings.Contains(said, "--secrets-keyset: ") || !strings.Contains(said, missing+": no such file") {
			t.Errorf("code %d: %s", code, said)
		}
	})
	t.Run("--secrets-keyset", func(t *testing.T) {
		t.Parallel()
		_, _, err := keysetFlags{SecretsKeyset: missing}.open(t.Context(), "", slog.New(slog.DiscardHandler))
		if err == nil || !strings.HasPrefix(err.Error(), "--secrets-keyset: keyset file "+missing+": no such file") {
			t.Error(err)
		}
	})
	t.Run("no certificate in it", func(t *testing.T) {
		t.Parallel()
		said, code := command(t, "serve", "--listen", "127.0.0.1:0", "--state-dir", t.TempDir(), "--outgoing-ca", tokens)
		if code != 1 || !strings.Contains(said, "--outgoing-ca: "+tokens+" has no certificate in PEM") {
			t.Errorf("code %d: %s", code, said)
		}
	})
}

// The server trusts the authorities of --outgoing-ca and the system's when it calls others.
func TestOutgoingFlags_transport(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	path := filepath.Join(t.TempDir(), "ca.pem")
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(path, authority, 0o600); err != nil {
		t.Fatal(err)
	}
	for ca, trusted := range map[string]bool{path: true, "": false} {
		transport, err := outgoingFlags{OutgoingCA: ca}.transport()
		if err != nil {
			t.Fatal(err)
		}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := transport.RoundTrip(request)
		if (err == nil) != trusted {
			t.Errorf("with %q: %v", ca, err)
		}
		if err == nil {
			_ = answer.Body.Close()
		}
	}
}
