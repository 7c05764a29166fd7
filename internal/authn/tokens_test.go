package authn

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"purser/internal/document"
	"purser/internal/files"
)

// hash is 64 hexadecimal digits that YAML does not read as a number.
const hash = "aa11aa11aa11aa11aa11aa11aa11aa11aa11aa11aa11aa11aa11aa11aa11aa11"

func tokenPath(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "tokens.yaml")
}

// added adds a new token of a user to a file and returns it.
func added(t *testing.T, path, user string, expires time.Time) string {
	t.Helper()
	token, entry := NewToken(user, "site", []string{"admin", "viewer"}, epoch, expires)
	if err := AppendToken(path, entry); err != nil {
		t.Fatal(err)
	}
	return token
}

func opened(t *testing.T, path string, c *clock, j *journal) *Tokens {
	t.Helper()
	tokens, err := OpenTokens(path, c.now, j.log())
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

func TestTokens_Authenticate(t *testing.T) {
	t.Parallel()
	path, c, j := tokenPath(t), newClock(), new(journal)
	alice := added(t, path, "alice", time.Time{})
	bob := added(t, path, "bob", epoch.Add(time.Hour))
	stranger, _ := NewToken("eve", "", nil, epoch, time.Time{})
	tokens := opened(t, path, c, j)

	want := Caller{UserID: "alice", UserName: "alice", ProjectID: "site", Roles: []string{"admin", "viewer"}}
	for range 2 { // a caller may modify the roles it receives
		got, err := tokens.Authenticate(t.Context(), alice)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Fatal(err, diff)
		}
		got.Roles[0] = "changed"
	}
	if _, err := tokens.Authenticate(t.Context(), bob); err != nil {
		t.Error(err)
	}
	for token, reason := range map[string]string{
		"":                         "no token",
		stranger:                   "unknown",
		alice[:len(alice)-1]:       "not a token that Purser issued",
		"prs-" + alice[4:]:         "not a token that Purser issued",
		alice + " ":                "characters",
		strings.Repeat("a", 1<<20): "16 KiB",
	} {
		_, err := tokens.Authenticate(t.Context(), token)
		wantRejected(t, err, reason, token)
	}
	c.advance(time.Hour)
	_, err := tokens.Authenticate(t.Context(), bob)
	wantRejected(t, err, "has expired", bob)
	for _, token := range []string{alice, bob, stranger} {
		wantNothingOf(t, token, j.String())
	}
}

func TestTokens_Authenticate_readsChanges(t *testing.T) {
	t.Parallel()
	path, c, j := tokenPath(t), newClock(), new(journal)
	alice := added(t, path, "alice", time.Time{})
	good, _ := os.ReadFile(path)
	tokens := opened(t, path, c, j)
	accepted := func(token string) bool {
		_, err := tokens.Authenticate(t.Context(), token)
		return err == nil
	}
	bob := added(t, path, "bob", time.Time{})
	if accepted(bob) {
		t.Error("the file is looked at more than once a second")
	}
	c.advance(files.Interval)
	if !accepted(bob) || !accepted(alice) {
		t.Error("a token that was added does not count after a second")
	}

	for _, broken := range []func() error{
		func() error { return os.WriteFile(path, []byte("- id: [\n"), 0o600) },
		func() error { return os.WriteFile(path, []byte("- id: x\n  expire: never\n"), 0o600) },
		func() error { return os.Chmod(path, 0o640) },
		func() error { return os.Remove(path) },
	} {
		errors := j.complaints()
		if err := broken(); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			c.advance(files.Interval)
			if !accepted(alice) || !accepted(bob) {
				t.Error("a file that cannot be used took its tokens away")
			}
		}
		if got := j.complaints() - errors; got != 1 {
			t.Errorf("%d complaints, want 1: %s", got, j)
		}
	}

	if err := os.WriteFile(path, good, 0o600); err != nil {
		t.Fatal(err)
	}
	c.advance(files.Interval)
	if !accepted(alice) || accepted(bob) {
		t.Error("a revoked token counts, or another does not")
	}
	if text := j.String(); !strings.HasSuffix(text, "tokens=1\n") || !strings.Contains(text, "reloaded") {
		t.Error("nothing says that the file is fine again:", j)
	}
}

// A file that becomes unusable, is restored and becomes unusable again is reported each time.
func TestTokens_Authenticate_complainsAgain(t *testing.T) {
	t.Parallel()
	path, c, j := tokenPath(t), newClock(), new(journal)
	alice := added(t, path, "alice", time.Time{})
	tokens := opened(t, path, c, j)
	for _, mode := range []fs.FileMode{0o644, 0o600, 0o644} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		c.advance(files.Interval)
		if _, err := tokens.Authenticate(t.Context(), alice); err != nil {
			t.Error(err)
		}
	}
	if got := j.complaints(); got != 2 {
		t.Errorf("%d complaints, want 2: %s", got, j)
	}
}

