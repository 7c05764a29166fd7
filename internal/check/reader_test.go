package check_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"purser/internal/check"
)

// tree writes files below a new folder and makes it the working directory.
func tree(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		write(t, name, text)
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// names returns the names of files, with the reason if they cannot be read.
func names(files []check.File) (names []string) {
	for _, file := range files {
		names = append(names, strings.TrimSpace(file.Name+" "+file.Broken))
	}
	return names
}

func TestReader(t *testing.T) { //nolint:paralleltest // it changes the working directory
	tree(t, map[string]string{
		"site/a.yaml": "", "site/b.yml": "", "site/sub/c.JSON": "", "site/d.txt": "", "site/.hidden.yaml": "", "site/.git/e.yaml": "",
		"site/sub/skip.tmpl.yaml": "", "site/charts/x/f.yaml": "", "other.txt": "x",
	})
	for link, to := range map[string]string{
		"site/loop": "../site", "site/again.yaml": "a.yaml", "site/gone.yaml": "nowhere", "site/sub/up": "..",
		"site/gone.txt": "nowhere", "site/round.yaml": "round.yaml",
	} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	reader := &check.Reader{Stdin: strings.NewReader("x: 1"), Exclude: []string{"*.tmpl.yaml", "charts"}}
	files, _, err := reader.Read([]string{"site", "site/a.yaml", "other.txt", "-"}, false)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"site/a.yaml", "site/b.yml", "site/gone.yaml It cannot be read: no such file or directory",
		"site/round.yaml It cannot be read: too many levels of symbolic links", "site/sub/c.JSON", "other.txt", "-",
	}
	if diff := cmp.Diff(want, names(files)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if _, _, err := reader.Read([]string{"nowhere"}, false); err == nil {
		t.Error("a path that does not exist is read")
	}
	if err := check.ParsePatterns([]string{"a[*"}); err == nil {
		t.Error("a malformed pattern is taken")
	}
}

// Files that cannot be read or are too large are Broken.
func TestReader_broken(t *testing.T) { //nolint:paralleltest // it changes the working directory
	tree(t, map[string]string{"site/a.yaml": "", "site/large.yaml": ""})
	if err := os.Truncate("site/large.yaml", 1<<30); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod("site/a.yaml", 0); err != nil {
		t.Fatal(err)
	}
	files, _, err := new(check.Reader).Read([]string{"site"}, false)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"site/a.yaml It cannot be read: permission denied",
		"site/large.yaml It cannot be read: it has 1073741824 bytes, more than the 33554432 of one file that a server takes at once",
	}
	if os.Geteuid() == 0 { // which may read any file
		want[0] = "site/a.yaml"
	}
	if diff := cmp.Diff(want, names(files)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// No part of a standard input that is too large is checked.
func TestReader_stdin(t *testing.T) {
	t.Parallel()
	reader := check.Reader{Stdin: strings.NewReader(strings.Repeat("x: 1\n", 8<<20))}
	files, _, err := reader.Read([]string{"-"}, false)
	if err != nil || len(files) != 1 || files[0].Text != nil || !strings.Contains(files[0].Broken, "more than the 33554432 bytes") {
		t.Errorf("%d files, %v", len(files), err)
	}
}

// Only changed files are read again.
func TestReader_again(t *testing.T) { //nolint:paralleltest // it changes the working directory
	tree(t, map[string]string{"a.yaml": "a: 1", "b.yaml": "b: 1"})
	var reader check.Reader
	read := func() []check.File {
		t.Helper()
		files, _, err := reader.Read([]string{"."}, false)
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	first := read()
	if !check.Same(first, read()) {
		t.Error("the same files differ")
	}
	write(t, "b.yaml", "b: 2")
	if err := os.Chtimes("b.yaml", time.Time{}, time.Unix(1, 0)); err != nil { // whatever the resolution of the clock is
		t.Fatal(err)
	}
	second := read()
	if check.Same(first, second) || string(second[1].Text) != "b: 2" || &second[0].Text[0] != &first[0].Text[0] {
		t.Errorf("read %v", names(second))
	}
	write(t, "c/d.yaml", "")
	if err := os.Remove("a.yaml"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"b.yaml", "c/d.yaml"}, names(read())); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestFindConfig(t *testing.T) { //nolint:paralleltest // it changes the working directory
	tree(t, map[string]string{
		"site/.purser.yaml": "fail-on: warning\nbaseline: known.yaml\nschemas: [../schemas, /x]\n", "bad/.purser.yaml": "fail_on: x\n",
		".purser.yaml": "format: json\n", "empty/.purser.yaml": "# nothing\n", "none/.purser.yaml": "ignore: []\n",
	})
	for path, want := range map[string]check.Config{
		"site":  {FailOn: "warning", Baseline: "site/known.yaml", Schemas: []string{"schemas", "/x"}},
		"empty": {}, "elsewhere": {Format: "json"}, "none": {Ignore: []string{}},
	} {
		got, err := check.FindConfig(t.Context(), []string{path})
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got)\n%s", path, err, diff)
		}
	}
	for text, want := range map[string]string{
		"fail_on: x\n":              `unknown option "fail_on": did you mean fail-on?`,
		"colour: red\n":             `unknown option "colour"; the options are assert-formats, baseline, bucket-by, `,
		"fail-on: [error]\n":        "fail-on: a string is expected, and not a list",
		"ignore: schema\n":          "ignore: a list is expected, and not a string",
		"client-versions: {a: 1}\n": "client-versions: a string is expected, and not a number",
		"assert-formats: 1.5\n":     "assert-formats: true or false is expected, and not a number",
		"- format\n":                "a mapping is expected, and not a list",
		"format: [\n":               "document 1, line 1, column 9: ",
		"format: json\n---\na: 1\n": "one document is expected here",
		"baseline:\n":               "baseline has no value; give it one, or leave it out",
		"format: ''\n":              "format has no value; ",
		"exclude: [a, '']\n":        "an item of exclude has no value; ",
		"client-versions: {a: ~}\n": "client-versions.a has no value; ",
	} {
		write(t, "bad/.purser.yaml", text)
		_, err := check.FindConfig(t.Context(), []string{"bad"})
		if err == nil || !strings.HasPrefix(err.Error(), "bad/.purser.yaml: "+want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// The standard input, like each file, is returned once, and it may be read for its schemas only.
func TestReader_stdinOnce(t *testing.T) {
	t.Parallel()
	reader := &check.Reader{Stdin: strings.NewReader("a: 1")}
	for schemasOnly, paths := range map[bool][]string{false: {"-", "-"}, true: {"-"}} {
		got, _, err := reader.Read(paths, schemasOnly)
		want := []check.File{{Name: "-", Text: []byte("a: 1"), SchemasOnly: schemasOnly}}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: %v (-want +got)\n%s", paths, err, diff)
		}
	}
}

// Rendered documents are written to one file per bucket, inside the folder whatever the bucket's name is.
func TestWriteFolder(t *testing.T) { //nolint:paralleltest // it changes the working directory
	tree(t, map[string]string{
		"out/here/a.yaml": "# Rendered by purser check: the next run replaces this file.\nof an earlier run", "out/here/mine.yaml": "mine",
		"out/kept.yaml": "kept", "in.yaml": "in", "out/here/e.yaml/f": "in a folder",
	})
	link(t, "../../in.yaml", "out/here/link.yaml")
	link(t, "..", "out/here/up")
	link(t, "b", "out/here/also-b")
	for name, c := range map[string]struct {
		buckets []string
		want    string // the files, or the error
	}{
		"names":              {[]string{"a", "b/c", "b/x.yaml", "."}, "a.yaml b/c.yaml b/x.yaml documents.yaml"},
		"above":              {[]string{"../../d", "/abs/g"}, "d.yaml abs/g.yaml"},
		"a link is replaced": {[]string{"link"}, "link.yaml"},
		"above and below":    {[]string{"a", "../a"}, "the documents of a would be written to out/here/a.yaml, as others are"},
		"from the root":      {[]string{"a", "/a"}, "the documents of a would be written to out/here/a.yaml"},
		"with an extension":  {[]string{"a", "a.yaml"}, "the documents of a.yaml would be written to out/here/a.yaml"},
		"a linked folder":    {[]string{"b/c", "also-b/c"}, "/c.yaml, as others are"},
		"a file":             {[]string{"../../out/here/read"}, "out/here/out/here/read.yaml is one of the files"},
		"out by a link":      {[]string{"up/kept"}, "path escapes"},
		"a file of the user": {[]string{"a", "mine"}, "out/here/mine.yaml is there, and is not of an earlier run"},
		"over a folder":      {[]string{"e"}, "the documents of e would be written to out/here/e.yaml"},
	} {
		texts := map[string][]byte{}
		for _, bucket := range c.buckets {
			texts[bucket] = []byte("documents of " + bucket)
		}
		err := check.WriteFolder("out/here", texts, []string{"in.yaml", "out/here/out/here/../here/read.yaml"})
		if err != nil {
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", name, err, c.want)
			}
			continue
		}
		for i, file := range strings.Fields(c.want) {
			got, err := os.ReadFile(filepath.Join("out/here", file))
			if _, text, _ := strings.Cut(string(got), "\n"); text != "documents of "+c.buckets[i] {
				t.Errorf("%s: %s: %q, %v", name, file, got, err)
			}
		}
	}
	for name, want := range map[string]string{"in.yaml": "in", "out/kept.yaml": "kept", "out/here/e.yaml/f": "in a folder", "out/here/mine.yaml": "mine"} {
		if got, err := os.ReadFile(name); string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func link(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Fatal(err)
	}
}
