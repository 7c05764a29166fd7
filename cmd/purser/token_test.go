package main

import (
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// expiredAt returns a credential that has expired, of an issuer, in a file.
func expiredAt(t *testing.T, file, issuer string) credential {
	t.Helper()
	old := time.Now().Add(-time.Hour).UTC().Truncate(time.Second)
	held := credential{Token: jwt("access", old), Kind: accessToken, Expires: old, Refresh: "r1", Issuer: issuer, ClientID: "cli", file: file}
	text, err := held.text()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return held
}

// whileRenewing renews a credential, and calls a function while its issuer has the refresh token and has not answered.
func whileRenewing(t *testing.T, file string, act func()) error {
	t.Helper()
	s := newStandIn("")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/token" {
			act()
		}
		s.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	s.url = server.URL
	s.answers["/token"] = []string{tokensOf("", jwt("access", time.Now().Add(time.Hour)), "r2")}
	_, err := expiredAt(t, file, s.url).renewed(t.Context(), "")
	return err
}

// The process does not end while a token is renewed, and no renewal begins when it ends.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "lab.token")
	err := whileRenewing(t, file, func() {
		if renewals.TryLock() {
			t.Error("the process may end during a renewal")
			renewals.Unlock()
		}
	})
	if got := storedIn(t, file).Refresh; got != "r2" || err != nil {
		t.Errorf("stored %s, error %v", got, err)
	}
	synctest.Test(t, func(t *testing.T) {
		for args, want := range map[string]int{"whoami": exitFailed, "push b --dry-run --detailed-exit-code": exitNo} {
			interrupt(strings.Fields(args), func(code int) {
				if renewals.TryLock() || code != want {
					t.Errorf("%s: exit code %d, or a renewal may begin", args, code)
				}
			})
		}
	})
}

// A file in which there is no token is refused, whatever else it holds.
func TestCredentialOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"s3cret\n": "s3cret", `{"token": "s3cret", "kind": "id_token"}`: "s3cret", "\n {\"token\": \"s3cret\"}\n": "s3cret",
		"": "", "\n": "", "a\nb": "", "{}": "", `{"access_token": "x", "kind": "y"}`: "", `{"token": " "}`: "", `{"token": "a\nb"}`: "",
	} {
		file := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		held, err := credentialOf(file)
		if held.Token != want || (err == nil) != (want != "") || err != nil && !strings.HasPrefix(err.Error(), file+": ") {
			t.Errorf("%q: token %q, error %v, want %q", text, held.Token, err, want)
		}
	}
}

// A logout during a renewal leaves no token: it deletes what the renewal has written.
func TestLogout_renewal(t *testing.T) {
	t.Parallel()
	config := configuration{path: filepath.Join(t.TempDir(), "config.yaml")}
	config.Servers = map[string]serverEntry{"lab": {TokenFile: "lab.token"}}
	file := config.loginFile("lab")
	var removed error
	done := make(chan struct{})
	err := whileRenewing(t, file, func() {
		go func() {
			_, removed = config.removeLogin("lab")
			close(done)
		}()
		select {
		case <-done: // before the renewal has written the file
		case <-time.After(100 * time.Millisecond):
		}
	})
	<-done
	if err := errors.Join(err, removed); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the token is left: error %v", err)
	}
}
