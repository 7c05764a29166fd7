package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"purser/internal/wire"
)

const (
	pending    = `400 {"error": "authorization_pending"}`
	device     = `200 {"device_code": "dc", "user_code": "WDJB-MJHT", "verification_uri": "URL/go", "interval": 1, "expires_in": 60}`
	tokensText = `200 {"access_token": "at", "token_type": "Bearer"}`
)

// standIn is an issuer with one user. Each request to an endpoint takes the next of its answers, and the last one stays.
type standIn struct {
	mu      sync.Mutex
	url     string
	answers map[string][]string // of each path: the status and the body, in which URL is that of the issuer
	sent    []string            // the parameters of each request to /token
}

// newStandIn returns an issuer with endpoints below its URL.
func newStandIn(url string) *standIn {
	return &standIn{url: url, answers: map[string][]string{
		"/.well-known/openid-configuration": {`200 {"issuer": "URL", "token_endpoint": "URL/token", "device_authorization_endpoint": "URL/device"}`},
		"/device":                           {device}, "/token": {tokensText},
	}}
}

func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.URL.Path == "/token" {
		r.ParseForm()
		s.sent = append(s.sent, r.PostForm.Encode())
	}
	script := s.answers[r.URL.Path]
	if len(script) == 0 {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	if len(script) > 1 {
		s.answers[r.URL.Path] = script[1:]
	}
	var status int
	fmt.Sscan(script[0], &status)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Location", "/elsewhere")
	w.WriteHeader(status)
	io.WriteString(w, strings.ReplaceAll(script[0][4:], "URL", s.url))
}

// RoundTrip answers without a network. An empty answer is a connection that broke.
func (s *standIn) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if w.Code == http.StatusTeapot {
		return nil, io.ErrUnexpectedEOF
	}
	return w.Result(), nil
}

// The command waits for the user as long as the issuer says, at most half an hour, and as slowly as it wants.
func TestIssuer_signIn(t *testing.T) {
	t.Parallel()
	const broken = "418 "
	for name, c := range map[string]struct {
		device string
		tokens []string
		took   time.Duration
		want   string // the token, or part of the error
	}{
		"at once":             {device, []string{tokensText}, time.Second, "at"},
		"after a while":       {device, []string{pending, pending, tokensText}, 3 * time.Second, "at"},
		"slower":              {device, []string{`400 {"error": "slow_down"}`, tokensText}, 7 * time.Second, "at"},
		"without an interval": {strings.Replace(device, `"interval": 1`, `"interval": 0`, 1), []string{tokensText}, 5 * time.Second, "at"},
		"a negative interval": {strings.Replace(device, `: 1`, `: -7`, 1), []string{tokensText}, 5 * time.Second, "at"},
		"a huge interval":     {strings.Replace(device, `: 1, "expires_in": 60`, `: 1000000`, 1), []string{tokensText}, time.Minute, "at"},
		"a broken connection": {device, []string{broken, pending, tokensText}, 3 * time.Second, "at"},
		"a busy issuer":       {device, []string{"503 <html>", tokensText}, 2 * time.Second, "at"},
		"nobody":              {device, []string{pending}, time.Minute, "nobody has signed in: the code has expired"},
		"nobody, ever":        {strings.Replace(device, ", \"expires_in\": 60", "", 1), []string{pending}, 30 * time.Minute, "nobody has signed in"},
		"nobody for a year":   {strings.Replace(device, ": 60", ": 31536000", 1), []string{pending}, 30 * time.Minute, "nobody has signed in"},
		"never reached":       {device, []string{broken}, time.Minute, ""},
		"denied":              {device, []string{`400 {"error": "access_denied"}`}, time.Second, "the issuer https://id.example: sign in: access_denied"},
		"a long answer":       {device, []string{`400 {"error": "x", "error_description": "` + strings.Repeat("y\\n", 9000) + `"}`}, time.Second, "sign in: y y"},
		"no token":            {device, []string{"200 {}"}, time.Second, "missing access_token"},
		"not for this client": {`400 {"error": "unauthorized_client"}`, nil, 0, "sign in: unauthorized_client"},
		"no code":             {strings.Replace(device, "WDJB-MJHT", "", 1), nil, 0, "it names no page and code"},
		"no page":             {strings.Replace(device, "URL/go", "javascript:alert(1)", 1), nil, 0, "it names no page and code"},
		"a page of this host": {strings.Replace(device, "URL/go", "http://127.0.0.1/go", 1), nil, 0, "it names no page and code"},
		"a page of others":    {strings.Replace(device, "URL/go", "http://id.example/go", 1), nil, 0, "it names no page and code"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newStandIn("https://id.example")
				s.answers["/device"], s.answers["/token"] = []string{c.device}, c.tokens
				i := &issuer{name: s.url, http: &http.Client{Transport: s}}
				if err := i.discover(t.Context(), "purser"); err != nil {
					t.Fatal(err)
				}
				began, shown := time.Now(), ""
				given, err := i.signIn(t.Context(), []string{"openid", "roles"}, func(page, code string, _ time.Duration) {
					shown = page + " " + code
				})
				if err == nil && given.AccessToken != c.want || err != nil && !strings.Contains(err.Error(), c.want) || err != nil && len(err.Error()) > 400 {
					t.Errorf("%v, error %v, want %q", given, err, c.want)
				}
				if took := time.Since(began).Round(time.Second); took != c.took {
					t.Errorf("it took %v, want %v", took, c.took)
				}
				if diff := cmp.Diff("https://id.example/go WDJB-MJHT", shown); diff != "" && c.took > 0 {
					t.Errorf("shown (-want +got)\n%s", diff)
				}
				const want = "client_id=purser&device_code=dc&grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code&scope=openid+roles"
				if c.took > 0 && s.sent[0] != want {
					t.Errorf("sent %s", s.sent[0])
				}
			})
		})
	}
}

