package web_test

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/coreos/go-oidc/v3/oidc/oidctest"
	"github.com/google/go-cmp/cmp"

	"purser/api"
	"purser/internal/authn"
	"purser/web"
	"purser/web/signin"
)

// idp is an issuer with a permanently signed-in user.
type idp struct {
	*httptest.Server

	keys      *oidctest.Server
	key       *rsa.PrivateKey
	challenge string // of the code
	nonce     string
	claims    map[string]any // that override the usual ones
	methods   []string       // of authentication that it supports
	exchanges []string       // the client's identification in each exchange: in the header or the body
}

func newIDP(t *testing.T) *idp {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	i := &idp{key: key, keys: &oidctest.Server{PublicKeys: []oidctest.PublicKey{{PublicKey: key.Public(), KeyID: "k"}}}}
	i.Server = httptest.NewServer(i)
	t.Cleanup(i.Close)
	i.keys.SetIssuer(i.URL)
	return i
}

func (i *idp) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		_ = json.NewEncoder(w).Encode(map[string]any{ //nolint:errchkjson // the same
			"issuer": i.URL, "authorization_endpoint": i.URL + "/authorize", "token_endpoint": i.URL + "/token",
			"jwks_uri": i.URL + "/keys", "id_token_signing_alg_values_supported": []string{"RS256"},
			"token_endpoint_auth_methods_supported": i.methods,
		})
	case "/token":
		i.token(w, r)
	default:
		i.keys.ServeHTTP(w, r)
	}
}

