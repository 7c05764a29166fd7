package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/document"
)

func TestCommitURL(t *testing.T) {
	t.Parallel()
	const id = "8f2c41d09b6e7a3155d0c8e2f4b7a9610d3e5c72"
	for remote, want := range map[string]string{
		"https://github.com/acme/site.git":                "https://github.com/acme/site/commit/" + id,
		"https://bob:hunter2@git.example:8443/a/b/c":      "https://git.example:8443/a/b/c/commit/" + id,
		"https://git.example/acme/site/":                  "https://git.example/acme/site/commit/" + id,
		"git@github.com:acme/site.git":                    "https://github.com/acme/site/commit/" + id,
		"git.example:acme/site":                           "https://git.example/acme/site/commit/" + id,
		"git@git.example:/acme/site.git":                  "https://git.example/acme/site/commit/" + id,
		"ssh://git@git.example/acme/site.git":             "https://git.example/acme/site/commit/" + id,
		"ssh://git@git.example:29418/acme/site":           "https://git.example/acme/site/commit/" + id,
		"https://git.example/acme/my site.git":            "https://git.example/acme/my%20site/commit/" + id,
		"https://git.example/" + strings.Repeat("x", 500): "",
		"": "", "/srv/git/site.git": "", "../site": "", "./a:b": "", "file:///srv/git/site.git": "", `C:\git\site`: "",
		"C:/git/site": "", "http://git.example/acme/site": "", "git://git.example/acme/site": "", "https://git.example": "",
		"https:///acme/site": "", "ssh://git@git.example": "", "foo::https://git.example/a": "", "git@git.example:": "",
	} {
		if got := commitURL(remote, id); got != want {
			t.Errorf("commitURL(%q) = %q, want %q", remote, got, want)
		}
	}
}

func TestCommitMessage(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 2000)
	for _, c := range []struct{ subject, author, want string }{
		{"Larger disks", "Alice", "Larger disks (Alice, 8f2c41d)"},
		{"", "", " (, 8f2c41d)"},
		{"a\xffb", "Bob", "a\ufffdb (Bob, 8f2c41d)"},
		{long, "Alice", long[:2*982] + "… (Alice, 8f2c41d)"},
		{"x", long, "x (" + long[:2*199] + "…, 8f2c41d)"},
	} {
		got := commitMessage(c.subject, c.author, "8f2c41d")
		if got != c.want || len([]rune(got)) > 1000 {
			t.Errorf("%d characters: %q, want %q", len([]rune(got)), got, c.want)
		}
	}
}

func TestPipelineSource(t *testing.T) {
	t.Parallel()
	const id = "8f2c41d09b6e7a3155d0c8e2f4b7a9610d3e5c72"
	for want, env := range map[string]map[string]string{
		"https://github.com/acme/site/commit/" + id: {
			"GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "acme/site", "GITHUB_SHA": id,
		},
		"https://gitlab.com/acme/site/-/commit/" + id: {
			"CI_PROJECT_URL": "https://gitlab.com/acme/site", "CI_COMMIT_SHA": id,
		},
		"": {"GITHUB_SERVER_URL": "http://git.example", "GITHUB_REPOSITORY": "acme/site", "GITHUB_SHA": id},
	} {
		if got := pipelineSource(func(name string) string { return env[name] }); got != want {
			t.Errorf("%v: %q, want %q", env, got, want)
		}
	}
	for _, lacks := range []string{"GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_SHA", "CI_PROJECT_URL", "CI_COMMIT_SHA"} {
		got := pipelineSource(func(name string) string {
			if name == lacks || strings.HasPrefix(lacks, "GITHUB") != strings.HasPrefix(name, "GITHUB") {
				return ""
			}
			return "https://git.example/" + id
		})
		if got != "" {
			t.Errorf("without %s: %q", lacks, got)
		}
	}
}

// taken is what a server was sent by a push.
type taken struct {
	Path, Query, Body, Message, Source string
}

// taking returns a server that takes every push, and what it was sent last.
func taking(t *testing.T) (*fake, *taken) {
	t.Helper()
	last := &taken{}
	f := newFake(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		q := r.URL.Query()
		*last = taken{
			strings.TrimPrefix(r.URL.Path, "/api/v1.0/"), strings.Join(q["buckets"], ","), string(body), q.Get("message"),
			r.Header.Get("X-Purser-Source"),
		}
		w.Header().Set("Purser-Revision", "7")
		w.Header().Set("Purser-Changes", "added=1")
		w.Header().Set("Purser-Status", "success; findings=0")
		fmt.Fprint(w, `{"total": 0, "findings": []}`)
	})
	return f, last
}

