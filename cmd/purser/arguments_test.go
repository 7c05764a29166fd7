package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/check"
)

// Without a command, or with one that has only subcommands, and with help the help is printed, as by --help.
func TestRun_help(t *testing.T) {
	t.Parallel()
	for args, same := range map[string]string{
		"": "--help", "help": "--help", "results": "results --help", "help results": "results --help",
		"help results post": "results post --help", "help push": "push --help",
	} {
		want, _, _ := purser(t, strings.Fields(same)...)
		got, stderr, code := purser(t, strings.Fields(args)...)
		if diff := cmp.Diff(want, got); diff != "" || got == "" || stderr != "" || code != 0 {
			t.Errorf("%q: exit code %d, %s (-want +got)\n%s", args, code, stderr, diff)
		}
	}
	const unknown = "purser: unexpected argument pusch, did you mean \"push\"?\nRun 'purser --help' for its flags.\n"
	if _, stderr, code := purser(t, "help", "pusch"); stderr != unknown || code != exitFailed {
		t.Errorf("exit code %d, %s", code, stderr)
	}
}

// A command with a default subcommand does what that does.
func TestRun_default(t *testing.T) {
	t.Parallel()
	parser, err := newParser(t.Context(), &surroundings{})
	if err != nil {
		t.Fatal(err)
	}
	if got := withHelp([]string{"waivers"}, parser.Model.Node); len(got) != 1 {
		t.Errorf("waivers alone is %q", got)
	}
}

// The words of other programs lead to commands that exist.
func TestRun_meant(t *testing.T) {
	t.Parallel()
	for word, command := range meant {
		want := "purser: unexpected argument " + word + ", did you mean \"" + command + "\"?\nRun 'purser --help' for its flags.\n"
		if _, stderr, code := purser(t, word); stderr != want || code != exitFailed {
			t.Errorf("%s: exit code %d, %s", word, code, stderr)
		}
		path, flag, _ := strings.Cut(command, " --")
		help, stderr, code := purser(t, append(strings.Fields(path), "--help")...)
		if code != 0 || !strings.Contains(help, "--"+flag) {
			t.Errorf("%s stands for %s, which does not exist: %s", word, command, stderr)
		}
	}
}

// Short forms that were given up still have their effect, with a notice; no command has two meanings of one otherwise.
func TestRun_formerly(t *testing.T) {
	t.Parallel()
	f := newFake(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Purser-Revision", "8")
		if r.URL.Query().Get("format") == "unified" {
			w.Header().Set("Content-Type", "text/plain")
		}
		_, _ = w.Write([]byte(`{"changed":false,"status":"success","nodes":[],"edges":[],"results":[],"deletedRevisions":{"count":0}}`))
	})
	file := documentFile(t)
	for args, want := range map[string]string{
		"check --list-rules -f json": "-f no longer stands for --format after this release: write --format or -o",
		"diff 1 2 -f side":           "-f no longer stands for --format after this release: write --format or -o",
		"graph -f json":              "-f no longer stands for --format after this release: write --format or -o",
		"push b " + file + " -n":     "-n no longer stands for --dry-run after this release: write --dry-run",
		"rollback 1 -n":              "-n no longer stands for --dry-run after this release: write --dry-run",
		"prune --keep 1 -n":          "-n no longer stands for --dry-run after this release: write --dry-run",
	} {
		given := strings.Fields(args)
		if given[0] != "check" {
			given = append(given, "--server", f.URL)
		}
		stdout, stderr, code := purser(t, given...)
		if stderr != "purser: "+want+"\n" || code != 0 {
			t.Errorf("%s: exit code %d, %s", args, code, stderr)
		}
		now := strings.NewReplacer(" -f", " --format", " -n", " --dry-run").Replace(strings.Join(given, " "))
		if same, said, _ := purser(t, strings.Fields(now)...); same != stdout || said != "" {
			t.Errorf("%s printed %q, and %s printed %q and %q", args, stdout, now, same, said)
		}
	}
	if got := strings.Join(f.asked, "\n"); strings.Count(got, "dry-run=true") != 6 {
		t.Errorf("not all were dry runs:\n%s", got)
	}
}

