package e2e_test

import (
	"crypto/x509/pkix"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// browse sends a request as a browser does, and returns the status and text of the page.
func browse(t *testing.T, client *http.Client, method, target string, form url.Values) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, target, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	got, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	return got.StatusCode, string(text)
}

// The pages are served in addition to the API. A session is valid on another server only if that has the same key.
func TestUI(t *testing.T) {
	t.Parallel()
	key, other := filepath.Join(t.TempDir(), "ui.key"), filepath.Join(t.TempDir(), "other.key")
	for path, text := range map[string]string{key: strings.Repeat("k", 32), other: strings.Repeat("o", 32)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	k := newKeys(t, "admin")
	jar, err := cookiejar.New(nil) // ignores ports
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar}
	first := k.startWith(t, "", "--ui-key-file", key)
	if status, text := browse(t, client, http.MethodGet, first.url+"/ui/", nil); status != http.StatusOK || !strings.Contains(text, "Sign in") {
		t.Fatalf("status %d\n%s", status, text)
	}
	form := url.Values{"token": {k.of["admin"]}}
	if status, text := browse(t, client, http.MethodPost, first.url+"/ui/sign-in", form); status != http.StatusOK || !strings.Contains(text, "There is no revision yet") {
		t.Fatalf("status %d\n%s", status, text)
	}
	for path, want := range map[string]string{key: "There is no revision yet", other: "Sign in"} {
		s := k.startWith(t, "", "--ui-key-file", path)
		if status, text := browse(t, client, http.MethodGet, s.url+"/ui/", nil); status != http.StatusOK || !strings.Contains(text, want) {
			t.Errorf("status %d, not %q\n%s", status, want, text)
		}
	}
}

// A user with a client certificate sees the pages and makes changes without a token. The certificate alone signs in, as
// the page shown after signing out says.
func TestUI_certificate(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	authorities := filepath.Join(t.TempDir(), "ca.pem")
	writeFile(t, authorities, a.pem)
	k := newKeys(t, "admin")
	s, _, _ := protected(t, a, "--tls-client-ca", authorities, "--auth", "tokens", "--tokens-file", k.file)
	none := a.client(t)
	holder := a.client(t, a.pair(t, 4, pkix.Name{CommonName: "operator", OrganizationalUnit: []string{"role:admin"}}))
	reader := a.client(t, a.pair(t, 5, pkix.Name{CommonName: "onlooker", OrganizationalUnit: []string{"role:nobody"}}))
	for _, client := range []*http.Client{none, holder, reader} {
		client.Jar, _ = cookiejar.New(nil) // never fails
	}
	s.client = holder
	s.put(t, "site", widget("w", "\n  a: 1")).is(t, http.StatusOK)
	shows := func(client *http.Client, method, path string, form url.Values, status int, parts ...string) {
		t.Helper()
		got, text := browse(t, client, method, s.url+path, form)
		for _, part := range parts {
			if got != status || !strings.Contains(text, part) {
				t.Errorf("%s %s: status %d, want %d and %q:\n%s", method, path, got, status, part, text)
			}
		}
	}
	shows(none, http.MethodGet, "/ui/", nil, http.StatusOK, "<h1>Sign in</h1>", "client certificate")
	shows(holder, http.MethodGet, "/ui/", nil, http.StatusOK, "Revision 1", "operator", "Sign out")
	shows(holder, http.MethodGet, "/ui/sign-in?next=/ui/search", nil, http.StatusOK, "<h1>Documents</h1>")
	shows(reader, http.MethodGet, "/ui/", nil, http.StatusForbidden, "onlooker")

	stamp, _ := s.get(t, "revisions/1").is(t, http.StatusOK).mapping(t)["stamp"].(string)
	tag := url.Values{"stamp": {stamp}, "name": {"by-certificate"}}
	shows(none, http.MethodPost, "/ui/revisions/1/tags", tag, http.StatusOK, "<h1>Sign in</h1>")
	shows(reader, http.MethodPost, "/ui/revisions/1/tags", tag, http.StatusForbidden, "You do not have the right")
	if got := forge(t, holder, s.url, "/ui/revisions/1/tags", tag); got != http.StatusForbidden {
		t.Errorf("status %d for a form of another site's page", got)
	}
	s.get(t, "revisions/1/tags/by-certificate").is(t, http.StatusNotFound)
	shows(holder, http.MethodPost, "/ui/revisions/1/tags", tag, http.StatusOK, "Revision 1", "by-certificate")

	const says = "cannot sign it out"
	shows(holder, http.MethodPost, "/ui/sign-out", nil, http.StatusOK, "<h1>Sign in</h1>", "operator", says)
	shows(holder, http.MethodGet, "/ui/", nil, http.StatusOK, "operator")
	shows(holder, http.MethodPost, "/ui/sign-in", url.Values{"token": {k.of["admin"]}}, http.StatusOK, ">admin<")
	shows(holder, http.MethodPost, "/ui/sign-out", nil, http.StatusOK, "operator", says)
	shows(none, http.MethodGet, "/ui/sign-in?other=yes", nil, http.StatusOK, "<h1>Sign in</h1>")
}