// Nothing is sent to an issuer without TLS, to endpoints without it, or to those of another issuer.
func TestIssuer_discover(t *testing.T) {
	t.Parallel()
	const document = `{"issuer": "URL", "token_endpoint": "URL/token", "device_authorization_endpoint": "URL/device"}`
	for name, c := range map[string]struct{ answer, want string }{
		"good":                  {"200 " + document, ""},
		"another issuer":        {"200 " + strings.Replace(document, "URL", "https://evil.example", 1), "did not match"},
		"tokens without TLS":    {"200 " + strings.Replace(document, "URL/token", "http://id.example/token", 1), `"http://id.example/token" is no https URL`},
		"devices without TLS":   {"200 " + strings.Replace(document, "URL/device", "http://id.example/d", 1), `"http://id.example/d" is no https URL`},
		"a password":            {"200 " + strings.Replace(document, "URL/token", "https://a:b@id.example", 1), "is no https URL"},
		"elsewhere":             {"302 ", "302 Found"},
		"a page":                {"404 <html>\x1b[31m", "404 Not Found: <html>⟨U+001B⟩[31m"},
		"a large page":          {"404 " + strings.Repeat("x", 3000), "404 Not Found: xxx"},
		"a document of 2 MiB":   {"200 " + strings.Repeat(" ", 2<<20) + document, "too large"},
		"on this machine":       {"200 " + strings.Replace(document, "URL/token", "http://127.0.0.1:1/token", 1), ""},
		"a device flow is lost": {`200 {"issuer": "URL", "token_endpoint": "URL/token"}`, ""},
	} {
		s := newStandIn("")
		s.answers["/.well-known/openid-configuration"] = []string{c.answer}
		server := httptest.NewServer(s)
		s.url = server.URL
		_, err := issuerNamed(t.Context(), server.URL, "purser", "")
		server.Close()
		if text := fmt.Sprint(err); (err == nil) != (c.want == "") || !strings.Contains(text, c.want) && err != nil || len(text) > 400 {
			t.Errorf("%s: error %s, want %q", name, text, c.want)
		}
	}
	for _, name := range []string{"http://id.example", "ftp://id.example", "id.example", "", "https://"} {
		if _, err := issuerNamed(t.Context(), name, "purser", ""); err == nil || !strings.Contains(err.Error(), "is no https URL") {
			t.Errorf("%q: error %v", name, err)
		}
	}
}