func TestTokens_Authenticate_whileItChanges(t *testing.T) {
	t.Parallel()
	path, c := tokenPath(t), newClock()
	alice := added(t, path, "alice", time.Time{})
	tokens := opened(t, path, c, new(journal))
	var running sync.WaitGroup
	for range 4 {
		running.Go(func() {
			for range 200 {
				c.advance(files.Interval / 10)
				if _, err := tokens.Authenticate(context.Background(), alice); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range 5 {
		added(t, path, fmt.Sprint("user-", i), time.Time{})
	}
	running.Wait()
}

func TestOpenTokens_refuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		make func(path string) error
		want string
	}{
		"missing":    {func(string) error { return nil }, "no such file"},
		"directory":  {func(p string) error { return os.Mkdir(p, 0o700) }, "not a regular file"},
		"named pipe": {func(p string) error { return syscall.Mkfifo(p, 0o600) }, "not a regular file"},
		"group":      {func(p string) error { return os.WriteFile(p, nil, 0o640) }, "chmod 600"},
		"others":     {func(p string) error { return os.WriteFile(p, nil, 0o604) }, "chmod 600"},
		"too large":  {func(p string) error { return os.WriteFile(p, make([]byte, maxTokenFile+1), 0o600) }, "more than"},
		"broken":     {func(p string) error { return os.WriteFile(p, []byte("a: b"), 0o600) }, "a list of tokens"},
		"malformed":  {func(p string) error { return os.WriteFile(p, []byte("- [\n"), 0o600) }, "tokens.yaml: line 1, column 3: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := tokenPath(t)
			if err := c.make(path); err != nil {
				t.Fatal(err)
			}
			_, err := OpenTokens(path, time.Now, new(journal).log())
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestParseTokens(t *testing.T) {
	t.Parallel()
	const entry = "- id: a\n  user: u\n  roles: [r]\n  created: 2026-01-31T12:00:00Z\n  sha256: " + hash + "\n"
	for name, c := range map[string]struct{ text, want string }{
		"empty":        {"", ""},
		"comment":      {"# none yet\n", ""},
		"empty list":   {"[]", ""},
		"one":          {entry, ""},
		"JSON":         {`[{"id":"a","user":"u","roles":[],"created":"2026-01-31T12:00:00+02:00","sha256":"` + hash + `"}]`, ""},
		"mapping":      {"tokens: []", "a list"},
		"text":         {"- prs_x", "token 1: expected a mapping"},
		"no user":      {strings.Replace(entry, "user: u", "project: p", 1), "not name a user"},
		"no hash":      {strings.Replace(entry, "  sha256: "+hash, "", 1), "are required"},
		"number":       {strings.Replace(entry, "user: u", "user: 12", 1), "user: expected a string"},
		"one role":     {strings.Replace(entry, "[r]", "r", 1), "roles: expected a list"},
		"role":         {strings.Replace(entry, "[r]", "[{}]", 1), "roles: expected a string"},
		"date":         {strings.Replace(entry, "2026-01-31T12:00:00Z", "soon", 1), "created: expected a time"},
		"short hash":   {strings.Replace(entry, hash, hash[2:], 1), "64 hex"},
		"long hash":    {strings.Replace(entry, hash, hash+"aa", 1), "64 hex"},
		"odd hash":     {strings.Replace(entry, hash, hash+"a", 1), "64 hex"},
		"no hex":       {strings.Replace(entry, hash, "x"+hash[1:], 1), "64 hex"},
		"misspelt":     {entry + "  expire: 2026-01-31T12:00:00Z\n", "unknown key"},
		"control":      {strings.Replace(entry, "user: u", `user: "u\n"`, 1), "unprintable"},
		"twice":        {entry + entry, "token 2: its id or sha256"},
		"two in one":   {entry + "---\n" + entry, "one document"},
		"alias of one": {"- &a {id: a, user: u, created: 2026-01-31T12:00:00Z, sha256: " + hash + "}\n- *a", "token 2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := parseTokens([]byte(c.text))
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestAppendToken(t *testing.T) {
	t.Parallel()
	_, entry := NewToken("alice", "site", []string{"admin", "1e3", "no"}, epoch, epoch.AddDate(1, 0, 0))
	for name, old := range map[string]string{
		"empty":        "",
		"no line end":  "# mine",
		"another":      "# mine\n- {id: a, user: u, created: 2026-01-31T12:00:00Z, sha256: " + hash + "} # keep",
		"start marker": "---\n# mine\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := tokenPath(t)
			if err := os.WriteFile(path, []byte(old), 0o600); err != nil {
				t.Fatal(err)
			}
			before, _ := parseTokens([]byte(old))
			if err := AppendToken(path, entry); err != nil {
				t.Fatal(err)
			}
			text, _ := os.ReadFile(path)
			after, err := parseTokens(text)
			want := map[document.Digest]Token{entry.Hash: entry}
			maps.Copy(want, before)
			if diff := cmp.Diff(want, after); diff != "" || err != nil {
				t.Error(err, diff)
			}
			if !strings.HasPrefix(string(text), old) {
				t.Errorf("what stood there was changed: %s", text)
			}
		})
	}
}

func TestAppendToken_file(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, link := filepath.Join(dir, "tokens.yaml"), filepath.Join(dir, "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	added(t, path, "alice", time.Time{})
	added(t, link, "bob", time.Time{})
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o600 {
		t.Error("the file's mode is not 0600:", info.Mode(), err)
	}
	if got, err := os.Readlink(link); got != path || err != nil {
		t.Error("the link was replaced:", got, err)
	}
	text, _ := os.ReadFile(path)
	if tokens, err := parseTokens(text); len(tokens) != 2 || !strings.HasPrefix(string(text), "# ") {
		t.Error("want a comment and two tokens:", err, string(text))
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 2 {
		t.Error("something was left behind:", entries)
	}
}

// When root adds a token to the file of a server that runs as another user, that user can still read it.
func TestAppendToken_keepsOwner(t *testing.T) {
	t.Parallel()
	const owner = 12345
	path := tokenPath(t)
	added(t, path, "alice", time.Time{})
	if err := os.Chown(path, owner, owner); err != nil {
		t.Skip("only root can give a file away:", err)
	}
	added(t, path, "bob", time.Time{})
	info, err := os.Stat(path)
	if stat, ok := info.Sys().(*syscall.Stat_t); err != nil || !ok || stat.Uid != owner || stat.Gid != owner {
		t.Error("the file was taken from its owner:", err)
	}
}

func TestAppendToken_refuses(t *testing.T) {
	t.Parallel()
	_, good := NewToken("alice", "", nil, epoch, time.Time{})
	_, nobody := NewToken("", "", nil, epoch, time.Time{})
	for name, c := range map[string]struct {
		old   string
		mode  fs.FileMode
		entry Token
		want  string
	}{
		"flow style": {"[]\n", 0o600, good, "append a token"},
		"indented":   {"  - {id: a, user: u, created: 2026-01-31T12:00:00Z, sha256: " + hash + "}\n", 0o600, good, "append a token"},
		"broken":     {"a: b\n", 0o600, good, "cannot be read"},
		"readable":   {"", 0o644, good, "chmod 600"},
		"no user":    {"", 0o600, nobody, "user: expected a string that is not empty"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := tokenPath(t)
			if err := os.WriteFile(path, []byte(c.old), c.mode); err != nil {
				t.Fatal(err)
			}
			err := AppendToken(path, c.entry)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
			if text, _ := os.ReadFile(path); string(text) != c.old {
				t.Errorf("the file was changed: %s", text)
			}
		})
	}
}

func TestAppendToken_atTheSameTime(t *testing.T) {
	t.Parallel()
	const writers = 8
	path := tokenPath(t)
	var running sync.WaitGroup
	for i := range writers {
		running.Go(func() { added(t, path, fmt.Sprint("user-", i), time.Time{}) })
	}
	running.Wait()
	text, _ := os.ReadFile(path)
	if tokens, err := parseTokens(text); len(tokens) != writers {
		t.Errorf("%d tokens of %d are left: %v", len(tokens), writers, err)
	}
}

func TestNewToken(t *testing.T) {
	t.Parallel()
	token, entry := NewToken("alice", "", nil, epoch, time.Time{})
	again, other := NewToken("alice", "", nil, epoch, time.Time{})
	if !strings.HasPrefix(token, "prs_") || len(token) != tokenLength || token == again || entry.ID == other.ID {
		t.Error("tokens are not random, or not of their form:", len(token), entry.ID, other.ID)
	}
	if entry.Hash != document.Digest(sha256.Sum256([]byte(token))) {
		t.Error("the hash is not the token's")
	}
}

// Parsing a token file terminates, and its tokens can be written and parsed again.
func FuzzParseTokens(f *testing.F) {
	f.Add([]byte("- id: a\n  user: u\n  roles: [r]\n  created: 2026-01-31T12:00:00Z\n  sha256: " + hash + "\n"))
	f.Add([]byte("- &a {id: a, <<: *a}"))
	f.Add([]byte("[[[["))
	f.Fuzz(func(t *testing.T, text []byte) {
		tokens, err := parseTokens(text)
		if err != nil {
			return
		}
		for _, token := range tokens {
			written, err := withEntry(nil, token)
			if err != nil {
				t.Fatalf("%+v cannot be written: %v", token, err)
			}
			again, err := parseTokens(written)
			if diff := cmp.Diff(map[document.Digest]Token{token.Hash: token}, again); err != nil || diff != "" && token.Created.Nanosecond() == 0 &&
				token.Expires.Nanosecond() == 0 && token.Roles != nil {
				t.Fatal(err, diff)
			}
		}
	})
}

func BenchmarkTokens_Authenticate_wrong(b *testing.B) {
	path := filepath.Join(b.TempDir(), "tokens.yaml")
	_, entry := NewToken("alice", "", nil, epoch, time.Time{})
	if err := AppendToken(path, entry); err != nil {
		b.Fatal(err)
	}
	tokens, err := OpenTokens(path, time.Now, new(journal).log())
	if err != nil {
		b.Fatal(err)
	}
	wrong, _ := NewToken("eve", "", nil, epoch, time.Time{})
	for b.Loop() {
		_, _ = tokens.Authenticate(b.Context(), wrong)
	}
}
