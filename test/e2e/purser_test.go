package e2e_test

import (
	"bytes"
	"context"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/store/storetest"
)

// person is a user of the command purser, with a home directory.
type person struct {
	home  string
	stdin string
	env   []string
	began func(*os.Process) // called with each process; may be nil
}

// at returns a person whose environment names a server.
func at(t *testing.T, s *server, env ...string) *person {
	t.Helper()
	return &person{home: t.TempDir(), env: append([]string{"PURSER_SERVER=" + s.url}, env...)}
}

// said is the result of a run of the command.
type said struct {
	args           []string
	stdout, stderr string
	code           int
}

// run runs the command to its end, with the person's home.
func (p *person) run(t *testing.T, args ...string) said {
	t.Helper()
	path, err := commandLine()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := invoke(ctx, path, args...)
	kept := slices.DeleteFunc(cmd.Env, func(v string) bool {
		return strings.HasPrefix(v, "PURSER_") || strings.HasPrefix(v, "XDG_") || strings.HasPrefix(v, "HOME=")
	})
	cmd.Env, cmd.Dir = append(append(kept, "HOME="+p.home), p.env...), p.home
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if p.stdin != "" { // else it is /dev/null
		cmd.Stdin = strings.NewReader(p.stdin)
	}
	code := 0
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if p.began != nil {
		p.began(cmd.Process)
	}
	if err := cmd.Wait(); err != nil {
		failed, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			t.Fatal(err)
		}
		code = failed.ExitCode()
	}
	return said{args, stdout.String(), stderr.String(), code}
}

// does runs the command, which must succeed, and returns its standard output.
func (p *person) does(t *testing.T, args ...string) string {
	t.Helper()
	return p.run(t, args...).exits(t, 0).stdout
}

// exits checks the exit code, and that the output contains all parts.
func (s said) exits(t *testing.T, code int, parts ...string) said {
	t.Helper()
	if s.code != code {
		t.Fatalf("purser %q: exit code %d, want %d\n%s\n%s", s.args, s.code, code, s.stdout, s.stderr)
	}
	for _, part := range parts {
		if !strings.Contains(s.stdout+s.stderr, part) {
			t.Errorf("purser %q does not say %q:\n%s\n%s", s.args, part, s.stdout, s.stderr)
		}
	}
	return s
}

// writes creates a file below the person's home.
func (p *person) writes(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(p.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, text)
}

