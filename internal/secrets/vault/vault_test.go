package vault

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"purser/internal/document"
	"purser/internal/secrets"
)

// transit is a stand-in that speaks the protocol of Vault's transit engine: it keeps the plaintext and returns a
// number for it.
type transit struct {
	t     *testing.T
	kept  []string
	token func(w http.ResponseWriter, r *http.Request) // answers /v1/auth/token/…
}

func (v *transit) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("X-Vault-Token") != "s.token" {
		w.WriteHeader(http.StatusForbidden)
		w.Write([]byte(`{"errors": ["permission denied"]}`))
		return
	}
	if strings.HasPrefix(r.URL.Path, "/v1/auth/token/") {
		v.token(w, r)
		return
	}
	var request struct {
		Plaintext  string `json:"plaintext"`
		Ciphertext string `json:"ciphertext"`
	}
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		v.t.Error(err)
	}
	data := map[string]string{}
	switch r.URL.Path {
	case "/v1/transit/encrypt/purser":
		v.kept = append(v.kept, request.Plaintext)
		data["ciphertext"] = "vault:v1:" + strings.Repeat("x", len(v.kept))
	case "/v1/transit/decrypt/purser":
		data["plaintext"] = v.kept[len(strings.TrimPrefix(request.Ciphertext, "vault:v1:"))-1]
	default:
		w.WriteHeader(http.StatusNotFound)
	}
	if err := json.NewEncoder(w).Encode(map[string]any{"data": data}); err != nil {
		v.t.Error(err)
	}
}

func start(t *testing.T) (uri string, v *transit) {
	t.Helper()
	v = &transit{t: t}
	server := httptest.NewTLSServer(v)
	t.Cleanup(server.Close)
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	path := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(path, certificate, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("VAULT_CACERT", path)
	t.Setenv("VAULT_TOKEN", "s.token")
	t.Setenv("VAULT_ADDR", "http://elsewhere.invalid")
	t.Setenv("VAULT_AGENT_ADDR", "http://elsewhere.invalid")
	return strings.Replace(server.URL, "https", "hcvault", 1) + "/transit/keys/purser", v
}

// Not parallel: Vault's client is configured by the environment.
func TestOpen(t *testing.T) {
	uri, _ := start(t)
	key, err := Open(uri, "")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "keyset")
	place := secrets.Place{Site: "default", Identity: document.Identity{Schema: "a/b/v1", Name: "c"}}
	k, err := secrets.Open(t.Context(), path, secrets.Options{Create: true, KMS: key})
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := k.Seal(t.Context(), place, []byte("hunter2"))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := secrets.Rotate(path, key, time.Time{}, 0); err != nil {
		t.Fatal(err)
	}
	again, err := secrets.Open(t.Context(), path, secrets.Options{KMS: key})
	if err != nil {
		t.Fatal(err)
	}
	if opened, err := again.Open(t.Context(), place, sealed); err != nil || string(opened) != "hunter2" {
		t.Errorf("opened as %q, %v", opened, err)
	}
	text, err := os.ReadFile(path)
	if want := base64.StdEncoding.EncodeToString([]byte("vault:v1:")); err != nil || !bytes.Contains(text, []byte(want)) {
		t.Errorf("the file is not what Vault encrypted: %s, %v", text, err)
	}

	t.Run("a token in a file, which is read again", func(t *testing.T) {
		t.Setenv("VAULT_TOKEN", "s.wrong")
		file := filepath.Join(t.TempDir(), "token")
		key, err := Open(uri, file)
		if err != nil {
			t.Fatal(err)
		}
		for token, want := range map[string]string{
			"": "--secrets-kms-token-file: " + file + ": no such file", "s.old\n": "permission denied", "s.token\n": "",
		} {
			if token != "" {
				if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
					t.Fatal(err)
				}
			} else if err := os.RemoveAll(file); err != nil {
				t.Fatal(err)
			}
			_, err := secrets.Open(t.Context(), path, secrets.Options{KMS: key})
			if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("with %q: %v, want %s", token, err, want)
			}
		}
	})
	t.Run("a token that Vault does not take", func(t *testing.T) {
		t.Setenv("VAULT_TOKEN", "s.wrong")
		key, err := Open(uri, "")
		if err != nil {
			t.Fatal(err)
		}
		_, err = secrets.Open(t.Context(), path, secrets.Options{KMS: key})
		if err == nil || !strings.Contains(err.Error(), "permission denied") || strings.Contains(err.Error(), "s.wrong") {
			t.Error(err)
		}
	})
}

func TestOpen_refuses(t *testing.T) {
	t.Parallel()
	for _, uri := range []string{
		"", "vault", "https://vault/transit/keys/purser", "hcvault:///transit/keys/purser", "hcvault://vault",
		"hcvault://vault/transit/purser", "hcvault://vault/keys/purser", "hcvault://user:hunter2@vault/transit/keys/purser",
		"hcvault://vault/transit/keys/purser?token=hunter2", "hcvault://vault/transit/keys/purser#x", "hcvault://%zz",
	} {
		if _, err := Open(uri, ""); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", uri, err)
		}
	}
}
