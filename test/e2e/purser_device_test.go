package e2e_test

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/coreos/go-oidc/v3/oidc/oidctest"
	"github.com/google/go-cmp/cmp"
)

// deviceIssuer is an issuer at which a user signs in with another device, at once. Its tokens live for lifetime.
type deviceIssuer struct {
	*httptest.Server

	key      *rsa.PrivateKey
	keys     *oidctest.Server
	mu       sync.Mutex
	lifetime time.Duration
	grants   []string // type, client and scope of each request for tokens
}

func newDeviceIssuer(t *testing.T) *deviceIssuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	keys := &oidctest.Server{PublicKeys: []oidctest.PublicKey{{PublicKey: key.Public(), KeyID: "k", Algorithm: oidc.RS256}}}
	i := &deviceIssuer{key: key, keys: keys}
	i.Server = httptest.NewServer(i)
	t.Cleanup(i.Close)
	keys.SetIssuer(i.URL)
	return i
}

// ServeHTTP implements http.Handler.
func (i *deviceIssuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answers := map[string]func() map[string]any{
		"/.well-known/openid-configuration": func() map[string]any {
			return map[string]any{
				"issuer": i.URL, "jwks_uri": i.URL + "/keys", "authorization_endpoint": i.URL + "/authorize",
				"token_endpoint": i.URL + "/token", "device_authorization_endpoint": i.URL + "/device",
			}
		},
		"/device": func() map[string]any {
			return map[string]any{
				"device_code": "dc", "user_code": "WDJB-MJHT", "verification_uri": i.URL + "/go",
				"verification_uri_complete": i.URL + "/go?code=WDJB-MJHT", "interval": 1, "expires_in": 60,
			}
		},
		"/token": func() map[string]any { return i.grant(r) },
	}
	answer, ok := answers[r.URL.Path]
	if !ok {
		i.keys.ServeHTTP(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer()) //nolint:errchkjson // texts and numbers
}

// grant returns an ID token for the client, and an access token that only the issuer understands.
func (i *deviceIssuer) grant(r *http.Request) map[string]any {
	i.mu.Lock()
	defer i.mu.Unlock()
	kind := r.FormValue("grant_type")
	i.grants = append(i.grants, kind[strings.LastIndex(kind, ":")+1:]+" "+r.FormValue("client_id")+" "+
		r.FormValue("device_code")+r.FormValue("refresh_token")+" "+r.FormValue("scope"))
	now := time.Now()
	claims, _ := json.Marshal(map[string]any{ //nolint:errchkjson // texts and numbers
		"iss": i.URL, "aud": r.FormValue("client_id"), "sub": "u-1", "preferred_username": "anna", "roles": []string{"admin"},
		"iat": now.Unix(), "exp": now.Add(i.lifetime).Unix(),
	})
	return map[string]any{
		"access_token": "opaque", "token_type": "Bearer", "refresh_token": "r" + string(rune('0'+len(i.grants))),
		"id_token": oidctest.SignIDToken(i.key, "k", oidc.RS256, string(claims)),
	}
}

// A person signs in at the issuer that the server names, and stays signed in: the built command and server agree on
// what they send each other and the issuer.
func TestPurser_device(t *testing.T) {
	t.Parallel()
	i := newDeviceIssuer(t)
	s := startFresh(t, "--auth", "oidc", "--oidc-issuer", i.URL, "--oidc-audience", "purser-cli",
		"--oidc-device-client", "purser-cli", "--oidc-device-scopes", "profile,offline_access")
	s.get(t, "/.well-known/oauth-protected-resource").is(t, http.StatusOK) // checked against the contract
	p := &person{home: t.TempDir()}
	p.run(t, "whoami", "--server", s.url).exits(t, 2, "store a token by purser login "+s.url)
	p.does(t, "config", "add", "lab", s.url)
	i.lifetime = 5 * time.Second // the command renews what expires so soon
	p.run(t, "login", "--server", "lab").exits(t, 0, i.URL+"/go?code=WDJB-MJHT", "that is WDJB-MJHT", "Logged in to lab as anna",
		"Commands send it with --server lab")
	i.lifetime = time.Hour
	p.run(t, "whoami", "--server", "lab").exits(t, 0, "u-1")
	p.run(t, "whoami").exits(t, 0, "u-1")
	p.run(t, "whoami", "--server", s.url).exits(t, 2, "--server lab")
	want := []string{
		"device_code purser-cli dc openid profile offline_access", "refresh_token purser-cli r1 ",
	}
	if diff := cmp.Diff(want, i.grants); diff != "" {
		t.Errorf("asked of the issuer (-want +got)\n%s", diff)
	}
	file := filepath.Join(p.home, ".config", "purser", "lab.token")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, error %v", info, err)
	}
	p.run(t, "logout").exits(t, 0, "Deleted the token of lab")
}
