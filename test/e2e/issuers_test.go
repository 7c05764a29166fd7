package e2e_test

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/coreos/go-oidc/v3/oidc/oidctest"
)

// asked returns the answer to whoami for a token.
func (s *server) asked(t *testing.T, header, token string) answer {
	t.Helper()
	return s.send(t, request{method: http.MethodGet, path: "whoami", header: map[string]string{header: token}})
}

// takenFor checks the user and role in an answer to whoami.
func (a answer) takenFor(t *testing.T, user, role string) {
	t.Helper()
	got := a.is(t, http.StatusOK).mapping(t)
	who, _ := got["user"].(map[string]any)
	roles, _ := got["roles"].([]any)
	if who["id"] != user || len(roles) == 0 || roles[0] != role || a.got.Get("X-User-Name") != user {
		t.Errorf("whoami: %v, want %s with %s", got, user, role)
	}
}

func TestOIDC(t *testing.T) {
	t.Parallel()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	issuer := &oidctest.Server{PublicKeys: []oidctest.PublicKey{{PublicKey: key.Public(), KeyID: "k", Algorithm: oidc.RS256}}}
	web := httptest.NewServer(issuer)
	defer web.Close()
	issuer.SetIssuer(web.URL)
	s := startFresh(t, "--auth", "oidc", "--oidc-issuer", web.URL, "--oidc-audience", "purser",
		"--oidc-roles-claim", "realm_access.roles")

	now := time.Now()
	claims := func(changes map[string]any) string {
		all := map[string]any{
			"iss": web.URL, "aud": "purser", "sub": "u-1", "iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
			"realm_access": map[string]any{"roles": []string{"admin"}},
		}
		maps.Copy(all, changes)
		text, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	sign := func(changes map[string]any) string {
		return oidctest.SignIDToken(key, "k", oidc.RS256, claims(changes))
	}
	encode := base64.RawURLEncoding.EncodeToString

	good := sign(nil)
	s.asked(t, "Authorization", "Bearer "+good).takenFor(t, "u-1", "admin")
	s.asked(t, "Authorization", "bearer "+good).takenFor(t, "u-1", "admin")
	s.asked(t, "X-Auth-Token", good).takenFor(t, "u-1", "admin")
	for name, token := range map[string]string{
		"expired":        sign(map[string]any{"exp": now.Add(-time.Hour).Unix()}),
		"future":         sign(map[string]any{"nbf": now.Add(time.Hour).Unix()}),
		"wrong audience": sign(map[string]any{"aud": "other"}),
		"wrong issuer":   sign(map[string]any{"iss": "https://other.example"}),
		"nobody":         sign(map[string]any{"sub": ""}),
		"alg none":       encode([]byte(`{"alg":"none"}`)) + "." + encode([]byte(claims(nil))) + ".",
		"cut":            good[:len(good)-9],
		"no JWT":         "prs_" + encode(make([]byte, 32)),
	} {
		got := s.asked(t, "Authorization", "Bearer "+token)
		if got.status != http.StatusUnauthorized {
			t.Errorf("%s: status %d\n%s", name, got.status, got.text)
		}
	}
}

func TestOIDC_issuerIsDown(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(http.NotFoundHandler())
	defer web.Close()
	s := startFresh(t, "--auth", "oidc", "--oidc-issuer", web.URL, "--oidc-audience", "purser")
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	token := oidctest.SignIDToken(key, "k", oidc.RS256, fmt.Sprintf(`{"iss": %q, "aud": "purser", "sub": "u", "exp": %d}`,
		web.URL, time.Now().Add(time.Hour).Unix()))
	s.asked(t, "Authorization", "Bearer "+token).fails(t, http.StatusServiceUnavailable, "HTTPServiceUnavailable")
	s.get(t, "/readyz").is(t, http.StatusOK)
}

// keystone simulates a Keystone v3 that knows the token of one user, and others. It counts the requests about tokens.
type keystone struct {
	token  string
	others map[string]string // bodies by their tokens
	asked  atomic.Int32
	down   atomic.Bool
}

// ServeHTTP implements http.Handler.
func (k *keystone) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	const service = "gAAAAAservice"
	w.Header().Set("Content-Type", "application/json")
	switch {
	case k.down.Load():
		w.WriteHeader(http.StatusBadGateway)
	case r.URL.Path != "/identity/v3/auth/tokens":
		w.WriteHeader(http.StatusNotFound)
	case r.Method == http.MethodPost:
		k.signIn(w, r, service)
	case r.Header.Get("X-Auth-Token") != service:
		w.WriteHeader(http.StatusUnauthorized)
	default:
		k.asked.Add(1)
		if body := k.others[r.Header.Get("X-Subject-Token")]; body != "" {
			fmt.Fprint(w, body)
			return
		}
		if r.Header.Get("X-Subject-Token") != k.token {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		fmt.Fprint(w, tokenBody("u-1", "alice", "reader"))
	}
}

func (k *keystone) signIn(w http.ResponseWriter, r *http.Request, token string) {
	var sent struct {
		Auth struct {
			Identity struct {
				Password struct {
					User struct {
						Name     string `json:"name"`
						Password string `json:"password"`
					} `json:"user"`
				} `json:"password"`
			} `json:"identity"`
		} `json:"auth"`
	}
	user := &sent.Auth.Identity.Password.User
	if json.NewDecoder(r.Body).Decode(&sent) != nil || user.Name != "purser" || user.Password != "secret" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	w.Header().Set("X-Subject-Token", token)
	w.WriteHeader(http.StatusCreated)
	fmt.Fprint(w, tokenBody("u-0", "purser", "service"))
}

func tokenBody(id, name, role string) string {
	return fmt.Sprintf(`{"token": {"methods": ["password"], "user": {"domain": {"id": "default", "name": "Default"}, "id": %q,
		"name": %q}, "project": {"domain": {"id": "default", "name": "Default"}, "id": "p-1", "name": "site"},
		"roles": [{"id": "1", "name": %q}], "issued_at": %q, "expires_at": %q}}`, id, name, role,
		time.Now().UTC().Format("2006-01-02T15:04:05.000000Z"),
		time.Now().Add(time.Hour).UTC().Format("2006-01-02T15:04:05.000000Z"))
}

func TestKeystone(t *testing.T) {
	t.Parallel()
	k := &keystone{token: "gAAAAAalice"}
	web := httptest.NewServer(k)
	defer web.Close()
	password := filepath.Join(t.TempDir(), "password")
	writeFile(t, password, "secret\n")
	s := startFresh(t, "--auth", "keystone", "--keystone-url", web.URL+"/identity/v3", "--keystone-user", "purser",
		"--keystone-project", "service", "--keystone-password-file", password,
		"--policy-file", policyFile(t, "'deckhand:list_revisions': role:reader and project_id:p-1"))
	s.asked(t, "X-Auth-Token", k.token).takenFor(t, "u-1", "reader")
	s.asked(t, "Authorization", "Bearer "+k.token).takenFor(t, "u-1", "reader")
	if got := k.asked.Load(); got != 1 {
		t.Errorf("Keystone was asked %d times about one token", got)
	}
	s.get(t, "revisions", "X-Auth-Token", k.token).is(t, http.StatusOK)
	s.send(t, request{method: http.MethodDelete, path: "revisions", header: map[string]string{"X-Auth-Token": k.token}}).
		fails(t, http.StatusForbidden, "HTTPForbidden", "deckhand:delete_revisions")
	s.asked(t, "X-Auth-Token", "gAAAAAmallory").fails(t, http.StatusUnauthorized, "HTTPUnauthorized")
	s.get(t, "revisions/1/tags", "X-Auth-Token", k.token). // the built-in reader has no rights here
								fails(t, http.StatusForbidden, "HTTPForbidden", "deckhand:list_tags")
	k.down.Store(true)
	s.asked(t, "X-Auth-Token", "gAAAAAbob").fails(t, http.StatusServiceUnavailable, "HTTPServiceUnavailable")
	s.asked(t, "X-Auth-Token", k.token).takenFor(t, "u-1", "reader")
}
