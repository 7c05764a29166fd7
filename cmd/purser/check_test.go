package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	checkedSite = "schema: deckhand/LayeringPolicy/v1\nmetadata: {schema: metadata/Control/v1, name: lp}\ndata: {layerOrder: [site]}\n" +
		"---\nschema: deckhand/DataSchema/v1\nmetadata: {schema: metadata/Control/v1, name: acme/Widget/v1}\n" +
		"data: {$schema: 'http://json-schema.org/schema#', properties: {size: {type: integer, maximum: 100}}}\n"
	checkedWidget = "schema: acme/Widget/v1\nmetadata: {schema: metadata/Document/v1, name: w, storagePolicy: cleartext, " +
		"layeringDefinition: {layer: site}}\ndata:\n  size: "
)

// inFolder writes files to a new folder, which it makes the working directory.
func inFolder(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCheck(t *testing.T) { //nolint:paralleltest // it changes the working directory
	inFolder(t, map[string]string{
		"site/base.yaml": checkedSite, "site/w.yaml": checkedWidget + "1\n", "wrong/w.yaml": checkedWidget + "101\n",
		"gadget/g.yaml": strings.Replace(checkedWidget, "Widget", "Gadget", 1) + "1\n", "known.yaml": "findings: []\n", "newer.yaml": "version: 9\nfindings: []\n",
		"none/site.yamll": checkedSite, "other/values.yaml": "a: 1\n", "empty/empty.yaml": "# none\n",
		"schema/s.yaml":    strings.SplitAfter(checkedSite, "---\n")[1],
		"../site/v.yaml":   strings.Replace(checkedWidget, "name: w", "name: v", 1) + "1\n",
		"own/.purser.yaml": "fail-on: warning\nschemas: [../site]\nignore: [rendered-schema]\n",
		"own/base.yaml":    strings.SplitAfter(checkedSite, "---\n")[0] + strings.Replace(checkedWidget, "Widget", "Gadget", 1) + "1\n",
	})
	const wrong = "wrong/w.yaml:4:9: error: [acme/Widget/v1, site] w .data.size: 101 is greater than the maximum of 100 [schema]\n" +
		" 4 |   size: 101\n   |         ^\n   = help: use a number that the schema allows\n"
	for _, c := range []struct {
		args, stdout, stderr string // the beginnings of the output
		code                 int
	}{
		{"site", "3 documents, 0 errors, 0 warnings\n", "", 0},
		{"site/base.yaml wrong", wrong + "3 documents, 1 error, 0 warnings\n", "", 1},
		{"site/base.yaml wrong --ignore schema", "3 documents, 0 errors, 0 warnings\n", "", 0},
		{"site/base.yaml wrong --select duplicate-key", "3 documents, 0 errors, 0 warnings\n", "", 0},
		{"site/base.yaml gadget -o github", "::warning file=gadget/g.yaml", "", 0},
		{"site/base.yaml gadget -o github --fail-on warning", "::warning file=gadget/g.yaml", "", 1},
		{"site/base.yaml gadget --fail-on info", "gadget/g.yaml:1:9: warning", "", 1},
		{"site/base.yaml wrong --write-baseline --baseline known.yaml", "1 finding written to known.yaml\n", "", 0},
		{"site/base.yaml wrong --baseline known.yaml", "3 documents, 0 errors, 0 warnings, 1 in the baseline\n", "", 0},
		{"own", "own/base.yaml:5:9: warning", "", 1},
		{"own --fail-on error", "own/base.yaml:5:9: warning", "", 0},
		{"site --render -", "---\nschema: deckhand/LayeringPolicy/v1\n", "3 documents, 0 errors", 0},
		{"site --render out --bucket-by file", "3 documents", "", 0},
		{"site/base.yaml wrong --render out2", "wrong/w.yaml", "purser: nothing is rendered", 1},
		{"site --render . --bucket-by file", "3 documents", "purser: rendered documents are not written: site/base.yaml is one", 2},
		{
			"site ../site --render out3 --bucket-by folder", "4 documents",
			"purser: rendered documents are not written: the documents of site would be written to out3/site.yaml, as others", 2,
		},
		{"--list-rules", "file                    A file cannot be read.", "", 0},
		{"-", "", "purser: nothing was checked: there is no document in the standard input\n", 2},
		{"- --allow-empty", "skipped: 1 file without documents: -\n0 documents", "", 0},
		{"site -", "skipped: 1 file without documents: -\n3 documents", "", 0},
		{"none", "", "purser: nothing was checked: there is no document in none\nName the files", 2},
		{"none -o junit", "", "purser: nothing was checked: there is no document in none\n", 2},
		{"none -o json --allow-empty", "{", "", 0},
		{"other", "", "purser: nothing was checked: there is no document in other; without documents: other/values.yaml\n", 2},
		{"empty/empty.yaml", "", "purser: nothing was checked: there is no document in empty/empty.yaml\n", 2},
		{"site --exclude *", "", "purser: nothing was checked: there is no document in site; excluded: site/base.yaml, site/w.yaml\n", 2},
		{"none --schemas site", "", "purser: nothing was checked: there is no document in none\n", 2},
		{"site --schemas none", "", "purser: nothing was checked: there is no DataSchema in none, which --schemas names\nName the files", 2},
		{"site --schemas wrong", "", "purser: nothing was checked: there is no DataSchema in wrong", 2},
		{"site --schemas none --allow-empty", "3 documents", "", 0},
		{"site --schemas none --schemas site", "3 documents", "", 0},
		{"none --write-baseline --baseline none.yaml", "", "purser: nothing was checked", 2},
		{"none --murano", "", "purser: there is no package", 2},
		{"none --murano --allow-empty", "No errors", "", 0},
		{"--murano", "", "purser: there is no package in \".\"", 2},
		{"nowhere", "", "purser: nowhere: no such file or directory\n", 2},
		{"site --format xml", "", "purser: --format: \"xml\" is none of text, json,", 2},
		{"site --select shcema", "", "purser: there is no rule \"shcema\": did you mean schema?\n", 2},
		{"site --exclude a[", "", "purser: the pattern \"a[\"", 2},
		{"site --baseline gone.yaml", "", "purser: read the baseline: open gone.yaml: ", 2},
		{"site --baseline newer.yaml", "", "purser: newer.yaml: this is not a baseline as this version writes it: unknown option " +
			"\"version\"; the options are document, file, findings, message, path, rule\nWrite it anew with --write-baseline\n", 2},
		{"- -", "", "purser: nothing was checked", 2},
		{"schema/s.yaml --render -", "", "1 document, 0 errors, 0 warnings\npurser: nothing is rendered: the documents do not", 1},
		{"site --write-baseline", "", "purser: --write-baseline needs --baseline FILE", 2},
		{"site --write-baseline --baseline site/w.yaml", "", "purser: site/w.yaml is no baseline, and is not overwritten", 2},
		{"site --bucket-by day --fail-on never", "", "purser: --fail-on: \"never\" is none of error, warning, info\n--bucket-by: ", 2},
	} {
		stdout, stderr, code := purser(t, append([]string{"check"}, strings.Fields(c.args)...)...)
		if !strings.HasPrefix(stdout, c.stdout) || !strings.HasPrefix(stderr, c.stderr) || code != c.code ||
			c.stdout == "" && stdout != "" || c.stderr == "" && stderr != "" {
			t.Errorf("check %s: exit code %d, want %d\n%s%s", c.args, code, c.code, stdout, stderr)
		}
	}
	if text, err := os.ReadFile("out/site/w.yaml"); err != nil || !strings.Contains(string(text), "size: 1") {
		t.Errorf("rendered: %q, %v", text, err)
	}
	if _, err := os.Stat("out2"); err == nil {
		t.Error("documents that do not conform were rendered")
	}
}

// shared is a buffer that one goroutine reads while another one writes to it.
type shared struct {
	mu sync.Mutex
	bytes.Buffer
}

func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Buffer.Write(p)
}

