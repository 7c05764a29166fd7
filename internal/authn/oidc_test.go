package authn

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/coreos/go-oidc/v3/oidc/oidctest"
	"github.com/google/go-cmp/cmp"
)

// issuer is a stand-in that counts requests and can be down.
type issuer struct {
	*oidctest.Server

	url     string
	client  *http.Client
	private map[string]crypto.Signer
	asked   atomic.Int32
	answer  atomic.Pointer[http.HandlerFunc] // replaces the usual answer, if set
	mu      sync.Mutex
}

var makeRSA = sync.OnceValue(func() *rsa.PrivateKey {
	key, _ := rsa.GenerateKey(rand.Reader, 2048)
	return key
})

func newIssuer(t testing.TB) *issuer {
	t.Helper()
	ec, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	_, ed, _ := ed25519.GenerateKey(rand.Reader)
	i := &issuer{Server: &oidctest.Server{}, private: map[string]crypto.Signer{"rsa": makeRSA(), "ec": ec, "ed": ed}}
	for id, key := range i.private {
		i.PublicKeys = append(i.PublicKeys, oidctest.PublicKey{PublicKey: key.Public(), KeyID: id})
	}
	server := httptest.NewServer(i)
	t.Cleanup(server.Close)
	i.SetIssuer(server.URL)
	i.url, i.client = server.URL, server.Client()
	return i
}

func (i *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.asked.Add(1)
	if answer := i.answer.Load(); answer != nil {
		(*answer)(w, r)
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.Server.ServeHTTP(w, r)
}

// answers replaces the issuer's answer; nil restores the usual one.
func (i *issuer) answers(answer http.HandlerFunc) {
	if answer == nil {
		i.answer.Store(nil)
		return
	}
	i.answer.Store(&answer)
}

func (i *issuer) setKeys(keys ...oidctest.PublicKey) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.PublicKeys = keys
}

const audience = "purser"