// In a pipeline, a push names its commit unless --source names another one.
func TestPush_pipeline(t *testing.T) {
	f, last := taking(t)
	file := filepath.Join(t.TempDir(), "a.yaml")
	writeFile(t, file, thing("a"))
	t.Setenv("CI_PROJECT_URL", "https://gitlab.example/acme/site")
	t.Setenv("CI_COMMIT_SHA", "8f2c41d09b6e7a3155d0c8e2f4b7a9610d3e5c72")
	for source, args := range map[string][]string{
		"https://gitlab.example/acme/site/-/commit/8f2c41d09b6e7a3155d0c8e2f4b7a9610d3e5c72": nil,
		"git+https://git.example/a@abcdef0":                                                  {"--source", "git+https://git.example/a@abcdef0"},
	} {
		_, stderr, code := purser(t, append([]string{"push", "site", file, "--yes", "--server", f.URL}, args...)...)
		if code != 0 || last.Source != source {
			t.Errorf("exit code %d, the source is %q, want %q\n%s", code, last.Source, source, stderr)
		}
	}
}

func thing(name string) string {
	return "schema: acme/X/v1\nmetadata: {schema: metadata/Document/v1, name: " + name + "}\ndata: {}\n"
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// workingTree is a repository with a working tree, for tests.
type workingTree string

func (r workingTree) git(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", string(r)}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Alice É", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=Bob", "GIT_COMMITTER_EMAIL=b@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit commits files, and removes those that are empty. It returns the commit's id.
func (r workingTree) commit(t *testing.T, subject string, files map[string]string) string {
	t.Helper()
	for name, text := range files {
		if text == "" {
			r.git(t, "rm", "-q", name)
			continue
		}
		writeFile(t, filepath.Join(string(r), name), text)
	}
	r.git(t, "add", "--all", "--force")
	r.git(t, "commit", "-q", "--allow-empty", "-m", subject+"\n\nDetails.")
	return r.git(t, "rev-parse", "HEAD")
}

func newRepository(t *testing.T) workingTree {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	r := workingTree(t.TempDir())
	r.git(t, "init", "-q", "-b", "main")
	return r
}

// pushed pushes and returns what the server took; it fails if the exit code is another.
func pushed(t *testing.T, args ...string) (last taken, said string) {
	t.Helper()
	f, got := taking(t)
	stdout, stderr, code := purser(t, append(args, "--yes", "--server", f.URL)...)
	if code != 0 {
		t.Fatalf("%v: exit code %d\n%s%s", args, code, stdout, stderr)
	}
	return *got, stderr
}

// refused returns the error of a push, before which nothing was sent.
func refused(t *testing.T, args ...string) string {
	t.Helper()
	f, _ := taking(t)
	_, stderr, code := purser(t, append(args, "--yes", "--server", f.URL)...)
	if code != exitFailed || len(f.asked) > 0 {
		t.Errorf("%v: exit code %d after %v\n%s", args, code, f.asked, stderr)
	}
	return stderr
}

// A push of a commit has what that has, byte by byte, and not what the working tree or the index has; it names the
// commit.
func TestPush_fromGit(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	const crlf, spaced = "# é\r\nschema: acme/X/v1\r\nmetadata: {name: crlf}\r\ndata: {a: $Format:%H$}\r\n", "west/rack 3/größe ö.yaml"
	r.git(t, "config", "core.autocrlf", "true")
	r.git(t, "remote", "add", "origin", "git@git.example:acme/site.git")
	first := r.commit(t, "Größere disks", map[string]string{
		".gitattributes": "*.yaml text eol=crlf export-subst\nwest/hidden.yaml export-ignore\n",
		spaced:           thing("a"), "west/hidden.yaml": thing("hidden"), "east/b.yaml": thing("b"), "README.md": "text",
	})
	blob := exec.CommandContext(t.Context(), "git", "-C", string(r), "hash-object", "-w", "--stdin", "--no-filters")
	blob.Stdin = strings.NewReader(crlf)
	id, err := blob.Output()
	if err != nil {
		t.Fatal(err)
	}
	r.git(t, "update-index", "--add", "--cacheinfo", "100644,"+strings.TrimSpace(string(id))+",west/crlf.yaml")
	r.git(t, "commit", "-q", "-m", "As written")
	second := r.git(t, "rev-parse", "HEAD")
	r.git(t, "checkout", "-q", "-b", "other", first)
	third := r.commit(t, "Other", map[string]string{spaced: "", "west/other.yaml": thing("other")})
	r.git(t, "checkout", "-q", "-f", "main")
	r.git(t, "tag", "-a", "v1", "-m", "a tag", first)
	writeFile(t, filepath.Join(string(r), spaced), thing("dirty"))
	writeFile(t, filepath.Join(string(r), "west/untracked.yaml"), thing("untracked"))
	writeFile(t, filepath.Join(string(r), "west/staged.yaml"), thing("staged"))
	r.git(t, "add", "west/staged.yaml")
	bare := filepath.Join(t.TempDir(), "bare.git")
	r.git(t, "clone", "-q", "--bare", string(r), bare)
	workingTree(bare).git(t, "remote", "set-url", "origin", "https://bob:hunter2@git.example/acme/site")

	file := func(path, text string) string {
		return string(document.AppendFile(nil, document.File{Path: path, Text: []byte(text)}))
	}
	west := file("crlf.yaml", crlf) + file("hidden.yaml", thing("hidden")) + file("rack 3/größe ö.yaml", thing("a"))
	source := func(id string) string { return "https://git.example/acme/site/commit/" + id }
	message := func(subject, id string) string {
		return subject + " (Alice É, " + r.git(t, "rev-parse", "--short", id) + ")"
	}
	inBucket := func(bucket, path, name string) string {
		return string(document.AppendFile(nil, document.File{Path: path, Bucket: bucket, Text: []byte(thing(name))}))
	}
	for name, c := range map[string]struct {
		args string
		want taken
	}{
		"HEAD": {
			"push b --from-git " + string(r) + " west",
			taken{"buckets/b/documents", "", west, message("As written", second), source(second)},
		},
		"a subfolder names its clone": {
			"push b --from-git " + string(r) + "/west west/",
			taken{"buckets/b/documents", "", west, message("As written", second), source(second)},
		},
		"a bare clone": {
			"push b --from-git " + bare + " ./west --ref main",
			taken{"buckets/b/documents", "", west, message("As written", second), source(second)},
		},
		"a tag, all of it": {
			"push b --from-git " + bare + " --ref v1",
			taken{
				"buckets/b/documents", "", file("east/b.yaml", thing("b")) + file("west/hidden.yaml", thing("hidden")) +
					file(spaced, thing("a")),
				message("Größere disks", first), source(first),
			},
		},
		"another branch, with a message and a source": {
			"push b --from-git " + string(r) + " --ref other west -m why --source https://git.example/7654321",
			taken{
				"buckets/b/documents", "", file("hidden.yaml", thing("hidden")) + file("other.yaml", thing("other")), "why",
				"https://git.example/7654321",
			},
		},
		"a commit by its short id, one file": {
			"push b east/b.yaml --from-git " + string(r) + " --ref " + third[:9],
			taken{"buckets/b/documents", "", file("b.yaml", thing("b")), message("Other", third), source(third)},
		},
		"a change set": {
			"push --changeset . --from-git " + bare + " --ref other",
			taken{
				"changesets", "", inBucket("east", "b.yaml", "b") + inBucket("west", "hidden.yaml", "hidden") +
					inBucket("west", "other.yaml", "other"), message("Other", third), source(third),
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, _ := pushed(t, strings.Fields(c.args)...)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("sent (-want +got):\n%s", diff)
			}
		})
	}
}

// What a push of a commit says about files names them as the commit does, and the folder that they were unpacked in is
// removed.
func TestPush_fromGit_names(t *testing.T) {
	r, temporary := newRepository(t), t.TempDir()
	r.commit(t, "Odd", map[string]string{
		"west/a.yaml": thing("a"), "west/values.yaml": "a: 1\n", "west/twice.yaml": thing("t") + "data: {}\n",
		"broken/x.yaml": "a: [\n", "empty/README.md": "text", ".purser.yaml": "exclude: [charts]\n",
		"west/charts/c.yaml": thing("c"), "lfs/a.yaml": pointerOfLFS + "v1\noid sha256:00\nsize 3\n",
	})
	t.Setenv("TMPDIR", temporary)
	t.Setenv("GIT_DIR", filepath.Join(temporary, "nowhere")) // as in a hook of another repository
	from := []string{"--from-git", string(r)}
	got, said := pushed(t, "push", "b", "west", from[0], from[1])
	if strings.Contains(got.Body, "name: c}") {
		t.Errorf("what the configuration of the root excludes was sent:\n%s", got.Body)
	}
	for _, want := range []string{"excluded by .purser.yaml: west/charts\n", "nothing there has a schema: west/values.yaml\n"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in what was said:\n%s", want, said)
		}
	}
	for want, args := range map[string][]string{
		"has no nosuch; paths are relative to the root":   {"push", "b", "west", "nosuch"},
		"paths are those of the commit":                   {"push", "b", string(r) + "/west"},
		"such as site/, and not -\n":                      {"push", "b", "-"},
		"has no folders":                                  {"push", "--changeset", "empty"},
		"lfs/a.yaml: the commit has only a pointer to it": {"push", "b", "lfs"},
		"has no commit nosuch: git fetch":                 {"push", "b", "--ref", "nosuch"},
		"--ref must name a branch":                        {"push", "b", "--ref=--all"},
	} {
		text := refused(t, append(args, from...)...)
		if !strings.Contains(text, want) || strings.Contains(text, temporary) {
			t.Errorf("%v: %q is not in the error, or the temporary folder is:\n%s", args, want, text)
		}
	}
	for at, want := range map[string]string{"broken": "purser: broken/x.yaml: ", "empty": "purser: there are no documents in empty;"} {
		if _, text, code := purser(t, "push", "b", at, from[0], from[1]); code == 0 || !strings.HasPrefix(text, want) {
			t.Errorf("%s: exit code %d\n%s", at, code, text)
		}
	}
	if text := refused(t, "push", "b", "--from-git", t.TempDir()); !strings.Contains(text, "not a git repository") {
		t.Errorf("a folder that is no clone: %s", text)
	}
	left, err := os.ReadDir(temporary)
	for _, entry := range left {
		if strings.HasPrefix(entry.Name(), "purser-") || err != nil {
			t.Errorf("the temporary folder is left: %s, %v", entry.Name(), err)
		}
	}
	t.Setenv("PATH", temporary)
	if text := refused(t, "push", "b", "west", from[0], from[1]); !strings.Contains(text, "apt-get install git") {
		t.Errorf("without git: %s", text)
	}
}