// documentFile returns the path of a file with a document.
func documentFile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "a.yaml")
	if err := os.WriteFile(file, []byte("schema: acme/X/v1\nmetadata: {name: x, layeringDefinition: {abstract: true}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// -f is a file and -n a number in all commands, -o is the format of each command that has several, and --dry-run has no
// short form.
func TestRun_shortForms(t *testing.T) {
	t.Parallel()
	parser, err := newParser(t.Context(), &surroundings{})
	if err != nil {
		t.Fatal(err)
	}
	for _, leaf := range parser.Model.Leaves(false) {
		for _, f := range leaf.Flags {
			isFormat := f.Name == "output" || f.Name == "format"
			switch short := f.Short; {
			case isFormer(f):
			case short == 'f' && f.Name != "file", short == 'n' && f.Name != "limit", (short == 'o') != isFormat,
				f.Name == "dry-run" && short != 0:
				t.Errorf("purser %s: -%c is --%s", leaf.Path(), short, f.Name)
			}
		}
	}
}

// The formats of a check that its help and completions name are those of the package.
func TestCheck_formats(t *testing.T) {
	t.Parallel()
	parser, err := newParser(t.Context(), &surroundings{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range parser.Model.Children[0].Flags {
		if f.Name != "format" || isFormer(f) {
			continue
		}
		got := strings.Split(f.Tag.Get("choices"), ",")
		for _, format := range append(check.Formats(), "table") {
			if !strings.Contains(","+f.Tag.Get("choices")+",", ","+format+",") || !strings.Contains(f.Help, format) {
				t.Errorf("--format: %s is not named", format)
			}
		}
		if len(got) != len(check.Formats())+1 {
			t.Errorf("--format: %q", got)
		}
	}
}

// The exit code of a detailed dry run tells changes from none; whatever goes wrong is 1.
func TestPreview_detailed(t *testing.T) {
	t.Parallel()
	const wouldFail = `"status":"failed","final":true`
	file := documentFile(t)
	for name, c := range map[string]struct {
		args, preview string
		status, code  int
	}{
		"nothing":          {"push b " + file, `"changed":false,"status":"success"`, 200, 0},
		"something":        {"push b " + file, `"changed":true,"status":"success"`, 200, exitChange},
		"would fail":       {"push b " + file, `"changed":true,` + wouldFail, 200, exitNo},
		"refused":          {"push b " + file, "", 400, exitNo},
		"not reached":      {"push b " + file, "", 401, exitNo},
		"no such file":     {"push b nowhere", "", 0, exitNo},
		"wrong line":       {"push b --no-such-flag " + file, "", 0, exitNo},
		"rollback":         {"rollback 1", `"changed":true,"status":"success"`, 200, exitChange},
		"rollback to same": {"rollback 1", `"changed":false,"status":"success"`, 200, 0},
	} {
		f := newFake(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.status)
			_, _ = w.Write([]byte(`{"kind":"Status","message":"odd","details":{"errorType":"Odd"},` + c.preview + `}`))
		})
		args := append(strings.Fields(c.args), "--server", f.URL, "--dry-run", "--detailed-exit-code")
		if stdout, stderr, code := purser(t, args...); code != c.code {
			t.Errorf("%s: exit code %d, want %d\n%s%s", name, code, c.code, stdout, stderr)
		}
	}
	const needs = "--detailed-exit-code needs --dry-run"
	for _, args := range []string{"push b x --detailed-exit-code", "rollback 1 --detailed-exit-code"} {
		if _, stderr, code := purser(t, strings.Fields(args)...); code != exitNo || !strings.Contains(stderr, needs) {
			t.Errorf("%s: exit code %d, %s", args, code, stderr)
		}
	}
}

// differing is a server with a list of documents that differ, and the unified difference of each.
func differing(t *testing.T) *fake {
	t.Helper()
	documents := []string{
		`{"change":"modified","bucket":"b","schema":"acme/X/v1","layer":null,"name":"x"}`,
		`{"change":"modified","bucket":"b","schema":"acme/X/v1","layer":"site","name":"y"}`,
		`{"change":"deleted","bucket":"c","schema":"acme/Y/v1","layer":null,"name":"x"}`,
	}
	unified := []string{
		"--- revision 1, bucket b: [acme/X/v1] x\n+++ revision 2, bucket b: [acme/X/v1] x\n@@ -1,2 +1,3 @@\n-a: 1\n+a: 2\n+b: 3\n c: 4\n",
		"Encrypted data of revision 2, bucket b: [acme/X/v1, site] y changed\n",
		"--- revision 1, bucket c: [acme/Y/v1] x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a: 1\n",
	}
	return newFake(t, func(w http.ResponseWriter, r *http.Request) {
		q, same := r.URL.Query(), strings.HasSuffix(r.URL.Path, "/2/deepdiff/2")
		first, count := 0, len(documents)
		if q.Get("limit") != "" {
			first, count = int(q.Get("offset")[0]-'0'), int(q.Get("limit")[0]-'0')
		}
		if same {
			count = 0
		}
		w.Header().Set("Content-Type", map[string]string{
			"documents": "application/json", "unified": "text/plain", "json-patch": "application/json-patch+json",
		}[q.Get("format")])
		switch q.Get("format") {
		case "unified":
			_, _ = w.Write([]byte(strings.Join(unified[first:first+count], "")))
		case "json-patch":
			_, _ = w.Write([]byte("[" + strings.Join(documents[first:first+count], ",") + "]"))
		default:
			_, _ = w.Write([]byte(`{"count":3,"results":[` + strings.Join(documents[first:first+count], ",") + `]}`))
		}
	})
}

// A comparison can be about some documents only, as counts of lines, and as a list; its exit code can be the answer.
func TestDiff_forms(t *testing.T) {
	t.Parallel()
	f := differing(t)
	const all = "bucket b: [acme/X/v1] x | +2 -1\nbucket b: [acme/X/v1, site] y | +0 -0, encrypted data\nbucket c: [acme/Y/v1] x | +0 -1\n" +
		"3 documents: 2 lines added, 2 removed\n"
	for args, want := range map[string]struct {
		stdout, stderr string
		code           int
	}{
		"1 2 --stat":                 {all, "", 0},
		"1 2 --stat --exit-code":     {all, "", exitNo},
		"2 2 --stat --exit-code":     {"", "", 0},
		"2 2 --exit-code":            {"", "", 0},
		"2 2 --exit-code -o json":    {`{"count":0,"results":[]}` + "\n", "", 0},
		"2 2 --exit-code -o name":    {"", "", 0},
		"1 2 --exit-code -o name":    {"acme/X/v1/x\nacme/X/v1/y\nacme/Y/v1/x\n", "", exitNo},
		"1 2 -o name -- x":           {"acme/X/v1/x\nacme/Y/v1/x\n", "", 0},
		"1 2 -o name -- acme/Y/v1/x": {"acme/Y/v1/x\n", "", 0},
		"1 2 -o name --document y":   {"acme/X/v1/y\n", "", 0},
		"1 -o name -- acme/X/v1/x y": {"acme/X/v1/x\nacme/X/v1/y\n", "", 0},
		"1 2 --stat -- acme/Y/v1/x":  {"bucket c: [acme/Y/v1] x | +0 -1\n1 document: 0 lines added, 1 removed\n", "", 0},
		"1 2 --stat -o name": {"", "purser: diff: --stat is a format of its own: leave --format name out\n" +
			"Run 'purser diff --help' for its flags.\n", exitFailed},
		"1 2 --exit-code -- z":                {"", "purser: no document that differs has such a name: z\n", 0},
		"1 2 -o table -- y":                   {"CHANGE    BUCKET  SCHEMA     LAYER  NAME\nmodified  b       acme/X/v1  site   y\n", "", 0},
		"1 2 -o json-patch -- y":              {`[{"change":"modified","bucket":"b","schema":"acme/X/v1","layer":"site","name":"y"}]` + "\n", "", 0},
		"1 2 -o json-patch -- z":              {"[]\n", "purser: no document that differs has such a name: z\n", 0},
		"1 2 --output name --exit-code=false": {"acme/X/v1/x\nacme/X/v1/y\nacme/Y/v1/x\n", "", 0},
	} {
		given := append([]string{"diff", "--server", f.URL}, strings.Fields(strings.Replace(args, "1 -o", "1 2 -o", 1))...)
		stdout, stderr, code := purser(t, given...)
		if diff := cmp.Diff(want.stdout, stdout); diff != "" || stderr != want.stderr || code != want.code {
			t.Errorf("diff %s: exit code %d, want %d, %s (-want +got)\n%s", args, code, want.code, stderr, diff)
		}
	}
}

// Without a second revision, what stands after -- are still documents.
func TestAfterDash(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"diff 1 -- a/B/v1/c d": "diff 1 --document=a/B/v1/c --document=d",
		"diff 1 2 --":          "diff 1 2",
		"diff 1":               "diff 1",
		"push b -- -x":         "push b -- -x",
		"":                     "",
	} {
		if got := strings.Join(afterDash(strings.Fields(args)), " "); got != want {
			t.Errorf("%q: %q, want %q", args, got, want)
		}
	}
}

// The lines of documents that look like parts of a unified diff are not counted as such.
func TestStatText_hostile(t *testing.T) {
	t.Parallel()
	const unified = "--- revision 1, bucket b: x\n+++ revision 2, bucket b: x\n@@ -1,2 +1,3 @@\n--- revision 1, bucket b: y\n+++ y\n+-- z\n same\n" +
		"\\ No newline at end of file\nEncrypted data of revision 2, bucket b: x changed\n"
	const want = "bucket b: x | +2 -1, encrypted data\n1 document: 2 lines added, 1 removed\n"
	if diff := cmp.Diff(want, statText(unified, false)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := statText(unified, true); !strings.Contains(got, "\x1b[32m+2\x1b[m \x1b[31m-1\x1b[m") {
		t.Errorf("no colours: %q", got)
	}
}

// All that kong takes for true asks for a detailed exit code.
func TestIsDetailed(t *testing.T) {
	t.Parallel()
	for arg, want := range map[string]bool{
		"--detailed-exit-code": true, "--detailed-exit-code=true": true, "--detailed-exit-code=1": true, "--detailed-exit-code=Yes": true,
		"--detailed-exit-code=false": false, "--detailed-exit-code=0": false, "--detailed-exit-code=NO": false, "--dry-run": false,
	} {
		if got := isDetailed([]string{"push", arg, "b"}); got != want {
			t.Errorf("%s: %t", arg, got)
		}
	}
}