// said returns the claims of a typical token with some changed; claims that are nil are omitted.
func (i *issuer) said(changes map[string]any) string {
	all := map[string]any{
		"iss": i.url, "aud": audience, "sub": "u-1", "preferred_username": "alice", "roles": []string{"admin", "viewer"},
		"iat": epoch.Unix(), "exp": epoch.Add(time.Hour).Unix(),
	}
	maps.Copy(all, changes)
	maps.DeleteFunc(all, func(_ string, value any) bool { return value == nil })
	text, err := json.Marshal(all)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func (i *issuer) token(changes map[string]any) string {
	return oidctest.SignIDToken(i.private["rsa"], "rsa", oidc.RS256, i.said(changes))
}

func (i *issuer) config(c *clock, j *journal) OIDCConfig {
	return OIDCConfig{Issuer: i.url, Audience: audience, Client: i.client, Now: c.now, Log: j.log()}
}

func newTestOIDC(t testing.TB, config OIDCConfig) *OIDC {
	t.Helper()
	o, err := NewOIDC(config)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// unsigned returns a token with arbitrary header, claims and signature.
func unsigned(header, claims string, signature []byte) string {
	encode := base64.RawURLEncoding.EncodeToString
	return encode([]byte(header)) + "." + encode([]byte(claims)) + "." + encode(signature)
}

// symmetric returns a token that is signed with the issuer's public key as if it were a shared secret.
func (i *issuer) symmetric() string {
	der, _ := x509.MarshalPKIXPublicKey(i.private["rsa"].Public())
	mac := hmac.New(sha256.New, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
	token := unsigned(`{"alg":"HS256","kid":"rsa"}`, i.said(nil), nil)
	mac.Write([]byte(strings.TrimSuffix(token, ".")))
	return token + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func TestOIDC_Authenticate(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	o := newTestOIDC(t, i.config(newClock(), new(journal)))
	want := Caller{UserID: "u-1", UserName: "alice", Roles: []string{"admin", "viewer"}}
	for name, token := range map[string]string{
		"RS256":          i.token(nil),
		"PS384":          oidctest.SignIDToken(i.private["rsa"], "rsa", oidc.PS384, i.said(nil)),
		"ES256":          oidctest.SignIDToken(i.private["ec"], "ec", oidc.ES256, i.said(nil)),
		"EdDSA":          oidctest.SignIDToken(i.private["ed"], "ed", oidc.EdDSA, i.said(nil)),
		"no kid":         oidctest.SignIDToken(i.private["ec"], "", oidc.ES256, i.said(nil)),
		"audiences":      i.token(map[string]any{"aud": []string{"other", audience}}),
		"expires now":    i.token(map[string]any{"exp": epoch.Unix()}),
		"clock is ahead": i.token(map[string]any{"exp": epoch.Add(-skew).Unix()}),
		"clock is late":  i.token(map[string]any{"nbf": epoch.Add(skew).Unix(), "iat": epoch.Add(skew).Unix()}),
		"no iat":         i.token(map[string]any{"iat": nil}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := o.Authenticate(t.Context(), token)
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Error(err, diff)
			}
		})
	}
}

func TestOIDC_Authenticate_rejects(t *testing.T) {
	t.Parallel()
	i, j := newIssuer(t), new(journal)
	o := newTestOIDC(t, i.config(newClock(), j))
	good := i.token(nil)
	parts := strings.Split(good, ".")
	stranger, _ := rsa.GenerateKey(rand.Reader, 2048)
	with := func(name string, value any) string { return i.token(map[string]any{name: value}) }
	for name, c := range map[string]struct{ token, reason string }{
		"expired":           {with("exp", epoch.Add(-skew-time.Second).Unix()), "expired"},
		"never expires":     {with("exp", nil), "expired"},
		"expiry of text":    {with("exp", "never"), "claims cannot be read"},
		"not yet valid":     {with("nbf", epoch.Add(skew+time.Second).Unix()), "not yet valid"},
		"far from valid":    {with("nbf", epoch.Add(time.Hour).Unix()), "not yet valid"},
		"from the future":   {with("iat", epoch.Add(skew+time.Second).Unix()), "not yet valid"},
		"nbf of text":       {with("nbf", "x"), "claims cannot be read"},
		"other audience":    {with("aud", "other"), "another audience"},
		"no audience":       {with("aud", nil), "another audience"},
		"other issuer":      {with("iss", "https://id.example"), "another issuer"},
		"issuer with slash": {with("iss", i.url+"/"), "another issuer"},
		"no user":           {with("sub", nil), "not name a user"},
		"empty user":        {with("sub", ""), "not name a user"},
		"user of numbers":   {with("sub", 12), "claims cannot be read"},
		"roles of numbers":  {with("roles", []int{1}), "roles is neither"},
		"roles as a map":    {with("roles", map[string]any{"admin": true}), "roles is neither"},
		"name of numbers":   {with("preferred_username", 12), "preferred_username is not a string"},
		"user with newline": {with("sub", "u\nX-Roles: admin"), "unprintable"},
		"logout token":      {with("events", map[string]any{"http://schemas.openid.net/event/backchannel-logout": map[string]any{}}), "another purpose"},
		"alg none":          {unsigned(`{"alg":"none"}`, i.said(nil), nil), "private key"},
		"alg None":          {unsigned(`{"alg":"None","kid":"rsa"}`, i.said(nil), nil), "private key"},
		"alg missing":       {unsigned(`{"kid":"rsa"}`, i.said(nil), nil), "private key"},
		"alg twice":         {unsigned(`{"alg":"none","alg":"RS256","kid":"rsa"}`, i.said(nil), []byte("x")), "malformed"},
		"symmetric":         {i.symmetric(), "private key"},
		"other family":      {strings.Join([]string{base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"ES256","kid":"rsa"}`)), parts[1], parts[2]}, "."), "does not publish"},
		"stranger's key":    {oidctest.SignIDToken(stranger, "rsa", oidc.RS256, i.said(nil)), "signature is wrong"},
		"no kid, stranger":  {oidctest.SignIDToken(stranger, "", oidc.RS256, i.said(nil)), "signature is wrong"},
		"key of its own":    {unsigned(`{"alg":"RS256","kid":"rsa","jwk":{"kty":"RSA","n":"AQAB","e":"AQAB"}}`, i.said(nil), []byte("x")), "signature is wrong"},
		"key elsewhere":     {unsigned(`{"alg":"RS256","kid":"rsa","jku":"http://evil.example"}`, i.said(nil), []byte("x")), "signature is wrong"},
		"critical":          {unsigned(`{"alg":"RS256","kid":"rsa","crit":["exp"],"exp":1}`, i.said(nil), []byte("x")), "wrong"},
		"other type":        {unsigned(`{"alg":"RS256","kid":"rsa","typ":"logout+jwt"}`, i.said(nil), nil), "another purpose"},
		"unknown kid":       {oidctest.SignIDToken(i.private["rsa"], "gone", oidc.RS256, i.said(nil)), "does not publish"},
		"claims changed":    {parts[0] + "." + base64.RawURLEncoding.EncodeToString([]byte(i.said(map[string]any{"sub": "root"}))) + "." + parts[2], "signature is wrong"},
		"no signature":      {parts[0] + "." + parts[1] + ".", "wrong"},
		"two parts":         {parts[0] + "." + parts[1], "not a JSON Web Token"},
		"four parts":        {good + ".x", "not a JSON Web Token"},
		"encrypted":         {good + ".x.y", "not a JSON Web Token"},
		"oversized":         {good + strings.Repeat("A", maxToken), "16 KiB"},
		"longest":           {parts[0] + "." + parts[1] + "." + strings.Repeat("A", maxToken-len(parts[0])-len(parts[1])-2), "wrong"},
		"dots":              {strings.Repeat(".", maxToken), "not a JSON Web Token"},
		"JSON form":         {`{"payload":"` + parts[1] + `","signatures":[{"protected":"` + parts[0] + `","signature":"` + parts[2] + `"}]}`, "not a JSON Web Token"},
		"garbage":           {"garbage", "not a JSON Web Token"},
		"garbage in parts":  {"a.b.c", "not a JSON Web Token"},
		"garbage behind":    {parts[0] + ".b!.c", "malformed"},
		"whitespace":        {good[:20] + "\n" + good[20:], "characters"},
		"empty":             {"", "no token"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := o.Authenticate(t.Context(), c.token)
			wantRejected(t, err, c.reason, c.token)
			if diff := cmp.Diff(Caller{}, got); diff != "" {
				t.Error(diff)
			}
			wantNothingOf(t, c.token, j.String())
		})
	}
}

func TestOIDC_Authenticate_claims(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	token := i.token(map[string]any{
		"email": "alice@example.org", "project": "site-1", "one": "admin",
		"realm_access":            map[string]any{"roles": []string{"a"}},
		"resource_access":         map[string]any{"my.client": map[string]any{"roles": []string{"b"}}},
		"https://id.example/role": []string{"c"},
		"realm_access.other":      []string{"d"},
	})
	for name, c := range map[string]struct {
		config OIDCConfig
		want   Caller
	}{
		"usual":    {OIDCConfig{}, Caller{UserID: "u-1", UserName: "alice", Roles: []string{"admin", "viewer"}}},
		"others":   {OIDCConfig{UserClaim: "email", NameClaim: "none", ProjectClaim: "project"}, Caller{UserID: "alice@example.org", ProjectID: "site-1", Roles: []string{"admin", "viewer"}}},
		"nested":   {OIDCConfig{RolesClaim: "realm_access.roles"}, Caller{UserID: "u-1", UserName: "alice", Roles: []string{"a"}}},
		"dots":     {OIDCConfig{RolesClaim: "resource_access.my.client.roles"}, Caller{UserID: "u-1", UserName: "alice", Roles: []string{"b"}}},
		"URL":      {OIDCConfig{RolesClaim: "https://id.example/role"}, Caller{UserID: "u-1", UserName: "alice", Roles: []string{"c"}}},
		"flat":     {OIDCConfig{RolesClaim: "realm_access.other"}, Caller{UserID: "u-1", UserName: "alice", Roles: []string{"d"}}},
		"one role": {OIDCConfig{RolesClaim: "one"}, Caller{UserID: "u-1", UserName: "alice", Roles: []string{"admin"}}},
		"no roles": {OIDCConfig{RolesClaim: "realm_access.none"}, Caller{UserID: "u-1", UserName: "alice"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			usual := i.config(newClock(), new(journal))
			c.config.Issuer, c.config.Audience, c.config.Client = usual.Issuer, usual.Audience, usual.Client
			c.config.Now, c.config.Log = usual.Now, usual.Log
			got, err := newTestOIDC(t, c.config).Authenticate(t.Context(), token)
			if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
				t.Error(err, diff)
			}
		})
	}
}

// No answer of a broken issuer causes a 401, a panic or an endless wait.
func TestOIDC_Authenticate_issuerIsDown(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]http.HandlerFunc{
		"error":      func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) },
		"page":       func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat("<html>", 1000)) },
		"endless":    func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat(" ", maxAnswer+1)) },
		"elsewhere":  func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/other", http.StatusFound) },
		"other":      func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"issuer":"https://id.example"}`) },
		"slow":       hang,
		"hangs up":   func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"no address": func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, `{"issuer":"http://%s"}`, r.Host) },
		"file": func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, `{"issuer":"http://%s","jwks_uri":"file:///etc/passwd"}`, r.Host)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i, c, j := newIssuer(t), newClock(), new(journal)
			config := i.config(c, j)
			transport := &impatient{RoundTripper: i.client.Transport}
			transport.hang.Store(name == "slow")
			config.Client = &http.Client{Transport: transport}
			o := newTestOIDC(t, config)
			i.answers(answer)
			if o.Check(t.Context()); j.complaints() != 1 {
				t.Error("the start is not enough for a complaint:", j)
			}
			for range 3 {
				_, err := o.Authenticate(t.Context(), i.token(nil))
				wantUnavailable(t, err)
			}
			if o.Problem() == nil {
				t.Error("there is no problem")
			}
			asked := i.asked.Load()
			if name == "slow" {
				asked = transport.asked.Load() // a request may be given up before it arrives
			}
			if asked != 1 {
				t.Errorf("it was asked %d times in one moment, want once", asked)
			}
			if j.complaints() != 1 || len(j.String()) > 1000 {
				t.Error("want one complaint, and a short one:", j)
			}
			i.answers(nil)
			transport.hang.Store(false)
			c.advance(minFetchInterval)
			if _, err := o.Authenticate(t.Context(), i.token(nil)); err != nil {
				t.Error("it answers again:", err)
			}
			if err := o.Problem(); err != nil {
				t.Error("it answers again:", err)
			}
			wantNothingOf(t, i.token(nil), j.String())
		})
	}
}