func (s *shared) has(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Contains(s.Buffer.String(), text)
}

// In watch mode, each change is checked, and a path that disappears for a while is waited for.
func TestCheck_watch(t *testing.T) { //nolint:paralleltest // it changes the working directory
	inFolder(t, map[string]string{"site/base.yaml": checkedSite, "site/w.yaml": checkedWidget + "1\n"})
	ctx, cancel := context.WithCancel(t.Context())
	var out, errs shared
	ended := make(chan int)
	go func() {
		ended <- run(ctx, []string{"check", "site", "--watch"}, surroundings{stdin: strings.NewReader(""), stdout: &out, stderr: &errs})
	}()
	await := func(in *shared, text string) {
		t.Helper()
		for until := time.Now().Add(time.Minute); !in.has(text); time.Sleep(time.Millisecond) {
			if time.Now().After(until) {
				t.Fatalf("%q is not printed", text)
			}
		}
	}
	await(&out, "3 documents, 0 errors")
	if err := os.WriteFile("site/w.yaml", []byte(checkedWidget+"10001\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	await(&out, "10001 is greater")
	if err := os.Rename("site", "away"); err != nil {
		t.Fatal(err)
	}
	await(&errs, "site: no such file or directory")
	if err := os.Mkdir("site", 0o700); err != nil {
		t.Fatal(err)
	}
	await(&errs, "nothing was checked: there is no document in site")
	if err := os.Remove("site"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("away/w.yaml", []byte(checkedWidget+"123456\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename("away", "site"); err != nil {
		t.Fatal(err)
	}
	await(&out, "123456 is greater")
	cancel()
	if code := <-ended; code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// The command needs no database, and has none in it.
func TestCheck_packages(t *testing.T) {
	t.Parallel()
	list, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.FieldsSeq(string(list)) {
		if strings.Contains(name, "pgx") || strings.Contains(name, "internal/store") || name == "database/sql" {
			t.Errorf("the command holds %s", name)
		}
	}
}
