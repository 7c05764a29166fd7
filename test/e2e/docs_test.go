package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// example is a block of commands in a page, and the output that the page shows.
type example struct{ line, commands, output string }

var (
	fence = regexp.MustCompile("(?m)^```(sh|text)\n((?s:.*?))^```$")
	// varies matches times, durations and stamps, which differ between runs.
	varies = regexp.MustCompile(`\d{4}-\d\d-\d\d[T ][\d:.]+Z?|\b[0-9a-f]{16}\b|at a time, \d+ s\b`)
)

// examplesOf returns the examples of a page of the documentation, from one heading up to another.
func examplesOf(t *testing.T, page, from, before string) []example {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", page))
	if err != nil {
		t.Fatal(err)
	}
	_, part, found := strings.Cut(string(text), from)
	if !found {
		t.Fatalf("%s has no %q", page, from)
	}
	if before != "" {
		part, _, _ = strings.Cut(part, before)
	}
	var examples []example
	for _, block := range fence.FindAllStringSubmatch(part, -1) {
		if block[1] == "text" && len(examples) > 0 {
			examples[len(examples)-1].output = block[2]
			continue
		}
		first, _, _ := strings.Cut(block[2], "\n")
		examples = append(examples, example{page + ": " + first, block[2], ""})
	}
	return examples
}

// The commands of the tour, and of the pages that continue it, have the documented output, in one shell.
func TestDocs(t *testing.T) {
	t.Parallel()
	s := start(t)
	examples := examplesOf(t, "README.md", "## A first tour", "## Where to go next")
	examples = append(examples, examplesOf(t, "docs/check.md", "# Checking documents", "")...)
	examples = append(examples, examplesOf(t, "docs/events.md", "## Waiting", "## Webhooks")...)
	examples = append(examples, examplesOf(t, "docs/documents.md", "## Validation", "")...)
	examples = append(examples, examplesOf(t, "docs/api.md", "# The API", "## Differences from Deckhand")...)
	doAsDocumented(t, s, examples)
}

// The commands in the page about purser have the documented output, with a store of their own.
func TestDocs_purser(t *testing.T) {
	t.Parallel()
	doAsDocumented(t, start(t), examplesOf(t, "docs/purser.md", "## First steps", ""))
}

// The commands of the tour of fleets have the documented output, with a store of their own, in which they make sites.
func TestDocs_fleets(t *testing.T) {
	t.Parallel()
	doAsDocumented(t, startFresh(t), examplesOf(t, "docs/fleets.md", "## A tour", ""))
}

// The commands in the page for users of kubeconform have the documented output, with a store of their own.
func TestDocs_kubeconform(t *testing.T) {
	t.Parallel()
	doAsDocumented(t, start(t), examplesOf(t, "docs/from-kubeconform.md", "## A worked example", ""))
}

// The commands in the page about symptoms print what it says: those about rights with a token of a reader.
func TestDocs_symptoms(t *testing.T) {
	t.Parallel()
	const page, rights, after = "docs/troubleshooting.md", "### No rights", "## The server does not start"
	s, k := start(t), newKeys(t, "reader")
	doAsDocumented(t, k.startWith(t, ""), examplesOf(t, page, rights, after), "reader="+k.of["reader"])
	doAsDocumented(t, s, slices.Concat(examplesOf(t, page, "# Troubleshooting", rights), examplesOf(t, page, after, "")))
}

// The messages in the table of 503s are messages of the program.
func TestDocs_busy(t *testing.T) {
	t.Parallel()
	_, table, _ := strings.Cut(pageOf(t, "troubleshooting.md"), "## The server is slow")
	quoted := regexp.MustCompile("(?m)^\\| `(.+?)` \\|").FindAllStringSubmatch(table, -1)
	if len(quoted) == 0 {
		t.Fatal("there is no table")
	}
	var sources strings.Builder
	for _, pattern := range []string{"../../api/*.go", "../../internal/*/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			sources.Write(text)
		}
	}
	for _, message := range quoted {
		if !strings.Contains(sources.String(), message[1]) {
			t.Errorf("no source file has the message %q", message[1])
		}
	}
}

