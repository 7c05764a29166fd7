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
	_, err := expiredAt(t, file, s.url).renewed(t.Context(), "", nil)
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
			interrupt(strings.Fields(args), nil, func(code int) {
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

// A renewal is repeated while the issuer is unavailable or cannot be reached, and then the command does its work.
func TestCredential_renewedAgain(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	s := newWithIssuer(t)
	path := inConfig(t, "servers:\n  lab: {url: '"+s.URL+"', token-file: lab.token}\n")
	file := filepath.Join(filepath.Dir(path), "lab.token")
	s.accepted = jwt("access", time.Now().Add(time.Hour))
	const discovery = "/.well-known/openid-configuration"
	good := s.answers[discovery][0]
	for at, answers := range map[string][]string{
		"/token": {"503 busy", tokensOf("", s.accepted, "r2")}, discovery: {"502 <html>", good},
	} {
		expiredAt(t, file, s.URL)
		s.answers["/token"] = []string{tokensOf("", s.accepted, "r2")}
		s.answers[at] = answers
		stdout, stderr, code := purser(t, "whoami", "-o", "name")
		if stdout != "7\n" || code != 0 || strings.Count(stderr, "; trying again in ") != 1 {
			t.Errorf("%s: exit code %d, %q, %q", at, code, stdout, stderr)
		}
	}
}

// Only failures that may pass are repeated.
func TestRenewedByIssuer_passing(t *testing.T) {
	t.Parallel()
	const again = "\nLog in again: purser login"
	for answer, want := range map[string]struct {
		text   string
		passes bool
	}{
		"503 busy":                       {"renew the token: 503 Service Unavailable", true},
		`400 {"error": "invalid_grant"}`: {"renew the token: invalid_grant" + again, false},
		"404 <html>":                     {"renew the token: 404 Not Found" + again, false},
		"broken":                         {"EOF", true},
	} {
		s := newStandIn("")
		s.answers["/token"] = []string{answer}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if answer == "broken" && r.URL.Path == "/token" {
				panic(http.ErrAbortHandler)
			}
			s.ServeHTTP(w, r)
		}))
		s.url = server.URL
		_, err := renewedByIssuer(t.Context(), credential{Refresh: "r1", Issuer: s.url, ClientID: "cli"}, "")
		server.Close()
		if _, passes := errors.AsType[passing](err); passes != want.passes || !strings.HasSuffix(err.Error(), want.text) {
			t.Errorf("%s: passing %t, error %v", answer, passes, err)
		}
		if _, err := issuerNamed(t.Context(), s.url, "cli", ""); err == nil {
			t.Error("a stopped issuer answers")
		} else if _, passes := errors.AsType[passing](err); !passes {
			t.Errorf("a stopped issuer: error %v", err)
		}
	}
}