// token exchanges the code for tokens if the verifier is correct.
func (i *idp) token(w http.ResponseWriter, r *http.Request) {
	id, secret, inHeader := r.BasicAuth()
	if !inHeader {
		id, secret = r.FormValue("client_id"), r.FormValue("client_secret")
	}
	i.exchanges = append(i.exchanges, fmt.Sprintf("%v %s %s", inHeader, id, secret))
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	if r.FormValue("code") != "code" || base64.RawURLEncoding.EncodeToString(sum[:]) != i.challenge {
		http.Error(w, `{"error": "invalid_grant"}`, http.StatusBadRequest)
		return
	}
	claims := map[string]any{
		"iss": i.URL, "aud": "purser", "sub": "u-1", "preferred_username": "Alice", "roles": []string{"admin"},
		"nonce": i.nonce, "iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix(),
	}
	maps.Copy(claims, i.claims)
	text, _ := json.Marshal(claims) //nolint:errchkjson // texts and numbers
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"access_token": "opaque", "token_type": "Bearer", "id_token": %q}`,
		oidctest.SignIDToken(i.key, "k", oidc.RS256, string(text)))
}

// withIDP returns a site with sign-in at an issuer.
func withIDP(t *testing.T, i *idp, secret ...string) *site {
	t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	verifier, err := authn.NewOIDC(authn.OIDCConfig{
		Issuer: i.URL, Audience: "purser", Client: i.Client(), Now: time.Now, Log: quiet,
	})
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(t, func(config *api.Config) { config.Access.Authenticator = verifier })
	s.pages, err = web.New(web.Config{
		API: s.api, PublicURL: "https://purser.example", Key: bytes.Repeat([]byte("k"), 32), Now: s.clock.Now, Log: quiet,
		Observe: ignore,
		OIDC:    &signin.OIDC{Issuer: i.URL, ClientID: "purser", Secret: strings.Join(secret, ""), Client: i.Client()},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// toIssuer starts a sign-in and returns the query of the redirect to the issuer.
func (b *browser) toIssuer(t *testing.T, i *idp) url.Values {
	t.Helper()
	b.get(t, "/ui/sign-in?next=/ui/search").is(t, http.StatusOK).shows(t, "Sign in with your organization")
	at, err := url.Parse(b.get(t, "/ui/sign-in/oidc?next=/ui/search").is(t, http.StatusSeeOther).Header.Get("Location"))
	if err != nil || !strings.HasPrefix(at.String(), i.URL+"/authorize?") {
		t.Fatalf("sent to %v, %v", at, err)
	}
	query := at.Query()
	for name, want := range map[string]string{
		"response_type": "code", "client_id": "purser", "scope": "openid", "code_challenge_method": "S256",
		"redirect_uri": "https://purser.example/ui/sign-in/oidc/back",
	} {
		if query.Get(name) != want {
			t.Errorf("%s is %q, want %q", name, query.Get(name), want)
		}
	}
	i.challenge, i.nonce = query.Get("code_challenge"), query.Get("nonce")
	return query
}

func back(query url.Values) string {
	return "/ui/sign-in/oidc/back?" + url.Values{"code": {"code"}, "state": {query.Get("state")}}.Encode()
}

func TestOIDC(t *testing.T) {
	t.Parallel()
	i := newIDP(t)
	s := withIDP(t, i)
	b := s.browser(t)
	done := b.get(t, back(b.toIssuer(t, i)), "Sec-Fetch-Site", "cross-site").is(t, http.StatusOK)
	wellFormed(t, "back", done)
	if !strings.Contains(done.text, `content="0; url=/ui/search"`) {
		t.Errorf("the page does not lead on:\n%s", done.text)
	}
	b.get(t, "/ui/search").is(t, http.StatusOK).shows(t, "Alice", "Sign out")
}

// TestOIDC_refused checks that unrequested or invalid answers of an issuer sign nobody in.
func TestOIDC_refused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil  func(s *site, i *idp, b *browser, query url.Values)
		status int
	}{
		"nothing":        {func(*site, *idp, *browser, url.Values) {}, http.StatusOK},
		"another state":  {func(_ *site, _ *idp, _ *browser, query url.Values) { query.Set("state", "x") }, http.StatusBadRequest},
		"no state":       {func(_ *site, _ *idp, _ *browser, query url.Values) { query.Del("state") }, http.StatusBadRequest},
		"other browser":  {func(s *site, _ *idp, b *browser, _ url.Values) { b.jar = s.browser(t).jar }, http.StatusBadRequest},
		"too late":       {func(s *site, _ *idp, _ *browser, _ url.Values) { s.clock.add(time.Hour / 5) }, http.StatusBadRequest},
		"another nonce":  {func(_ *site, i *idp, _ *browser, _ url.Values) { i.nonce = "x" }, http.StatusBadGateway},
		"other verifier": {func(_ *site, i *idp, _ *browser, _ url.Values) { i.challenge = "x" }, http.StatusBadGateway},
		"other audience": {func(_ *site, i *idp, _ *browser, _ url.Values) { i.claims = map[string]any{"aud": "x"} }, http.StatusBadGateway},
		"expired":        {func(_ *site, i *idp, _ *browser, _ url.Values) { i.claims = map[string]any{"exp": 1} }, http.StatusBadGateway},
		"no user":        {func(_ *site, i *idp, _ *browser, _ url.Values) { i.claims = map[string]any{"roles": 5} }, http.StatusForbidden},
		"down":           {func(_ *site, i *idp, _ *browser, _ url.Values) { i.Close() }, http.StatusServiceUnavailable},
	} {
		i := newIDP(t)
		s := withIDP(t, i)
		b := s.browser(t)
		query := b.toIssuer(t, i)
		c.spoil(s, i, b, query)
		if got := b.get(t, back(query)); got.StatusCode != c.status {
			t.Errorf("%s: status %d, want %d\n%s", name, got.StatusCode, c.status, got.visible(t))
		}
		want := http.StatusSeeOther
		if c.status == http.StatusOK {
			want = http.StatusOK
		}
		if name == "down" {
			continue // whether a token counts cannot be asked
		}
		if got := b.get(t, "/ui/search"); got.StatusCode != want {
			t.Errorf("%s: status %d afterwards", name, got.StatusCode)
		}
		if got := b.get(t, back(query)); got.StatusCode == http.StatusOK {
			t.Errorf("%s: the answer counts twice", name)
		}
	}
}

// A code is exchanged by one request, with the client's secret where the issuer expects it: an issuer may invalidate the
// code of a failed request.
func TestOIDC_exchange(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		secret  string
		methods []string
		want    string
	}{
		{"", nil, "false purser "},
		{"", []string{"client_secret_basic", "none"}, "false purser "},
		{"s3cret", nil, "true purser s3cret"},
		{"s3cret", []string{"client_secret_post", "client_secret_basic"}, "true purser s3cret"},
		{"s3cret", []string{"client_secret_post"}, "false purser s3cret"},
	} {
		i := newIDP(t)
		i.methods = c.methods
		b := withIDP(t, i, c.secret).browser(t)
		b.get(t, back(b.toIssuer(t, i))).is(t, http.StatusOK)
		if diff := cmp.Diff([]string{c.want}, i.exchanges); diff != "" {
			t.Errorf("%q, %v (-want +got)\n%s", c.secret, c.methods, diff)
		}
	}
}

// TestOIDC_error checks that the issuer's error is shown.
func TestOIDC_error(t *testing.T) {
	t.Parallel()
	i := newIDP(t)
	b := withIDP(t, i).browser(t)
	query := url.Values{"error": {"access_denied"}, "error_description": {"<script>no"}, "state": {b.toIssuer(t, i).Get("state")}}
	got := b.get(t, "/ui/sign-in/oidc/back?"+query.Encode()).is(t, http.StatusForbidden)
	got.shows(t, "access_denied <script>no")
	wellFormed(t, "error", got)
}