// files returns the contents of the files in a folder of the person, by path.
func (p *person) files(t *testing.T, dir string) map[string]string {
	t.Helper()
	texts := map[string]string{}
	err := filepath.WalkDir(filepath.Join(p.home, dir), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(p.home, path)
		texts[filepath.ToSlash(name)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// The configuration file names servers with their certificates and tokens, which are sent to no other server.
func TestPurser_tlsAndTokens(t *testing.T) {
	t.Parallel()
	k, a := newKeys(t, "admin", "onlooker"), newAuthority(t)
	clients := newAuthority(t)
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "clients.pem"), clients.pem)
	s, _, _ := protected(t, a, "--auth", "tokens", "--tokens-file", k.file, "--tls-client-ca", filepath.Join(dir, "clients.pem"))
	p := &person{home: t.TempDir()}
	certificate, key := clients.issue(t, 7, pkix.Name{CommonName: "carla", Organization: []string{"admin"}})
	for name, text := range map[string]string{
		"ca.pem": a.pem, "admin.token": k.of["admin"] + "\n", "cert.pem": certificate, "key.pem": key,
		"config.yaml": fmt.Sprintf(`
current: file
servers:
  file: {url: %[1]q, ca: ca.pem, token-file: admin.token}
  command: {url: %[1]q, ca: ca.pem, token-command: [echo, %[2]q]}
  certificate: {url: %[1]q, ca: ca.pem, cert: cert.pem, key: key.pem}
  untrusted: {url: %[1]q, token-file: admin.token}
  lost: {url: %[1]q, ca: ca.pem, token-file: none.token}
`, s.url, k.of["onlooker"]),
	} {
		p.writes(t, ".config/purser/"+name, text)
	}
	if got := strings.Fields(p.does(t, "whoami")); !slices.Contains(got, "admin") {
		t.Errorf("with the token of the file: %q", got)
	}
	if got := p.does(t, "token"); got != k.of["admin"]+"\n" {
		t.Errorf("the token is %q", got)
	}
	p.run(t, "whoami", "--server", "command").exits(t, 0, "onlooker")
	p.run(t, "whoami", "--server", "certificate").exits(t, 0, "carla")
	p.run(t, "whoami", "--server", "untrusted").exits(t, 2, "certificate")
	p.run(t, "whoami", "--server", "lost").exits(t, 2, "none.token")
	p.run(t, "whoami", "--server", "comand").exits(t, 2, `did you mean "command"?`)
	p.run(t, "whoami", "--server", s.url, "--ca", ".config/purser/ca.pem").exits(t, 2, "none was sent", "PURSER_TOKEN")
	p.run(t, "whoami", "--token", "wrong").exits(t, 2, "unknown, expired")
	p.env = []string{"PURSER_TOKEN=" + k.of["onlooker"]}
	p.run(t, "whoami").exits(t, 0, "onlooker")
	p.run(t, "buckets").exits(t, 2, "deckhand:list_cleartext_documents", "purser whoami")
}

// A revision that was pulled can be pushed again without a change, whatever it contains.
func TestPurser_roundTrip(t *testing.T) {
	t.Parallel()
	g := startGuarded(t)
	p := at(t, g.server, "PURSER_TOKEN="+g.of["admin"])
	odd := strings.Join([]string{
		widget("odd", `{b: 1.0, a: 1e-7, big: 123456789012345678, s: '1', nil: null, t: "x\ty\u0085\u2028\n", l: [], m: {}, 'yes': 'yes'}`),
		widget(`"../../a/b"`, "{}"), widget(`"A"`, "[1]"), widget(`"a"`, "|\n  a\n  text\n\n"), widget("con", "''"),
		widget("'ü ☃'", "2001-01-01"), doc("acme/widget/v1", "other", "1"), "# the end",
	}, "# between\r\n")
	p.writes(t, "in/secret/pw.yaml", "# kept\n"+passphrase("pw", "hunter2"))
	p.writes(t, "in/odd.yaml", odd)
	p.writes(t, "more/x.json", `[{"schema": "acme/Widget/v1", "metadata": {"schema": "metadata/Document/v1", "name": "json", "storagePolicy": "cleartext",
		"layeringDefinition": {"layer": "site"}}, "data": {"z": 1, "a": [1.50, "é"]}}]`)
	p.does(t, "push", "b/u..ck et%2F", "in")
	p.does(t, "push", "more", "more", "-m", "why")
	// The reference stands for the secret, unless it is asked for; the rest of its file stays.
	p.run(t, "pull", "out").exits(t, 0, "Revision 2: 3 files in ", "1 document in canonical form")
	p.run(t, "push", "--changeset", "out").exits(t, 0, "Nothing changed; the newest revision is 2.")
	in := p.files(t, "in")
	if got := p.files(t, "out")["out/b%2Fu..ck%20et%252F/odd.yaml"]; got != in["in/odd.yaml"] || strings.Contains(got, "hunter2") {
		t.Errorf("the file of cleartext documents is\n%s", got)
	}
	p.run(t, "pull", "whole", "--secrets").exits(t, 0, "Revision 2: 3 files in ")
	want := map[string]string{
		"whole/b%2Fu..ck%20et%252F/odd.yaml": odd, "whole/b%2Fu..ck%20et%252F/secret/pw.yaml": in["in/secret/pw.yaml"],
		"whole/more/x.json": p.files(t, "more")["more/x.json"],
	}
	if diff := cmp.Diff(want, p.files(t, "whole")); diff != "" {
		t.Errorf("files (-pushed +pulled):\n%s", diff)
	}
	p.run(t, "push", "--changeset", "whole").exits(t, 0, "Nothing changed; the newest revision is 2.")
	for name := range p.files(t, "whole") {
		info, err := os.Stat(filepath.Join(p.home, name))
		if secret := strings.HasSuffix(name, "pw.yaml"); err != nil || secret != (info.Mode() == 0o600) {
			t.Errorf("%s has the mode %v, error %v", name, info.Mode(), err)
		}
	}

	p.run(t, "pull", "out", "1").exits(t, 2, "is not empty", "--replace")
	others := map[string]string{
		"out/.git/config": "kept", "out/notes.txt": "kept", "out/more/mine.yaml": widget("mine", "{}"), "out/site/values.yaml": "kept: 1\n",
	}
	for name, text := range others {
		p.writes(t, name, text)
	}
	p.run(t, "pull", "out", "1", "--replace").exits(t, 1, "  would delete  more/x.json", "would delete 1 file", "--yes")
	p.does(t, "pull", "out", "1", "--replace", "--yes")
	left := p.files(t, "out")
	for name, text := range others {
		if left[name] != text {
			t.Errorf("%s is %q after a pull, want %q", name, left[name], text)
		}
	}
	if _, found := left["out/more/x.json"]; found || len(left) != 2+len(others) {
		t.Errorf("files after pulling revision 1 over revision 2: %q", slices.Sorted(maps.Keys(left)))
	}

	// A file that has changed since it was pulled is not replaced, nor is anything without the record of a pull.
	p.writes(t, "out/more/mine.yaml", "")
	p.does(t, "pull", "out", "2", "--replace", "--yes")
	p.writes(t, "out/more/x.json", "[]")
	p.run(t, "pull", "out", "1", "--replace", "--yes").exits(t, 0, "kept, because they have changed", "more/x.json")
	p.run(t, "pull", "out", "2", "--replace", "--yes").exits(t, 2, "1 file in the way", "more/x.json", "Nothing was written")
	if text := p.files(t, "out")["out/more/x.json"]; text != "[]" {
		t.Errorf("a changed file is replaced by %q", text)
	}
	if err := os.Remove(filepath.Join(p.home, "out", "more", "x.json")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(p.home, ".cache")); err != nil {
		t.Fatal(err)
	}
	p.does(t, "pull", "out", "2", "--replace") // what is there is the same
	if err := errors.Join(os.RemoveAll(filepath.Join(p.home, ".cache")), os.Remove(filepath.Join(p.home, "out", "more", "x.json"))); err != nil {
		t.Fatal(err)
	}
	p.does(t, "pull", "out", "1", "--replace")

	// A link is never written through.
	p.writes(t, "elsewhere/x.json", "mine")
	if err := os.Symlink("../../elsewhere/x.json", filepath.Join(p.home, "out", "more", "x.json")); err != nil {
		t.Fatal(err)
	}
	p.run(t, "pull", "out", "2", "--replace", "--yes").exits(t, 2, "in the way", "Nothing was written")
	if text := p.files(t, "elsewhere")["elsewhere/x.json"]; text != "mine" {
		t.Errorf("a linked file is replaced by %q", text)
	}
}

// A change is shown before it is made, nothing is deleted by mistake, and findings have their places.
func TestPurser_push(t *testing.T) {
	t.Parallel()
	s := start(t)
	p := at(t, s)
	p.writes(t, "site/layers.yaml", control("deckhand/LayeringPolicy/v1", "layers", "{layerOrder: [global, site]}"))
	p.writes(t, "site/a.yaml", widget("one", "{n: 1}")+widget("two", "{n: 2}"))
	p.writes(t, "site/b.yaml", "# three\n"+widget("three", "{n: 3}"))
	p.writes(t, "schema.yaml", control("deckhand/DataSchema/v1", "acme/Widget/v1", "{properties: {n: {maximum: 9}}}"))
	p.does(t, "push", "schemas", "schema.yaml")
	p.run(t, "push", "site", "site", "-m", "first").exits(t, 0, "Revision 2: added=4, modified=0, deleted=0, unchanged=0")
	p.run(t, "push", "site", "site").exits(t, 0, "Nothing changed; the newest revision is 2.")
	p.run(t, "log").exits(t, 0, "first")

	p.writes(t, "bad/a.yaml", strings.Replace(widget("one", "{}"), "cleartext", "plain", 1))
	p.writes(t, "bad/b.yaml", "# two\n"+strings.Replace(widget("two", "{}"), "metadata/Document/v1", "metadata/Document/v2", 1))
	p.run(t, "push", "bad", "bad").exits(t, 1, "'plain' is not one of", "bad/a.yaml:4:", "version v2 specified", "bad/b.yaml:5:")

	p.writes(t, "site/a.yaml", widget("one", "{n: 11}"))
	p.writes(t, "site/b.yaml", "# three\n"+widget("three", "{n: 3}")+widget("four", "{n: 4}"))
	plan := p.run(t, "push", "site", "site", "--dry-run").exits(t, 1).stdout
	want := `changed  [acme/Widget/v1, site] one (bucket site)
    --- stored
    +++ site/a.yaml
    @@ -1,5 +1,5 @@
     data:
    -  'n': 1
    +  'n': 11
     metadata:
       layeringDefinition:
         abstract: false
deleted  [acme/Widget/v1, site] two (bucket site)
added    [acme/Widget/v1, site] four (bucket site)
Would be revision 3: added=1, modified=1, deleted=1, unchanged=2
site/a.yaml:5:11: error: [acme/Widget/v1, site] one .data.n: 11 is greater than the maximum of 9 (use a number that the schema allows)
warning: There is no ValidationPolicy: only the server's own checks counted
Would begin to fail: 1 document
  [acme/Widget/v1, site] one (bucket site)
Status would be: failure
`
	if diff := cmp.Diff(sortedLines(want), sortedLines(plan)); diff != "" {
		t.Errorf("plan (-want +got):\n%s\n%s", diff, plan)
	}
	p.run(t, "push", "site", "site").exits(t, 1, "  would delete  site  [acme/Widget/v1, site] two\n",
		"this would delete 1 document; add --yes")
	p.run(t, "push", "site", "site", "--yes", "--if-unchanged", "1").exits(t, 1, "--if-unchanged asks for revision 1, but the newest is 2")
	p.run(t, "push", "site", "site", "--max-deleted", "1", "--if-unchanged", "2").exits(t, 0, "Revision 3:", "deleted=1",
		"site/a.yaml:5:11: error: [acme/Widget/v1, site] one .data.n: 11 is greater", "Status: failure; findings: 1")
	p.run(t, "push", "empty", "site/.", "--dry-run").exits(t, 1, "already exists in bucket: site", "document 1 (from site/a.yaml:1)",
		"purser push --changeset")

	p.run(t, "push", "site", "site", "-o", "json").exits(t, 0, `"revision":3`, `"place":"site/a.yaml:5:11"`)

	p.writes(t, "bad.yaml", "a: 1\nb: [\n")
	p.run(t, "push", "x", "site/a.yaml", "bad.yaml").exits(t, 1, "bad.yaml: document 1, line 2")
	p.run(t, "push", "x", "nowhere").exits(t, 2, "nowhere: no such file")
	p.writes(t, "none/README", "")
	p.run(t, "push", "site", "none").exits(t, 2, "there are no documents in none")
	p.stdin = widget("five", "{n: 5}")
	p.run(t, "push", "piped", "-").exits(t, 0, "Revision 4: added=1")
	p.run(t, "push", "piped").exits(t, 2, "name a bucket and the files")

	p.writes(t, "mixed/.purser.yaml", "exclude: [draft.yaml]\n")
	p.writes(t, "mixed/draft.yaml", widget("draft", "{}"))
	p.writes(t, "mixed/values.yaml", "replicas: 2\n")
	p.writes(t, "mixed/a.yaml", strings.Replace(widget("six", "{n: 6}"), "Widget/v1", "Wdget/v1", 1))
	p.run(t, "push", "mixed", "mixed").exits(t, 0, "Revision 5: added=1", "purser: excluded by .purser.yaml: mixed/draft.yaml",
		"purser: skipped, because nothing there has a schema: mixed/values.yaml",
		"mixed/a.yaml:2:9: warning: [acme/Wdget/v1, site] six: No DataSchema is named acme/Wdget/v1 (1 document; did you mean "+
			"acme/Widget/v1?)")
}

// The exit code of a dry run says whether the documents have errors; that of a push, whether they were stored.
func TestPurser_exitCodes(t *testing.T) {
	t.Parallel()
	s := start(t)
	p := at(t, s)
	p.writes(t, "set/schemas/s.yaml", control("deckhand/DataSchema/v1", "acme/Widget/v1", "{properties: {n: {maximum: 9}}}"))
	p.writes(t, "set/layers/l.yaml", control("deckhand/LayeringPolicy/v1", "layers", "{layerOrder: [site]}"))
	p.writes(t, "set/site/w.yaml", widget("one", "{n: 1}"))
	p.run(t, "push", "--changeset", "set", "--dry-run").exits(t, 0, "Status would be: success")
	p.run(t, "push", "--changeset", "set").exits(t, 0, "Revision 1:")
	p.run(t, "push", "--changeset", "set", "--dry-run").exits(t, 0, "Nothing would change.", "Status is: success")

	p.writes(t, "set/site/w.yaml", widget("one", "{n: 10}"))
	p.run(t, "push", "--changeset", "set", "--dry-run").exits(t, 1, "Status would be: failure\n")
	p.run(t, "push", "site", "set/site", "--dry-run").exits(t, 1, "Status would be: failure\n")
	p.run(t, "push", "site", "set/site", "--dry-run", "-o", "json").exits(t, 1, `"status":"failure"`)
	p.run(t, "push", "site", "set/site").exits(t, 0, "Status: failure")
	p.run(t, "push", "site", "set/site").exits(t, 0, "Nothing changed")
	p.run(t, "push", "site", "set/site", "--dry-run").exits(t, 1, "Nothing would change.", "Status is: failure\n")
	p.run(t, "push", "site", "set/site", "--wait", "1m").exits(t, 1, "the status of revision 2 is failure")
	p.run(t, "rollback", "1", "--dry-run").exits(t, 0, "Status would be: success")
	p.does(t, "rollback", "1")
	p.run(t, "rollback", "2", "--dry-run").exits(t, 1, "Status would be: failure\n")
	p.run(t, "diff", "1", "2").exits(t, 0, "-  'n': 1\n+  'n': 10\n")
	p.run(t, "render", "2").exits(t, 2, "[acme/Widget/v1, site] one", ".properties.n.maximum") // a read failed; no change was refused
	p.writes(t, "broken.yaml", "- 1\n")
	p.run(t, "push", "site", "broken.yaml").exits(t, 1)

	// Missing results of other services are not errors.
	p.writes(t, "set/gate/p.yaml", control("deckhand/ValidationPolicy/v1", "gate", "{validations: [{name: deckhand-schema-validation}, {name: site-validation}]}"))
	p.run(t, "push", "gate", "set/gate", "--dry-run").exits(t, 0, "No result has been posted", "Status would be: failure, until results are posted")
	p.run(t, "push", "--changeset", "set", "--dry-run").exits(t, 1, "Status would be: failure\n")
	p.run(t, "push", "gate", "set/gate").exits(t, 0, "Status: failure")
	p.run(t, "push", "gate", "set/gate", "--dry-run").exits(t, 0, "Status is: failure, until results are posted")
	p.does(t, "results", "post", "site-validation", "latest", "--status", "failure")
	p.run(t, "push", "gate", "set/gate", "--dry-run").exits(t, 1, "Status is: failure\n")
}

// A change whose answer is lost is not repeated if others have changed the site since. One that the server did not make
// is repeated.
func TestPurser_lostAnswers(t *testing.T) {
	t.Parallel()
	s := start(t)
	target, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	var puts atomic.Int32
	var do func(w http.ResponseWriter, r *http.Request, forward http.Handler)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		forward := httputil.NewSingleHostReverseProxy(target)
		if r.Method != http.MethodPut || r.URL.Query().Get("dry-run") != "" {
			forward.ServeHTTP(w, r)
			return
		}
		puts.Add(1)
		do(w, r, forward)
	}))
	t.Cleanup(front.Close)
	p := at(t, s)
	p.env = []string{"PURSER_SERVER=" + front.URL}
	p.writes(t, "mine.yaml", widget("one", "{by: me}"))
	overtaken := func(r *http.Request, forward http.Handler) { // the change is made, and another one follows it
		forward.ServeHTTP(httptest.NewRecorder(), r)
		s.put(t, "b", widget("one", "{by: somebody else}"))
	}
	for name, test := range map[string]struct {
		first func(w http.ResponseWriter, r *http.Request, forward http.Handler)
		by    string // whose documents are stored in the end
		code  int
		says  string
	}{
		"cut off": {func(_ http.ResponseWriter, r *http.Request, forward http.Handler) {
			overtaken(r, forward)
			panic(http.ErrAbortHandler)
		}, "somebody else", 2, "Whether the change was made is not known"},
		"slow": {func(_ http.ResponseWriter, r *http.Request, forward http.Handler) {
			overtaken(r, forward)
			<-r.Context().Done()
		}, "somebody else", 2, "Whether the change was made is not known"},
		"a proxy gives up": {func(w http.ResponseWriter, r *http.Request, forward http.Handler) {
			overtaken(r, forward)
			w.WriteHeader(http.StatusGatewayTimeout)
		}, "somebody else", 2, "Whether the change was made is not known"},
		"not stored": {func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			w.Header().Set("Content-Type", typeJSON)
			w.Header().Set("Purser-Stored", "no")
			w.WriteHeader(http.StatusServiceUnavailable)
			io.WriteString(w, `{"kind":"Status","message":"The database has no connection left; nothing was stored, send the request again",
				"details":{"errorType":"HTTPServiceUnavailable"}}`)
		}, "me", 0, "trying again in"},
	} {
		s.purge(t)
		puts.Store(0)
		do = func(w http.ResponseWriter, r *http.Request, forward http.Handler) {
			if puts.Load() == 1 {
				test.first(w, r, forward)
				return
			}
			forward.ServeHTTP(w, r)
		}
		p.run(t, "push", "b", "mine.yaml", "--timeout", "3s").exits(t, test.code, test.says)
		if text := p.does(t, "show"); !strings.Contains(text, "by: "+test.by) {
			t.Errorf("%s: after %d PUTs there is\n%s", name, puts.Load(), text)
		}
	}
}

