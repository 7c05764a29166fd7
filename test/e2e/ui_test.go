package e2e_test

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// browse sends a request as a browser does and returns the status and text of the page.
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

// The pages are served beside the API. A session survives another server with the same key, and no other.
func TestUI(t *testing.T) {
	t.Parallel()
	key, other := filepath.Join(t.TempDir(), "ui.key"), filepath.Join(t.TempDir(), "other.key")
	for path, text := range map[string]string{key: strings.Repeat("k", 32), other: strings.Repeat("o", 32)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	k := newKeys(t, "admin")
	jar, err := cookiejar.New(nil) // knows hosts without ports
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

func TestUI_off(t *testing.T) {
	t.Parallel()
	s := start(t, "--no-ui")
	if status, text := browse(t, http.DefaultClient, http.MethodGet, s.url+"/ui/", nil); status != http.StatusNotFound || strings.Contains(text, "<html") {
		t.Errorf("status %d\n%s", status, text)
	}
	if _, text := browse(t, http.DefaultClient, http.MethodGet, s.url+"/", nil); strings.Contains(text, "/ui/") {
		t.Errorf("the front page has a link:\n%s", text)
	}
}

func TestUI_flags(t *testing.T) {
	t.Parallel()
	short := filepath.Join(t.TempDir(), "short.key")
	if err := os.WriteFile(short, []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, flags := range map[string][]string{
		"short key": {"--ui-key-file", short}, "no key": {"--ui-key-file", short + "none"},
		"issuer": {"--ui-oidc-client", "purser"},
	} {
		if out := refusesToStart(t, flags...); strings.Contains(out, "panic") {
			t.Errorf("%s: %s", name, out)
		}
	}
}