// The authorities of the server are trusted for its issuer too, beside those of the system.
func TestIssuer_authorities(t *testing.T) {
	t.Parallel()
	s := newStandIn("")
	server := httptest.NewTLSServer(s)
	t.Cleanup(server.Close)
	s.url = server.URL
	ca := filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(ca, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := issuerNamed(t.Context(), server.URL, "purser", ca); err != nil {
		t.Error(err)
	}
	if _, err := issuerNamed(t.Context(), server.URL, "purser", ""); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("error %v", err)
	}
}

// jwt returns an unsigned token that expires at a time: only the server checks signatures.
func jwt(kind string, expires time.Time) string {
	return "e30." + base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"kind": %q, "exp": %d}`, kind, expires.Unix())) + ".c2ln"
}

func tokensOf(id, access, refresh string) string {
	return fmt.Sprintf(`200 {"access_token": %q, "id_token": %q, "refresh_token": %q, "token_type": "Bearer"}`, access, id, refresh)
}

// withIssuer is a server that accepts one token at a time, and names an issuer.
type withIssuer struct {
	*fake
	*standIn

	accepted string
}

func newWithIssuer(t *testing.T) *withIssuer {
	t.Helper()
	s := &withIssuer{standIn: newStandIn("")}
	s.fake = newFake(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/.well-known/oauth-protected-resource":
			fmt.Fprintf(w, `{"resource": "x", "authorization_servers": [%q], "scopes_supported": ["openid"], "purser_client_id": "cli"}`, s.url)
		case !strings.HasPrefix(r.URL.Path, "/api/"):
			s.standIn.ServeHTTP(w, r)
		case r.Header.Get("Authorization") != "Bearer "+s.accepted:
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"kind":"Status","message":"who?","details":{"errorType":"HTTPUnauthorized"}}`)
		default:
			fmt.Fprint(w, `{"user":{"id":"7","name":"anna"},"roles":["reader"],"rules":[]}`)
		}
	})
	s.url = s.URL
	return s
}

// storedIn returns the credential in the file of a login.
func storedIn(t *testing.T, file string) (held credential) {
	t.Helper()
	if err := json.Unmarshal([]byte(textOf(t, file)), &held); err != nil {
		t.Fatal(err)
	}
	return held
}

// signIn runs the program with /dev/null as its standard input.
func signIn(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	empty, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer empty.Close()
	var out, said bytes.Buffer
	code = run(t.Context(), args, surroundings{stdin: empty, stdout: &out, stderr: &said})
	return out.String(), said.String(), code
}

// A user signs in at the issuer that the server names. Commands send the token, renew it when it has expired, and say
// when the user has to log in again.
func TestLogin_issuer(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	s := newWithIssuer(t)
	path := inConfig(t, "servers:\n  lab: {url: '"+s.URL+"'}\n")
	stored := filepath.Join(filepath.Dir(path), "lab.token")
	old, now := time.Now().Add(-time.Hour).UTC().Truncate(time.Second), time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	s.answers["/token"] = []string{tokensOf(jwt("id", old), jwt("access", old), "r1")}
	s.accepted = jwt("access", old) // the server's clock is wrong
	stdout, stderr, code := signIn(t, "login", "--server", "lab")
	want := "Logged in to lab as anna; the token is in " + stored + "\nCommands send it with --server lab, and without --server\n"
	if stdout != want || code != 0 {
		t.Fatalf("exit code %d, %q, %q, want %q", code, stdout, stderr, want)
	}
	const shown = "lab asks for a sign-in at URL as the client cli, with the scopes openid\n" +
		"To log in to lab, open this page in a browser within 1m0s:\n    URL/go\nIf it asks for a code, or shows one, that is WDJB-MJHT\n"
	if diff := cmp.Diff(shown, strings.ReplaceAll(stderr, s.URL, "URL")); diff != "" {
		t.Errorf("shown (-want +got)\n%s", diff)
	}
	wantMode(t, stored, 0o600)
	held := credential{Token: jwt("access", old), Kind: "access_token", Expires: old, Refresh: "r1", Issuer: s.URL, ClientID: "cli"}
	if got := storedIn(t, stored); got != held {
		t.Errorf("stored %+v", got)
	}
	s.answers["/token"] = []string{tokensOf("", jwt("access", now), "r2"), pending}
	s.accepted, s.sent = jwt("access", now), nil
	for range 2 {
		if stdout, stderr, code := purser(t, "whoami", "-o", "name"); stdout != "7\n" || code != 0 {
			t.Fatalf("exit code %d, %q, %q", code, stdout, stderr)
		}
	}
	if diff := cmp.Diff([]string{"client_id=cli&grant_type=refresh_token&refresh_token=r1"}, s.sent); diff != "" {
		t.Errorf("renewals (-want +got)\n%s", diff)
	}
	wantMode(t, stored, 0o600)
	if stdout, _, _ := purser(t, "token"); stdout != jwt("access", now)+"\n" {
		t.Errorf("purser token prints %q", stdout)
	}
	held = storedIn(t, stored)
	if held.Refresh != "r2" {
		t.Errorf("stored %+v", held)
	}
	held.Expires, held.Kind = old, "id_token"
	text, err := held.text()
	if err != nil {
		t.Fatal(err)
	}
	for answer, want := range map[string]string{
		`400 {"error": "invalid_grant"}`:       "renew the token: invalid_grant\nLog in again: purser login\n",
		tokensOf("", jwt("access", now), "r3"): "renew the token: it gives no id_token\nLog in again: purser login\n",
	} {
		if err := os.WriteFile(stored, text, 0o600); err != nil {
			t.Fatal(err)
		}
		s.answers["/token"] = []string{answer}
		if stdout, stderr, code := purser(t, "whoami"); stdout != "" || code != exitFailed || !strings.HasSuffix(stderr, want) {
			t.Errorf("%s: exit code %d, %q, %q, want %q", answer, code, stdout, stderr, want)
		}
	}
	if stdout, _, code := purser(t, "logout"); stdout != "Deleted the token of lab\n" || code != 0 {
		t.Errorf("logout: exit code %d, %q", code, stdout)
	}
	if _, err := os.Stat(stored); err == nil {
		t.Error("the token is still stored")
	}
}