// sortedLines returns the sorted lines of text, for lists without a fixed order.
func sortedLines(text string) []string { return slices.Sorted(strings.Lines(text)) }

// purser status reports what is lacking, waits for it, and stops when waiting is useless.
func TestPurser_status(t *testing.T) {
	t.Parallel()
	s := start(t)
	p := at(t, s)
	p.writes(t, "policy.yaml", control("deckhand/ValidationPolicy/v1", "gate", "{validations: [{name: checked-validation}]}"))
	p.run(t, "status").exits(t, 2)
	p.does(t, "push", "policies", "policy.yaml")
	p.run(t, "status", "--expect", "success").exits(t, 1, "missing", "checked-validation", "the status of revision 1 is failure")
	p.run(t, "status").exits(t, 0)
	p.run(t, "status", "7", "--expect", "success").exits(t, 2, "revision=7 was not found")

	waited := make(chan said)
	go func() { waited <- p.run(t, "status", "--expect", "success", "--wait", "2m") }()
	p.does(t, "results", "post", "checked-validation", "1", "--status", "success", "--validator", "tester", "--release", "1")
	(<-waited).exits(t, 0, "revision 1: success")

	p.run(t, "results", "post", "checked-validation", "latest", "--status", "failure", "--error", "10.0.0.1 is used twice").exits(t, 0)
	p.run(t, "status", "latest", "--expect", "success", "--wait", "2m").exits(t, 1, "failure")
	p.run(t, "findings").exits(t, 0, "10.0.0.1 is used twice")
	p.run(t, "results", "post", "chekced-validation", "1", "--status", "success").exits(t, 0, `warning: `)
	p.run(t, "results", "post", "checked-validation", "1", "--status", "success", "--stamp", "1111111111111111").exits(t, 1)
	p.run(t, "results", "list", "1", "--validation", "checked-validation", "-o", "name").exits(t, 0, "success\nfailure\n")

	p.does(t, "tag", "good", "1")
	p.run(t, "tag").exits(t, 0, "good")
	p.run(t, "status", "tag:good").exits(t, 0, "revision 1: failure", "purser findings 1")
	p.run(t, "tag", "good").exits(t, 2, "purser tag good latest")
	p.run(t, "tag").exits(t, 0, "good  1 ")
	p.run(t, "tag", "-d", "good").exits(t, 1, "this would delete the tag good of revision 1; add --yes")
	p.does(t, "tag", "-d", "good", "--yes")
	p.run(t, "status", "tag:good").exits(t, 2)
	p.writes(t, "more.yaml", widget("one", "1"))
	p.does(t, "push", "more", "more.yaml")
	p.run(t, "show", "latest~1", "-o", "name").exits(t, 0, "deckhand/ValidationPolicy/v1/gate\n")
	p.run(t, "rollback", "latest~1", "--dry-run").exits(t, 1, "deleted  [acme/Widget/v1, site] one (bucket more)")
	p.run(t, "rollback", "latest~1", "-m", "why").exits(t, 1, "  would delete  more  [acme/Widget/v1, site] one\n",
		"this would delete 1 document; add --yes")
	p.run(t, "rollback", "latest~1", "-m", "why", "--max-deleted", "0").exits(t, 1, "more documents (1) than max-deleted allows (0)")
	p.run(t, "rollback", "latest~1", "-m", "why", "--max-deleted", "1").exits(t, 0, "Revision 3:", "deleted=1")
	p.run(t, "events").exits(t, 0, "purser.revision.created", "revisions/3", "purser.tag.set")
	p.run(t, "events", "--type", "purser.tag.set", "-o", "json").exits(t, 0, `"type":"purser.tag.set"`)
	p.run(t, "events", "--since", "now").exits(t, 0)
	p.run(t, "prune", "--keep", "1").exits(t, 1, "would delete 2 revisions", "--yes")
	p.run(t, "prune", "--keep", "1", "--yes").exits(t, 0, "Deleted 2 revisions")
	for _, args := range [][]string{{"show", "1"}, {"render", "1"}, {"graph", "1"}, {"graph", "1", "-o", "svg"}, {"diff", "1", "3"}, {"pull", "out", "1"}} {
		p.run(t, args...).exits(t, 2, "revision=1 was pruned")
	}
	p.run(t, "log", "--document", "acme/Widget/v1/gone").exits(t, 2, "that the caller may see", "add --layer")
	p.run(t, "log", "-o", "name").exits(t, 0, "3\n")
}

