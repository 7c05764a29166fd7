package main

import (
	"bytes"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
)

const commented = `# my servers
current: lab # for now
servers:
  # in the cellar
  lab:
    url: https://lab # the old one
    ca: ca.pem
  live: {url: 'https://live', token-command: [pass, show]}
`

// inConfig writes the configuration file of a test, which has set XDG_CONFIG_HOME, and returns its path. No text is no
// file.
func inConfig(t *testing.T, text string) string {
	t.Helper()
	path := configPath()
	if err := os.RemoveAll(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	if text == "" {
		return path
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func textOf(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The commands change what they are about in the configuration file, and keep its comments and all else.
func TestConfig(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	for _, c := range []struct{ before, args, stdout, after string }{
		{
			commented, "use live", "Commands without --server now use live, https://live\n",
			strings.Replace(commented, "current: lab", "current: live", 1),
		},
		{
			commented, "use live --site atl1", "Commands without --server now use live, https://live, site atl1\n",
			strings.Replace(strings.Replace(commented, "current: lab", "current: live", 1), "pass, show]}", "pass, show], site: atl1}", 1),
		},
		{
			"servers: {lab: {url: 'https://lab', site: atl1}}\n", "use lab", "Commands without --server now use lab, https://lab, site atl1\n",
			"servers: {lab: {url: 'https://lab', site: atl1}}\ncurrent: lab\n",
		},
		{
			commented, "add new https://new --site atl1", "Added new to FILE; commands use it with --server new\n",
			commented + "  new:\n    url: https://new\n    site: atl1\n",
		},
		{
			commented, "remove lab", "Removed lab from FILE\n",
			"# my servers\nservers:\n  live: {url: 'https://live', token-command: [pass, show]}\n",
		},
		{
			commented, "add new https://new --ca /ca", "Added new to FILE; commands use it with --server new\n",
			commented + "  new:\n    url: https://new\n    ca: /ca\n",
		},
		{
			"", "add new https://new", "Added new to FILE; commands use it with --server new, and without --server\n",
			"current: new\nservers:\n  new:\n    url: https://new\n",
		},
		{
			"servers: {lab: {url: 'https://lab'}}\n", "add 10 https://ten --use", "Added 10 to FILE; commands use it with --server 10, and without --server\n",
			"servers: {lab: {url: 'https://lab'}, \"10\": {url: 'https://ten'}}\ncurrent: \"10\"\n",
		},
		{"# none yet\n", "add a http://a", "Added a to FILE; commands use it with --server a, and without --server\n", "# none yet\ncurrent: a\nservers:\n  a:\n    url: http://a\n"},
		{"servers: {lab: {url: 'https://lab'}}\n", "remove lab -o json", `{"name":"lab","url":"https://lab"}` + "\n", ""},
		{commented, "list", "CURRENT  NAME  URL           SITE  TOKEN\n*        lab   https://lab   -     -\n-        live  https://live  -     command pass\n", commented},
		{commented, "list -o name", "lab\nlive\n", commented},
	} {
		path := inConfig(t, c.before)
		stdout, stderr, code := purser(t, append([]string{"config"}, strings.Fields(c.args)...)...)
		if diff := cmp.Diff(c.stdout, strings.ReplaceAll(stdout, path, "FILE")); diff != "" || stderr != "" || code != 0 {
			t.Errorf("config %s: exit code %d, %s (-want +got)\n%s", c.args, code, stderr, diff)
		}
		if diff := cmp.Diff(c.after, textOf(t, path)); diff != "" {
			t.Errorf("config %s (-want +got)\n%s", c.args, diff)
		}
		if strings.HasPrefix(c.args, "list") || c.after == "" {
			continue
		}
		if _, err := readConfiguration(t.Context(), path); err != nil {
			t.Errorf("config %s: %v", c.args, err)
		}
	}
}

// What cannot be changed is refused, and the file stays as it is.
func TestConfig_refuses(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	for _, c := range []struct{ before, args, want string }{
		{commented, "use lap", `did you mean "lab"?`},
		{commented, "remove nowhere", "it has lab, live"},
		{commented, "add lab https://other", "has a server named lab, https://lab: take another name, or first purser config remove lab"},
		{commented, "add a/b https://other", "cannot be the name of a server"},
		{commented, "use lab --site ATL1", "did you mean atl1?"},
		{commented, "use lab --site -", "stands for all sites"},
		{commented, "add new https://other --site a_", "up to 63 lower-case letters"},
		{commented, "add new other", "the server must be a URL"},
		{"servers: &a {}\nsevers: *a\n", "add new https://new", "unknown option"},
		{"[1]\n", "add new https://new", "FILE"},
	} {
		path := inConfig(t, c.before)
		stdout, stderr, code := purser(t, append([]string{"config"}, strings.Fields(c.args)...)...)
		if stdout != "" || !strings.Contains(strings.ReplaceAll(stderr, path, "FILE"), c.want) || code != exitFailed {
			t.Errorf("%q: config %s: exit code %d, %q, want %q", c.before, c.args, code, stderr, c.want)
		}
		if got := textOf(t, path); got != c.before {
			t.Errorf("%q: config %s wrote\n%s", c.before, c.args, got)
		}
	}
}

// A symbolic link to the file stays one, the mode of the file too, and a new file is private.
func TestChangeConfiguration_file(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	path := inConfig(t, commented)
	target := filepath.Join(t.TempDir(), "dotfile")
	if err := os.Rename(path, target); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
	use := func(top *yaml.Node) error { setText(top, "current", "live"); return nil }
	if err := changeConfiguration(t.Context(), path, use); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode()&fs.ModeSymlink == 0 || !strings.Contains(textOf(t, target), "current: live") {
		t.Errorf("%v, %v", info, err)
	}
	wantMode(t, target, 0o644)
	path = inConfig(t, "")
	if err := changeConfiguration(t.Context(), path, use); err != nil {
		t.Fatal(err)
	}
	wantMode(t, path, 0o600)
}

func wantMode(t *testing.T, path string, want fs.FileMode) {
	t.Helper()
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
		t.Errorf("%s: %v, %v, want mode %o", path, info.Mode(), err, want)
	}
}

// accepting is a server that accepts one token; an empty one is for everybody.
func accepting(t *testing.T, token string) *fake {
	t.Helper()
	return newFake(t, func(w http.ResponseWriter, r *http.Request) {
		if token != "" && r.Header.Get("Authorization") != "Bearer "+token {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte(`{"kind":"Status","message":"who?","details":{"errorType":"Unauthorized"}}`))
			return
		}
		_, _ = w.Write([]byte(`{"user":{"id":"7","name":"anna"},"roles":["reader"],"rules":[]}`))
	})
}

// withInput runs the program with a standard input.
func withInput(t *testing.T, stdin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, said bytes.Buffer
	code = run(t.Context(), args, surroundings{stdin: strings.NewReader(stdin), stdout: &out, stderr: &said})
	return out.String(), said.String(), code
}

// A token that the server accepts is stored for the user only, and used by the next command, until it is deleted.
func TestLogin(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	f := accepting(t, "s3cret")
	host := strings.TrimPrefix(f.URL, "http://")
	for name, c := range map[string]struct{ before, server, as, after string }{
		"new":    {"", f.URL, host, "current: " + host + "\nservers:\n  " + host + ":\n    url: URL\n    token-file: FILE\n"},
		"by URL": {"servers:\n  lab:\n    url: URL/ # here\n", f.URL, "lab", "servers:\n  lab:\n    url: URL/ # here\n    token-file: FILE\n"},
		"by name": {
			"servers:\n  lab:\n    url: URL\n    token-file: old # mine\n    # no ca\n", "lab", "lab",
			"servers:\n  lab:\n    url: URL\n    token-file: FILE # mine\n    # no ca\n",
		},
		"current": {"servers:\n  lab:\n    url: URL\n", "", "lab", "servers:\n  lab:\n    url: URL\n    token-file: FILE\n"},
	} {
		path := inConfig(t, strings.ReplaceAll(c.before, "URL", f.URL))
		stored := configuration{path: path}.loginFile(c.as)
		stdout, stderr, code := withInput(t, "s3cret\n", slicesOf("login", c.server)...)
		if want := "Logged in to " + c.as + " as anna; the token is in " + stored + "\nCommands send it with --server " + c.as +
			", and without --server\n"; stdout != want || stderr != "" || code != 0 {
			t.Fatalf("%s: exit code %d, %q, %q, want %q", name, code, stdout, stderr, want)
		}
		if got := textOf(t, stored); got != "s3cret\n" {
			t.Errorf("%s: stored %q", name, got)
		}
		wantMode(t, stored, 0o600)
		want := strings.NewReplacer("URL", f.URL, "FILE", filepath.Base(stored)).Replace(c.after)
		if diff := cmp.Diff(want, textOf(t, path)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
		if stdout, _, code := purser(t, "whoami", "-o", "name"); stdout != "7\n" || code != 0 {
			t.Errorf("%s: whoami: exit code %d, %q", name, code, stdout)
		}
		stdout, stderr, code = purser(t, slicesOf("logout", c.server)...)
		if stdout != "Deleted the token of "+c.as+"\n" || stderr != "" || code != 0 {
			t.Errorf("%s: logout: exit code %d, %q, %q", name, code, stdout, stderr)
		}
		if _, err := os.Stat(stored); err == nil || strings.Contains(textOf(t, path), "token-file") {
			t.Errorf("%s: after logout, the token is in %s", name, stored)
		}
		if stdout, _, code = purser(t, slicesOf("logout", c.server)...); stdout != "No token of "+c.as+" is stored\n" || code != 0 {
			t.Errorf("%s: second logout: exit code %d, %q", name, code, stdout)
		}
	}
}

func slicesOf(command, argument string) []string {
	if argument == "" {
		return []string{command}
	}
	return []string{command, argument}
}

// A token that others could read is replaced by one in a file that they cannot.
func TestLogin_mode(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	f := accepting(t, "s3cret")
	path := inConfig(t, "servers:\n  lab: {url: '"+f.URL+"', token-file: lab.token}\n")
	stored := filepath.Join(filepath.Dir(path), "lab.token")
	if err := os.WriteFile(stored, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := withInput(t, "s3cret", "login"); code != 0 {
		t.Fatal(stderr)
	}
	wantMode(t, stored, 0o600)
}

// If the file of servers cannot be changed, the old token stays.
func TestLogin_unchanged(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	f := accepting(t, "s3cret")
	path := inConfig(t, "servers: {a: &a {url: '"+f.URL+"', token-file: lab.token}, lab: *a}\n")
	stored := filepath.Join(filepath.Dir(path), "lab.token")
	if err := os.WriteFile(stored, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"login lab", "config remove a"} {
		_, stderr, code := withInput(t, "s3cret", strings.Fields(args)...)
		if code != exitFailed || textOf(t, stored) != "old" {
			t.Errorf("%s: exit code %d, %s; the token is %q", args, code, stderr, textOf(t, stored))
		}
	}
}

// Nothing is stored of a token that is not accepted, for a server that needs none, or where another program prints it.
func TestLogin_refuses(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	closed, open := accepting(t, "s3cret"), accepting(t, "")
	for _, c := range []struct {
		config, stdin, args, want string
		code                      int
	}{
		{"", "wrong\n", closed.URL, "does not accept this token", exitFailed},
		{"", "", closed.URL, "there is no token in the standard input", exitFailed},
		{"", "two words\n", closed.URL, "holds white space", exitFailed},
		{"", "", open.URL, "needs no token, and none was stored: without one, you are anna", 0},
		{"", "", "lab", "which has none", exitFailed},
		{"", "", "", "no server is named", exitFailed},
		{"servers: {lab: {url: 'http://x', token-command: [pass]}}\n", "", "lab", "remove token-command from ", exitFailed},
	} {
		path := inConfig(t, c.config)
		stdout, stderr, code := withInput(t, c.stdin, slicesOf("login", c.args)...)
		if !strings.Contains(stdout+stderr, c.want) || code != c.code || strings.Contains(stdout+stderr, "wrong\n") {
			t.Errorf("login %s: exit code %d, %q, %q, want %q", c.args, code, stdout, stderr, c.want)
		}
		if found, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*.token")); len(found) > 0 {
			t.Errorf("login %s wrote %q", c.args, found)
		}
	}
}

// A server that needs no token is stored without one, also if one is piped in, and commands then use it.
func TestLogin_open(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	open := accepting(t, "")
	name := strings.TrimPrefix(open.URL, "http://")
	with := "Commands use it with --server " + name
	path := inConfig(t, "")
	for _, c := range []struct{ config, server, want string }{
		{"", open.URL, "Added " + name + " to " + path + "\n" + with + ", and without --server\n"},
		{"servers: {lab: {url: 'http://x'}, mop: {url: 'http://y'}}\n", open.URL, "Added " + name + " to " + path + "\n" + with + "\n"},
		{"servers: {lab: {url: '" + open.URL + "'}}\n", "lab", "Commands use it with --server lab, and without --server\n"},
	} {
		inConfig(t, c.config)
		stdout, stderr, code := withInput(t, "wrong\n", "login", c.server)
		want := open.URL + " needs no token, and none was stored: without one, you are anna\n" + c.want
		if stdout != want || stderr != "" || code != 0 {
			t.Errorf("exit code %d, %q, %q, want %q", code, stdout, stderr, want)
		}
		args := []string{"whoami"}
		if !strings.HasSuffix(want, "without --server\n") {
			args = append(args, "--server", name)
		}
		if _, stderr, code := purser(t, args...); code != 0 || strings.Contains(textOf(t, path), "token") {
			t.Errorf("%q: exit code %d, %s\n%s", args, code, stderr, textOf(t, path))
		}
	}
}

// A token that the user keeps elsewhere is not deleted by logout; removing a server deletes a stored one.
func TestLogout_others(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	f := accepting(t, "s3cret")
	path := inConfig(t, "servers: {lab: {url: '"+f.URL+"', token-file: mine}}\n")
	mine := filepath.Join(filepath.Dir(path), "mine")
	if err := os.WriteFile(mine, []byte("s3cret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := purser(t, "logout"); code != exitFailed || !strings.Contains(stderr, mine+", which purser login did not write") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
	if _, stderr, code := withInput(t, "s3cret", "login"); code != 0 {
		t.Fatal(stderr)
	}
	stdout, stderr, code := purser(t, "config", "remove", "lab")
	if want := "Removed lab from " + path + ", and deleted its token\n"; stdout != want || code != 0 {
		t.Errorf("exit code %d, %q, %s", code, stdout, stderr)
	}
	if found, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*.token")); len(found) > 0 || textOf(t, mine) != "s3cret" {
		t.Errorf("left %q", found)
	}
}
