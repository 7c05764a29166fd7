package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFindServer(t *testing.T) {
	const two = "servers:\n  lab: {url: 'https://lab', token-file: t, ca: /ca, key: ~/k}\n  live: {url: 'https://live'}\n"
	home := t.TempDir()
	t.Setenv("HOME", home)
	for _, c := range []struct {
		file, name string
		want       serverEntry
		err        string // part of it
	}{
		{two, "lab", serverEntry{URL: "https://lab", TokenFile: home + "/purser/t", CA: "/ca", Key: home + "/k"}, ""},
		{two, "live", serverEntry{URL: "https://live"}, ""},
		{"current: live\n" + two, "", serverEntry{URL: "https://live"}, ""},
		{two, "", serverEntry{}, "has lab, live; give --server NAME, or choose one by purser config use NAME"},
		{two, "http://other", serverEntry{URL: "http://other"}, ""},
		{two, "labb", serverEntry{}, `did you mean "lab"?`},
		{two, "unlike", serverEntry{}, "it has lab, live"},
		{"servers: {one: {url: 'https://one'}}\n", "", serverEntry{URL: "https://one"}, ""},
		{"", "", serverEntry{}, "no server is named: give --server URL, set PURSER_SERVER, or store a server by purser login URL"},
		{"", "lab", serverEntry{}, "which has none"},
		{"servers: {lab: {url: 'https://lab', token-file:}}\n", "lab", serverEntry{}, "servers.lab.token-file has no value"},
		{"severs: {}\n", "lab", serverEntry{}, `unknown option "severs"`},
	} {
		path := filepath.Join(home, "purser", "config.yaml")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(c.file), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv("XDG_CONFIG_HOME", home)
		got, err := findServer(t.Context(), c.name)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q in %q (-want +got):\n%s", c.name, c.file, diff)
		}
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%q in %q: error %v, want %q", c.name, c.file, err, c.err)
		}
	}
}

// A missing file is the same as an empty one.
func TestFind_noFile(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	if got, err := findServer(t.Context(), "https://x"); err != nil || got.URL != "https://x" {
		t.Errorf("%+v, error %v", got, err)
	}
}

// The error for a missing token says where the server's token is, or how to store one, so that the next command works.
func TestLoginHint(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	f := accepting(t, "s3cret")
	for _, c := range []struct{ config, args, want string }{
		{"", "--server SITE", "store a token by purser login SITE"},
		{"servers: {lab: {url: SITE/}}\n", "--server SITE", "A URL alone sends no stored token or certificate: use --server lab, PURSER_TOKEN or --token-file"},
		{"servers: {lab: {url: SITE}}\n", "--server lab", "store a token by purser login lab"},
		{"servers: {lab: {url: SITE}}\n", "", "store a token by purser login SITE"},
	} {
		inConfig(t, strings.ReplaceAll(c.config, "SITE", f.URL))
		for command, code := range map[string]int{"whoami ": exitFailed, "token ": exitFailed} {
			_, stderr, got := purser(t, strings.Fields(strings.ReplaceAll(command+c.args, "SITE", f.URL))...)
			if want := strings.ReplaceAll(c.want, "SITE", f.URL) + "\n"; !strings.HasSuffix(stderr, want) || got != code {
				t.Errorf("%s%s: exit code %d, %q, want %q", command, c.args, got, stderr, want)
			}
		}
	}
}

// A variable that makes the next commands use another server or token is named.
func TestLogin_warns(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	f := accepting(t, "s3cret")
	inConfig(t, "servers: {lab: {url: '"+f.URL+"'}}\n")
	t.Setenv("PURSER_SERVER", f.URL)
	if _, stderr, code := withInput(t, "s3cret\n", "login"); code != 0 || !strings.Contains(stderr, "set it to lab\n") {
		t.Errorf("exit code %d, %q", code, stderr)
	}
	t.Setenv("PURSER_SERVER", "lab")
	if _, stderr, code := withInput(t, "s3cret\n", "login"); code != 0 || stderr != "" {
		t.Errorf("exit code %d, %q", code, stderr)
	}
}