// Nothing is stored if the server accepts no token of the issuer, and nothing is sent to an issuer that others could
// have named. A token that is given is used without one.
func TestLogin_issuerRefused(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	s := newWithIssuer(t)
	path := inConfig(t, "")
	_, stderr, code := signIn(t, "login", s.URL)
	if code != exitFailed || !strings.Contains(stderr, "accepts no token that "+s.URL+" gives to the client cli: its operator has to set --oidc-audience") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
	s.url, s.sent = "http://id.example", nil
	if _, stderr, code := signIn(t, "login", s.URL); code != exitFailed || !strings.Contains(stderr, `"http://id.example" is no https URL`) {
		t.Errorf("exit code %d, %s", code, stderr)
	}
	if found, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*.token")); len(found) > 0 {
		t.Errorf("stored %q", found)
	}
	_, err := (&loginCommand{}).signedIn(t.Context(), nil, "lab", serverEntry{URL: "http://purser.example"}, wire.Resource{Issuers: []string{s.URL}, ClientID: "cli"})
	if err == nil || !strings.Contains(err.Error(), "others could forge which issuer the server names") {
		t.Errorf("error %v", err)
	}
	s.accepted = "prs_given"
	if stdout, stderr, code := withInput(t, "prs_given\n", "login", s.URL); code != 0 || s.sent != nil || stderr != "" {
		t.Errorf("exit code %d, %q, %q; sent %q", code, stdout, stderr, s.sent)
	}
}

// On a terminal the user confirms what the server has chosen before anything is sent to the issuer.
func TestLogin_asks(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	const shown = "lab asks for a sign-in at URL as the client cli, with the scopes openid\n"
	for _, c := range []struct {
		input, args, want string
		code              int
	}{
		{"y\n", "", shown + "Sign in? [y/N] To log in", 0},
		{"n\n", "", shown + "Sign in? [y/N] purser: nothing was changed\n", exitNo},
		{"\n", "", shown + "Sign in? [y/N] purser: nothing was changed\n", exitNo},
		{"", "--yes", shown + "To log in", 0},
	} {
		s := newWithIssuer(t)
		inConfig(t, "servers:\n  lab: {url: '"+s.URL+"'}\n")
		s.accepted = "at"
		var out, said bytes.Buffer
		code := run(t.Context(), slicesOf("login", c.args), surroundings{stdin: strings.NewReader(c.input), stdout: &out, stderr: &said, asks: true})
		if stderr := strings.ReplaceAll(said.String(), s.URL, "URL"); !strings.HasPrefix(stderr, c.want) || code != c.code {
			t.Errorf("%q %s: exit code %d, %q, want %q", c.input, c.args, code, stderr, c.want)
		}
		if (len(s.sent) > 0) != (c.code == 0) {
			t.Errorf("%q %s: sent %q", c.input, c.args, s.sent)
		}
	}
}