// A refusal of the server names the files of the commit.
func TestPush_fromGit_findings(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.commit(t, "Two", map[string]string{"a.yaml": thing("a"), "west/b.yaml": "# b\n" + thing("b")})
	f := newFake(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]any{"kind": "Status", "message": "document 2, line 7: no"})
	})
	_, stderr, code := purser(t, "push", "b", "--from-git", string(r), "--yes", "--server", f.URL)
	if code == 0 || !strings.Contains(stderr, "west/b.yaml:") || strings.Contains(stderr, os.TempDir()) {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
}

// Links within the commit are followed, as in a checkout; those that lead out of it, and submodules, are refused.
func TestPush_fromGit_links(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	link := func(target, at string) {
		t.Helper()
		at = filepath.Join(string(r), at)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, at); err != nil {
			t.Fatal(err)
		}
	}
	outside := filepath.Join(t.TempDir(), "secret.yaml")
	writeFile(t, outside, thing("secret"))
	link("../common/a.yaml", "west/a.yaml")
	link("../common", "north/common")
	link("../common/a.txt", "text/a.yaml")
	link("nowhere.yaml", "dangling/a.yaml")
	link(outside, "absolute/a.yaml")
	link("../../../../../../../../../../../../"+outside, "relative/a.yaml")
	link("/", "folder/all")
	link("common/a.yaml", "named.yaml")
	created := filepath.Join(filepath.Dir(outside), "created")
	link(created, "west/.purser.yaml")
	r.commit(t, "Links", map[string]string{"common/a.yaml": thing("a"), "common/a.txt": thing("text"), "logo.json": pointerOfLFS + "v1\n"})
	sub := newRepository(t)
	sub.commit(t, "Sub", map[string]string{"s.yaml": thing("s")})
	r.git(t, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", string(sub), "sub/module")
	r.git(t, "commit", "-q", "-m", "Submodule")
	for at, want := range map[string]string{
		"west": thing("a"), "north": thing("a"), "text": thing("text"), "named.yaml": thing("a"),
	} {
		got, _ := pushed(t, "push", "b", at, "--from-git", string(r))
		if files, _, err := document.Files([]byte(got.Body), 2); err != nil || len(files) != 1 || string(files[0].Text) != want {
			t.Errorf("%s: sent %q, want %q", at, got.Body, want)
		}
	}
	if _, err := os.Lstat(created); err == nil {
		t.Error("a configuration was written where a link leads that is out of the repository")
	}
	for at, want := range map[string]string{
		"dangling": "dangling/a.yaml: It cannot be read", "absolute": "absolute/a.yaml is a link that leads out",
		"relative": "relative/a.yaml is a link that leads out", "folder": "folder/all is a link that leads out",
		"sub": "sub/module is a submodule", ".": "is a ",
	} {
		if text := refused(t, "push", "b", at, "--from-git", string(r)); !strings.Contains(text, want) {
			t.Errorf("%s: %q is not in the error:\n%s", at, want, text)
		}
	}
}

// A folder of a change set without documents is an empty bucket, as in a checkout.
func TestPush_fromGit_emptyBucket(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.commit(t, "Buckets", map[string]string{"all/west/a.yaml": thing("a"), "all/east/README.md": "none"})
	got, _ := pushed(t, "push", "--changeset", "all", "--from-git", string(r))
	if got.Query != "east" || !strings.Contains(got.Body, `"bucket":"west"`) {
		t.Errorf("sent %+v", got)
	}
	if got.Source != "" {
		t.Errorf("without a remote, the source is %q", got.Source)
	}
}