// Callers who may not see encrypted documents cannot delete them by pushing back what they pulled.
func TestPurser_secrets(t *testing.T) {
	t.Parallel()
	const secret = "hunter2-is-the-secret"
	g := startGuarded(t)
	admin := at(t, g.server, "PURSER_TOKEN="+g.of["admin"])
	admin.writes(t, "site/x.yaml", control("deckhand/LayeringPolicy/v1", "layers", "{layerOrder: [site]}")+
		passphrase("pw", secret)+docWith("acme/Widget/v1", "user", "{}", ", substitutions: ["+fromPassphrase("{path: .pw}")+"]"))
	admin.does(t, "push", "site", "site")
	if text := admin.does(t, "render", "--name", "user"); !strings.Contains(text, secret) {
		t.Errorf("the admin does not see the secret:\n%s", text)
	}
	admin.writes(t, "site/y.yaml", "")
	admin.writes(t, "site/x.yaml", strings.ReplaceAll(admin.files(t, "site")["site/x.yaml"], secret, secret+"2"))
	plan := admin.run(t, "push", "site", "site", "--dry-run").exits(t, 0, "Encrypted data changed")
	if strings.Contains(plan.stdout, secret) {
		t.Errorf("a plan shows the secret:\n%s", plan.stdout)
	}
	for user, says := range map[string]string{"admin": "**Success**", "creator": "**Undecided**"} {
		p := at(t, g.server, "PURSER_TOKEN="+g.of[user])
		p.writes(t, "site/x.yaml", admin.files(t, "site")["site/x.yaml"])
		for _, format := range []string{"markdown", "github", "gitlab"} {
			shown := p.run(t, "push", "site", "site", "--dry-run", "--format", format).exits(t, 0).stdout
			if strings.Contains(shown, secret) || format == "markdown" && !strings.HasPrefix(shown, says) {
				t.Errorf("%s of %s:\n%s", format, user, shown)
			}
		}
	}
	admin.does(t, "push", "site", "site")
	for _, args := range [][]string{
		{"diff", "1"}, {"diff", "1", "-o", "json-patch"}, {"diff", "1", "--rendered"}, {"diff", "1", "--rendered", "-o", "json-patch"},
	} {
		if text := admin.does(t, args...); strings.Contains(text, secret) || text == "" {
			t.Errorf("purser %q shows the secret, or nothing:\n%s", args, text)
		}
	}

	for _, user := range []string{"reader", "creator"} {
		p := at(t, g.server, "PURSER_TOKEN="+g.of[user])
		p.run(t, "pull", "out").exits(t, 0, "you may not see encrypted documents")
		p.writes(t, "out/site/mine.yaml", passphrase("mine", "own"))
		p.run(t, "pull", "out", "--replace", "--yes").exits(t, 0, "files of such documents are kept")
		left := p.files(t, "out")
		if _, kept := left["out/site/mine.yaml"]; !kept {
			t.Errorf("the file of an encrypted document is deleted, which %s is not shown: %v", user, left)
		}
		if text := left["out/site/x.yaml"]; !strings.Contains(text, "layers") || !strings.Contains(text, "user") || strings.Contains(text, "encrypted") {
			t.Errorf("%s gets the file\n%s", user, text)
		}
		p.run(t, "pull", "secrets", "--secrets").exits(t, 0, "you may not see encrypted documents")
		if text := fmt.Sprint(p.files(t, "secrets")); strings.Contains(text, secret) || strings.Contains(text, "encrypted") {
			t.Errorf("%s gets the secret with --secrets:\n%s", user, text)
		}
		shown := fmt.Sprint(p.files(t, "out"))
		for _, args := range [][]string{
			{"show"},
			{"render"},
			{"show", "-o", "json"},
			{"render", "-o", "table"},
			{"diff", "0"},
			{"diff", "1"},
			{"diff", "1", "--rendered"},
			{"log", "--document", "deckhand/Passphrase/v1/pw", "--layer", "site"},
			{"graph", "-o", "text"},
			{"explain", "acme/Widget/v1/user"},
			{"findings"},
			{"status"},
			{"buckets"},
			{"log"},
		} {
			of := p.run(t, args...)
			shown = fmt.Sprint(shown, of.stdout, of.stderr)
		}
		const completed = "acme/Widget/v1/user\ndeckhand/LayeringPolicy/v1/layers\n" // without the encrypted one
		if got := p.does(t, "complete-values", "explain", ""); got != completed {
			t.Errorf("%s completes documents by %q", user, got)
		}
		if strings.Contains(shown, secret) {
			t.Errorf("%s sees the secret:\n%s", user, shown)
		}
	}
	creator := at(t, g.server, "PURSER_TOKEN="+g.of["creator"])
	creator.does(t, "pull", "out")
	creator.run(t, "push", "--changeset", "out").exits(t, 1)
	creator.run(t, "push", "--changeset", "out", "--max-deleted", "0").exits(t, 1)
	if names := admin.does(t, "show", "-o", "name"); !strings.Contains(names, "deckhand/Passphrase/v1/pw") {
		t.Errorf("the secret was deleted:\n%s", names)
	}
}

// An interrupt ends a command that reads from a pipe without a writer.
func TestPurser_interrupted(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe.yaml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	path, err := commandLine()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := invoke(ctx, path, "check", pipe)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	writer, err := os.OpenFile(pipe, os.O_WRONLY, 0) // blocks until the command has opened the pipe
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 2 {
		t.Errorf("it ends with %v, want exit code 2", err)
	}
}

// If the server cannot be reached, the exit code is that of a failed command.
func TestPurser_away(t *testing.T) {
	t.Parallel()
	s := launch(t, program, patientClient(), storetest.URL(t))
	s.ready(t)
	p := at(t, s)
	p.does(t, "buckets")
	if err := s.halt(); err != nil {
		t.Fatal(err)
	}
	p.run(t, "status", "--timeout", "1s").exits(t, 2, "cannot be reached", "trying again in")
	p.run(t, "results", "post", "v", "1", "--status", "success", "--timeout", "1s").exits(t, 2, "cannot be reached")
}