// A server gets no access token for others, whatever scopes it has named.
func TestLogin_audience(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	for aud, sent := range map[string]bool{
		`"cli"`: true, `["account", "cli"]`: true, `"URL/"`: true, `"https://graph.example"`: false, `["account"]`: false, `[]`: false, `7`: false,
	} {
		s := newWithIssuer(t)
		path := inConfig(t, "")
		payload := `{"aud": ` + strings.ReplaceAll(aud, "URL", s.URL) + `}`
		s.accepted = "e30." + base64.RawURLEncoding.EncodeToString([]byte(payload)) + ".c2ln"
		s.answers["/token"] = []string{tokensOf(jwt("id", time.Now()), s.accepted, "")}
		_, stderr, code := signIn(t, "login", s.URL)
		if (code == 0) != sent || !sent && !strings.Contains(stderr, "the access token is for others than "+s.URL+", and is not sent to it\n") {
			t.Errorf("%s: exit code %d, %s", aud, code, stderr)
		}
		if found, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*.token")); (len(found) > 0) != sent {
			t.Errorf("%s: stored %q", aud, found)
		}
	}
}

// An empty pipe is the mistake of a script, for which nobody signs in: nothing is sent to the issuer.
func TestLogin_emptyPipe(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	s := newWithIssuer(t)
	inConfig(t, "")
	for _, input := range []string{"", "\n", " \n"} {
		_, stderr, code := withInput(t, input, "login", s.URL)
		if code != exitFailed || s.sent != nil || !strings.HasPrefix(stderr, "purser: there is no token in the standard input: is a variable unset?") {
			t.Errorf("%q: exit code %d, %s; sent %q", input, code, stderr, s.sent)
		}
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	defer write.Close()
	file, err := os.Create(filepath.Join(t.TempDir(), "empty"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	empty, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer empty.Close()
	for of, want := range map[*os.File]bool{read: true, file: true, empty: false} {
		if got := givesTokens(of); got != want {
			t.Errorf("%s gives tokens: %t", of.Name(), got)
		}
	}
}

// Commands at the same time renew a token once, and a command renews it between its requests.
func TestCredential_renewed(t *testing.T) {
	t.Parallel()
	s := newStandIn("")
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.url = server.URL
	now := time.Now().Add(time.Hour)
	s.answers["/token"] = []string{tokensOf(jwt("id", now), "at", "r2"), `400 {"error": "invalid_grant"}`}
	held := credential{Token: "old", Kind: "id_token", Expires: time.Now(), Refresh: "r1", Issuer: s.url, ClientID: "cli"}
	held.file = filepath.Join(t.TempDir(), "lab.token")
	text, err := held.text()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(held.file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			renewing := held.renewing("", nil)
			for range 2 {
				if token, err := renewing(t.Context()); err != nil || token != jwt("id", now) {
					t.Errorf("token %s, error %v", token, err)
				}
			}
		})
	}
	group.Wait()
	if len(s.sent) != 1 {
		t.Errorf("renewed by %q", s.sent)
	}
}

// A token says when it expires, and text that is no token does not.
func TestExpiryOf(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_800_000_000, 0).UTC()
	payload := func(text string) string { return "e30." + base64.RawURLEncoding.EncodeToString([]byte(text)) + ".c2ln" }
	for token, want := range map[string]time.Time{
		jwt("id", at): at, payload(`{"exp": 1.8e9}`): at, payload(`{"exp": "soon"}`): {}, payload(`{"exp": 1e300}`): {},
		payload(`{"exp": -1}`): {}, payload(`{}`): {}, "": {}, "opaque": {}, "a.b": {}, "a.!.c": {},
	} {
		if got := expiryOf(token); !got.Equal(want) {
			t.Errorf("%s expires at %v, want %v", token, got, want)
		}
	}
}