func TestOIDC_Authenticate_keys(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string]string{
		"none":          `{"keys":[]}`,
		"no list":       `{"keys":{}}`,
		"no JSON":       `<html>`,
		"symmetric":     `{"keys":[{"kty":"oct","kid":"rsa","k":"c2VjcmV0"}]}`,
		"unknown":       `{"keys":[{"kty":"OKP","crv":"Ed448","kid":"rsa","x":"AAAA"},{"kty":"new"},17]}`,
		"for encrypted": `{"keys":[{"kty":"RSA","kid":"rsa","use":"enc","n":"AQAB","e":"AQAB"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := newIssuer(t)
			i.answers(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/keys" {
					fmt.Fprint(w, keys)
					return
				}
				i.Server.ServeHTTP(w, r)
			})
			_, err := newTestOIDC(t, i.config(newClock(), new(journal))).Authenticate(t.Context(), i.token(nil))
			wantUnavailable(t, err)
		})
	}
}

func TestOIDC_Authenticate_keysChange(t *testing.T) {
	t.Parallel()
	i, c, j := newIssuer(t), newClock(), new(journal)
	o := newTestOIDC(t, i.config(c, j))
	accepted := func(token string) bool {
		_, err := o.Authenticate(t.Context(), token)
		return err == nil
	}
	n := 0
	signed := func(id string, key crypto.Signer, algorithm string) string { // never the same, so no result is cached
		n++
		return oidctest.SignIDToken(key, id, algorithm, i.said(map[string]any{"jti": n}))
	}
	before := func() string { return signed("rsa", i.private["rsa"], oidc.RS256) }
	if !accepted(before()) {
		t.Fatal("a good token is rejected")
	}
	fresh, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	i.setKeys(oidctest.PublicKey{PublicKey: fresh.Public(), KeyID: "fresh"})
	after := func() string { return signed("fresh", fresh, oidc.ES256) }
	if accepted(after()) || i.asked.Load() != 2 {
		t.Error("the issuer is asked twice in one moment")
	}
	c.advance(minFetchInterval)
	if !accepted(after()) || accepted(before()) {
		t.Error("a new key does not count, or a withdrawn one does")
	}

	// While the issuer is down, its known keys remain valid, and tokens with unknown keys may be valid.
	i.answers(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	c.advance(keyLifetime)
	if !accepted(after()) {
		t.Error("a known key does not count while the issuer is gone")
	}
	c.advance(minFetchInterval)
	_, err := o.Authenticate(t.Context(), before())
	wantUnavailable(t, err)
}

func TestOIDC_Authenticate_remembers(t *testing.T) {
	t.Parallel()
	i, c := newIssuer(t), newClock()
	o := newTestOIDC(t, i.config(c, new(journal)))
	token := i.token(map[string]any{"exp": epoch.Add(10 * time.Second).Unix()})
	for range 2 {
		got, err := o.Authenticate(t.Context(), token)
		if diff := cmp.Diff([]string{"admin", "viewer"}, got.Roles); diff != "" || err != nil {
			t.Fatal(err, diff)
		}
		got.Roles[0] = "changed"
	}
	c.advance(10*time.Second + skew + time.Second)
	_, err := o.Authenticate(t.Context(), token)
	wantRejected(t, err, "expired", token)
}

// Old keys are fetched again while they are still valid, so that no request waits, and a withdrawn key expires soon.
func TestOIDC_Authenticate_keysGetOld(t *testing.T) {
	t.Parallel()
	i, c := newIssuer(t), newClock()
	o := newTestOIDC(t, i.config(c, new(journal)))
	token := i.token(nil)
	if _, err := o.Authenticate(t.Context(), token); err != nil {
		t.Fatal(err)
	}
	i.setKeys(oidctest.PublicKey{PublicKey: i.private["ec"].Public(), KeyID: "ec"})
	c.advance(keyLifetime)
	deadline := time.Now().Add(time.Minute) // otherwise the loop might never end
	for n := 0; ; n++ {
		time.Sleep(time.Millisecond)
		token := i.token(map[string]any{"jti": n}) // whose result is not cached
		if _, err := o.Authenticate(t.Context(), token); err != nil {
			wantRejected(t, err, "does not publish", token)
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("a withdrawn key counts for ever")
		}
	}
}

// A flood of tokens with made-up keys causes one request to the issuer in several seconds and delays no other caller.
func TestOIDC_Authenticate_flood(t *testing.T) {
	t.Parallel()
	i, c := newIssuer(t), newClock()
	o := newTestOIDC(t, i.config(c, new(journal)))
	good := i.token(nil)
	var running sync.WaitGroup
	for worker := range 4 {
		running.Go(func() {
			for n := range 500 {
				wrong := unsigned(fmt.Sprintf(`{"alg":"RS256","kid":"%d-%d"}`, worker, n), "{}", []byte("x"))
				if _, err := o.Authenticate(context.Background(), wrong); err == nil {
					t.Error("a wrong token is accepted")
				}
			}
			if _, err := o.Authenticate(context.Background(), good); err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
	if asked := i.asked.Load(); asked != 2 {
		t.Errorf("the issuer was asked %d times, want 2: for its settings and its keys", asked)
	}
}

func TestOIDC_Authenticate_clientGoesAway(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	o := newTestOIDC(t, i.config(newClock(), new(journal)))
	ctx, goAway := context.WithCancel(t.Context())
	gone := make(chan struct{})
	i.answers(func(http.ResponseWriter, *http.Request) {
		goAway()
		<-gone
	})
	_, err := o.Authenticate(ctx, i.token(nil))
	close(gone)
	wantUnavailable(t, err)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the end of the context", err)
	}
}

func TestNewOIDC_refuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config OIDCConfig
		want   string
	}{
		"nothing":     {OIDCConfig{}, "address"},
		"no address":  {OIDCConfig{Issuer: "id.example", Audience: "a"}, "address"},
		"ftp":         {OIDCConfig{Issuer: "ftp://id.example", Audience: "a"}, "address"},
		"password":    {OIDCConfig{Issuer: "https://u:secret@id.example", Audience: "a"}, "password"},
		"query":       {OIDCConfig{Issuer: "https://id.example?x", Audience: "a"}, "query"},
		"no audience": {OIDCConfig{Issuer: "https://id.example"}, "audience"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := NewOIDC(c.config)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// Only signed tokens are accepted, and no text causes a panic or appears in an error.
func FuzzOIDC_Authenticate(f *testing.F) {
	i := newIssuer(f)
	o := newTestOIDC(f, i.config(newClock(), new(journal)))
	good := i.token(nil)
	for _, seed := range []string{
		good, i.symmetric(), "a.b.c", strings.Repeat(".", 100), unsigned(`{"alg":"none"}`, i.said(nil), nil),
		unsigned(`{"alg":"RS256","kid":"rsa","crit":["b64"],"b64":false}`, "{}", []byte("x")),
	} {
		f.Add(seed)
	}
	parts := strings.Split(good, ".")
	f.Fuzz(func(t *testing.T, token string) {
		if _, err := o.Authenticate(t.Context(), token); err == nil && !strings.HasPrefix(token, parts[0]+"."+parts[1]+".") {
			t.Errorf("%q is accepted", token)
		} else if _, ok := err.(*Rejected); err != nil && !ok { //nolint:errorlint // it is returned unwrapped
			t.Errorf("%q: %v", token, err)
		}
	})
}

func BenchmarkOIDC_Authenticate(b *testing.B) {
	i := newIssuer(b)
	o := newTestOIDC(b, i.config(newClock(), new(journal)))
	good := i.token(nil)
	for name, token := range map[string]string{
		"good":           good,
		"same wrong one": good[:len(good)-8] + "AAAAAAAA",
		"unknown key":    unsigned(`{"alg":"RS256","kid":"x"}`, "{}", []byte("x")),
		"garbage":        "garbage",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, _ = o.Authenticate(b.Context(), token)
			}
		})
	}
	b.Run("wrong signature", func(b *testing.B) {
		for n := 0; b.Loop(); n++ {
			_, _ = o.Authenticate(b.Context(), good[:len(good)-8]+fmt.Sprintf("%07dA", n))
		}
	})
}