// forge sends a form as a browser does for a page of another site, and returns the status.
func forge(t *testing.T, client *http.Client, server, path string, form url.Values) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server+path, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	got, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	return got.StatusCode
}

func TestUI_off(t *testing.T) {
	t.Parallel()
	s := startFresh(t, "--no-ui")
	if status, text := browse(t, http.DefaultClient, http.MethodGet, s.url+"/ui/", nil); status != http.StatusNotFound || strings.Contains(text, "<html") {
		t.Errorf("status %d\n%s", status, text)
	}
	if _, text := browse(t, http.DefaultClient, http.MethodGet, s.url+"/", nil); strings.Contains(text, "/ui/") {
		t.Errorf("the front page has a link:\n%s", text)
	}
}

// Errors in the flags of the pages are reported, with a remedy, before the database is contacted.
func TestUI_flags(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	short, open, empty := filepath.Join(dir, "short.key"), filepath.Join(dir, "open.key"), filepath.Join(dir, "empty")
	writeFile(t, short, "short")
	writeFile(t, empty, " \n")
	writeFile(t, open, strings.Repeat("k", 32))
	if err := os.Chmod(open, 0o644); err != nil {
		t.Fatal(err)
	}
	oidc := []string{"--auth", "oidc", "--oidc-issuer", "https://id.example", "--oidc-audience", "a", "--public-url", "https://p.example", "--ui-oidc-client", "c"}
	for name, c := range map[string]struct {
		flags []string
		says  []string
	}{
		"short key":    {[]string{"--ui-key-file", short}, []string{"--ui-key-file: " + short + " has 5 bytes and needs 32", "head -c 32 /dev/urandom >" + short}},
		"no key":       {[]string{"--ui-key-file", short + "none"}, []string{"--ui-key-file", short + "none", "head -c 32"}},
		"open key":     {[]string{"--ui-key-file", open}, []string{"--ui-key-file", open, "chmod"}},
		"no OIDC":      {[]string{"--ui-oidc-client", "purser"}, []string{"--ui-oidc-client requires --auth=oidc"}},
		"no client":    {[]string{"--ui-oidc-secret-file", short}, []string{"--ui-oidc-secret-file requires --ui-oidc-client"}},
		"no secret":    {append(oidc, "--ui-oidc-secret-file", short+"none"), []string{"--ui-oidc-secret-file", short + "none"}},
		"empty secret": {append(oidc, "--ui-oidc-secret-file", empty), []string{"--ui-oidc-secret-file", "is empty"}},
	} {
		out := refusesToStart(t, c.flags...)
		for _, part := range c.says {
			if !strings.Contains(out, part) || strings.Contains(out, "panic") || strings.Contains(out, "connecting to its database") {
				t.Errorf("%s: it does not say %q:\n%s", name, part, out)
			}
		}
	}
}
