package e2e_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509/pkix"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/coreos/go-oidc/v3/oidc/oidctest"

	"purser/internal/authn"
)

// The policy file of servers whose users all may change documents, and post results about the changes of others.
const (
	fourEyesRole  = "site-validation"
	fourEyesRules = "'deckhand:create_cleartext_documents': role:site-validation\n" +
		"'deckhand:create_validation': \"role:%(validation)s and not user_id:%(author)s\"\n"
)

// isFourEyes checks that one of two users may post a result about the other's change, and not about the own one,
// whatever they say who they are. use returns the headers of a user, and makes the server's client that of the user.
func (s *server) isFourEyes(t *testing.T, first, second string, use func(user string) map[string]string) {
	t.Helper()
	send := func(method, path, body, by, says string) answer {
		t.Helper()
		header := map[string]string{"Content-Type": "application/x-yaml", "X-End-User": says}
		maps.Copy(header, use(by))
		return s.send(t, request{method: method, path: path, body: body, header: header})
	}
	const result = "{status: success, validator: {name: v}}"
	for n, author := range []string{first, second} {
		other := map[string]string{first: second, second: first}[author]
		send("PUT", "buckets/b/documents", doc("acme/Widget/v1", "w", strconv.Itoa(n)), author, other).is(t, http.StatusOK)
		path := fmt.Sprintf("revisions/%d/validations/%s", n+1, fourEyesRole)
		send("POST", path, result, author, other).fails(t, http.StatusForbidden, "HTTPForbidden", "create_validation")
		send("POST", path, result, other, author).is(t, http.StatusCreated)
		send("POST", path[:len(path)-len(fourEyesRole)]+"other-validation", result, other, author).
			fails(t, http.StatusForbidden, "HTTPForbidden", "create_validation")
	}
}

func TestFourEyes_tokens(t *testing.T) {
	t.Parallel()
	k := &keys{filepath.Join(t.TempDir(), "tokens.yaml"), map[string]string{}}
	for _, user := range []string{"anna", "bob"} {
		token, entry := authn.NewToken(user, "", []string{fourEyesRole}, time.Now(), time.Time{})
		if err := authn.AppendToken(k.file, entry); err != nil {
			t.Fatal(err)
		}
		k.of[user] = token
	}
	s := k.startWith(t, "", "--policy-file", policyFile(t, fourEyesRules))
	s.isFourEyes(t, "anna", "bob", k.as)
}

func TestFourEyes_certificates(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	authorities := filepath.Join(t.TempDir(), "ca.pem")
	writeFile(t, authorities, a.pem)
	k := newKeys(t, "reader")
	s, _, _ := protected(t, a, "--tls-client-ca", authorities, "--auth", "tokens", "--tokens-file", k.file,
		"--policy-file", policyFile(t, fourEyesRules))
	clients := map[string]*http.Client{}
	for n, user := range []string{"anna", "bob"} {
		subject := pkix.Name{CommonName: user, OrganizationalUnit: []string{"role:" + fourEyesRole}}
		clients[user] = a.client(t, a.pair(t, int64(10+n), subject))
	}
	s.isFourEyes(t, "anna", "bob", func(user string) map[string]string {
		s.client = clients[user]
		return nil
	})
	s.client = a.client(t)
}

func TestFourEyes_OIDC(t *testing.T) {
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
		"--oidc-roles-claim", "realm_access.roles", "--policy-file", policyFile(t, fourEyesRules))
	s.isFourEyes(t, "u-1", "u-2", func(user string) map[string]string {
		now := time.Now()
		return map[string]string{"X-Auth-Token": oidctest.SignIDToken(key, "k", oidc.RS256, fmt.Sprintf(
			`{"iss": %q, "aud": "purser", "sub": %q, "iat": %d, "exp": %d, "realm_access": {"roles": [%q]}}`,
			web.URL, user, now.Unix(), now.Add(time.Hour).Unix(), fourEyesRole))}
	})
}

func TestFourEyes_Keystone(t *testing.T) {
	t.Parallel()
	k := &keystone{token: "gAAAAAalice", others: map[string]string{
		"gAAAAAu-1": tokenBody("u-1", "anna", fourEyesRole), "gAAAAAu-2": tokenBody("u-2", "anna", fourEyesRole),
	}}
	web := httptest.NewServer(k)
	defer web.Close()
	password := filepath.Join(t.TempDir(), "password")
	writeFile(t, password, "secret\n")
	s := startFresh(t, "--auth", "keystone", "--keystone-url", web.URL+"/identity/v3", "--keystone-user", "purser",
		"--keystone-project", "service", "--keystone-password-file", password, "--policy-file", policyFile(t, fourEyesRules))
	s.isFourEyes(t, "u-1", "u-2", func(user string) map[string]string {
		return map[string]string{"X-Auth-Token": "gAAAAA" + user}
	})
}