// The documented commands tell a genuine delivery of a webhook from a forged one.
func TestDocs_signature(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip(err)
	}
	s, r := startCalling(t), newReceiver(t, ok)
	path, secret := s.hook(t, "{url: '"+r.URL+"'}")
	s.post(t, path+"/ping", "").is(t, http.StatusAccepted)
	eventually(t, "a ping", func() bool { return len(r.got()) == 1 })
	ping := r.got()[0]
	commands := examplesOf(t, "docs/events.md", "Without a library", "")[0].commands
	for body, want := range map[string]string{ping.body: "genuine\n", ping.body + " ": "forged\n"} {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", commands)
		cmd.Dir = t.TempDir()
		cmd.Env = append(os.Environ(), "secret="+secret, "id="+ping.header.Get("Webhook-Id"),
			"timestamp="+ping.header.Get("Webhook-Timestamp"), "signature="+ping.header.Get("Webhook-Signature"))
		if err := os.WriteFile(filepath.Join(cmd.Dir, "body"), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := cmd.CombinedOutput(); string(out) != want {
			t.Errorf("%q is %s, %v, want %s", body, out, err, want)
		}
	}
}

// doAsDocumented runs examples in one shell, with both programs in its PATH and env in its environment.
func doAsDocumented(t *testing.T, s *server, examples []example, env ...string) {
	t.Helper()
	bin := t.TempDir()
	for name, built := range map[string]func() (string, error){"purser": commandLine, "purser-server": program} {
		path, err := built()
		if err == nil {
			err = os.Symlink(path, filepath.Join(bin, name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	host := strings.TrimPrefix(s.url, "http://")
	// Each example's output follows a line with its number.
	const mark = "--- example "
	var script strings.Builder
	for i, e := range examples {
		fmt.Fprintf(&script, "echo; echo '%s%d'\n%s", mark, i, strings.ReplaceAll(e.commands, "127.0.0.1:9000", host))
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-c", script.String())
	cmd.Dir = t.TempDir()
	cmd.Env = append(append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "HOME="+t.TempDir(),
		"PURSER_SERVER="+s.url, "GORACE=atexit_sleep_ms=0"), env...)
	if err := os.CopyFS(filepath.Join(cmd.Dir, "examples"), os.DirFS("../../examples")); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	said := strings.ReplaceAll(string(out), host, "127.0.0.1:9000")
	for i, e := range examples {
		_, got, _ := strings.Cut(said, fmt.Sprintf("\n%s%d\n", mark, i))
		got, _, _ = strings.Cut(got, "\n"+mark)
		if e.output == "" {
			continue
		}
		want, lines := shownLines(e.output), shownLines(got)
		if diff := cmp.Diff(want, elided(want, lines)); diff != "" {
			t.Errorf("%s (-documented +got):\n%s", e.line, diff)
		}
	}
}

// elided returns the lines of an output with a line "…" in the place of those that a documented output leaves out in this
// way: all up to the next documented one.
func elided(documented, lines []string) (short []string) {
	for i, want := range documented {
		if want != "…" {
			if len(lines) > 0 {
				short, lines = append(short, lines[0]), lines[1:]
			}
			continue
		}
		left := len(lines)
		if i+1 < len(documented) {
			left = slices.Index(lines, documented[i+1])
		}
		if left > 0 { // otherwise nothing is left out, and the lines differ
			short, lines = append(short, want), lines[left:]
		}
	}
	return append(short, lines...)
}

// A line "…" in a documented output stands for one or more lines, and for nothing else.
func TestElided(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		documented, got string
		same            bool
	}{
		{"a\n…\nd", "a\nb\nc\nd", true},
		{"a\n…", "a\nb\nc", true},
		{"a\n…\nb\n…\nc", "a\nx\nb\ny\nz\nc", true},
		{"a\n…\nd", "a\nd", false},
		{"a\n…", "a", false},
		{"a\n…\nd", "a\nb\nc", false},
		{"a\n…\nd", "a\nb\nd\ne", false},
		{"a\n…\nd", "b\nc\nd", false},
		{"a\nb", "a", false},
	} {
		documented, got := strings.Split(c.documented, "\n"), strings.Split(c.got, "\n")
		if short := elided(documented, got); slices.Equal(documented, short) != c.same {
			t.Errorf("%q of %q is %q", documented, got, short)
		}
	}
}

// shownLines returns the lines of an output without varying parts and trailing blanks.
func shownLines(output string) []string {
	lines := strings.Split(strings.TrimSpace(varies.ReplaceAllString(output, "…")), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \r")
	}
	return lines
}
