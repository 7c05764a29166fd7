package folder

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/check"
	"purser/internal/document"
)

// tree writes files, by their paths with slashes, below a new folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Lines of the request body can be traced back to the files, whatever these begin and end with.
func TestBody_Place(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{
		"a.yaml":      "# only a comment\n---\na: 1\nb: 2\n---\n\nc: 3",
		"b.yml":       "d: 4\r\ne: 5\r\n...\n",
		"c.json":      "[\n {\"f\": 6},\n {\"g\": 7}]",
		"d.yaml":      "- h: 8\n- i: 9\n",
		"e.yaml":      "%TAG ! x\n---\nj: 10\n",
		"f.yaml":      "\ufeffk: 11\n---\n",
		"notes.txt":   "not: read",
		".git/x.yaml": "not: read",
		"empty.yaml":  "# nothing\n",
	})
	var paths []string // named files need not contain documents
	for _, name := range []string{"a.yaml", "b.yml", "c.json", "d.yaml", "e.yaml", "empty.yaml", "f.yaml"} {
		paths = append(paths, filepath.Join(dir, name))
	}
	b, err := Read(t.Context(), paths, nil)
	if err != nil {
		t.Fatal(err)
	}
	places := map[string]string{}
	for i, line := range strings.Split(strings.TrimSuffix(string(b.Text), "\n"), "\n") {
		if line = strings.Trim(line, "\ufeff \r"); line != "" && !strings.HasPrefix(line, "---") && line != "..." {
			places[line], _ = filepath.Rel(dir, b.Place(i+1, 3))
		}
	}
	want := map[string]string{
		"# only a comment": "a.yaml:1:3", "a: 1": "a.yaml:3:3", "b: 2": "a.yaml:4:3", "c: 3": "a.yaml:7:3",
		"d: 4": "b.yml:1:3", "e: 5": "b.yml:2:3",
		"[": "c.json:1:3", `{"f": 6},`: "c.json:2:3", `{"g": 7}]`: "c.json:3:3", "- h: 8": "d.yaml:1:3", "- i: 9": "d.yaml:2:3",
		"%TAG ! x": "e.yaml:1:3", "j: 10": "e.yaml:3:3", "k: 11": "f.yaml:1:3",
	}
	if diff := cmp.Diff(want, places); diff != "" {
		t.Errorf("places (-want +got):\n%s\n%s", diff, b.Text)
	}
	if got := b.Place(0, 0); got != "" {
		t.Errorf("line 0, of no file, is at %s", got)
	}
	if got, _ := filepath.Rel(dir, b.Place(4, 0)); got != "a.yaml:3" {
		t.Errorf("a line without a column is at %s", got)
	}
	if got, want := b.At(4, 9), (check.Place{File: paths[0], Line: 3, Column: 9}); got != want {
		t.Errorf("it is at %+v, want %+v", got, want)
	}
	said := strings.ReplaceAll(b.Located("document 2 (from line 6), line 8, column 3: no"), dir+"/", "")
	if want := "document 2 (from a.yaml:5), a.yaml:7:3: no"; said != want {
		t.Errorf("%q, want %q", said, want)
	}
}

// The server reports the lines of documents and of their mistakes as lines of the body, which Place finds in the files.
func TestBody_Place_documents(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{
		"a.yaml": "# c\n---\na: 1\n--- # d\nb: 2\n", "b.json": "[{\"c\": 3},\n {\"d\": 4}]", "c.yaml": "- e: 5\n-\n- f: 6\n",
		"d.yaml": "%TAG ! x\n---\ng: 7\n---\nh: 8\n", "e.yaml": "---\n- i: 9\n---\n",
	})
	var paths []string // named files need no schema
	for _, name := range []string{"a.yaml", "b.json", "c.yaml", "d.yaml", "e.yaml"} {
		paths = append(paths, filepath.Join(dir, name))
	}
	b, err := Read(t.Context(), paths, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, segment := range sentIn(t, b.Text) {
		place, _ := filepath.Rel(dir, b.Place(segment.Line, 0))
		got = append(got, place)
	}
	want := []string{
		"a.yaml:2", "a.yaml:4", "b.json:1", "b.json:2", "c.yaml:1", "c.yaml:3", "d.yaml:3", "d.yaml:5", "e.yaml:2",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("documents (-want +got):\n%s", diff)
	}
}

// sentIn returns the segments of a body as a server splits it.
func sentIn(t failing, body []byte) []document.Segment {
	t.Helper()
	segments, err := document.SplitBody(t.Context(), body, document.YAML, document.DefaultLimits(), true)
	if err != nil {
		t.Fatalf("%v\n%s", err, body)
	}
	return segments
}

// failing is a test, also one of rapid.
type failing interface {
	Helper()
	Context() context.Context
	Fatalf(format string, args ...any)
}

// Each file of a change set names its bucket, and its documents are as they are.
func TestReadChangeSet(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{
		"b%2F1/x.yaml":   "---\nschema: 1\n---\n# c\n'b': |+\n  text\n\n--- {c: 3}\n---\nstatus: {bucket: other}\nd: 4\n",
		"two/in/y.json":  `[{"schema": 5}]`,
		"none/README.md": "no documents", "none/values.yaml": "replicas: 2\n---\nkind: Pod\napiVersion: v1\nmetadata: {name: x}\n",
	})
	read, err := readBuckets(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"none"}, read.empty); diff != "" {
		t.Errorf("buckets without documents (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{dir + "/none/values.yaml"}, read.skipped); diff != "" {
		t.Errorf("files without documents (-want +got):\n%s", diff)
	}
	var got []string
	for _, segment := range sentIn(t, bodyOf(read).Text) {
		entry, err := document.Decode(t.Context(), segment, document.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, segment.Bucket+" "+segment.Source.Path+" "+string(document.AppendJSON(nil, entry.Value)))
	}
	want := []string{
		`b/1 x.yaml {"schema":1}`, `b/1 x.yaml {"b":"text\n\n"}`, `b/1 x.yaml {"c":3}`,
		`b/1 x.yaml {"status":{"bucket":"other"},"d":4}`, `two in/y.json {"schema":5}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("documents (-want +got):\n%s", diff)
	}
}

// The path of a file is relative to the folder that has everything that the user has named.
func TestRead_paths(t *testing.T) {
	t.Parallel()
	long := func(n int) string {
		return strings.Repeat(strings.Repeat("é", 100)+"/", 4) + strings.Repeat("m", n-404-len(".yaml")) + ".yaml"
	}
	dir := tree(t, map[string]string{
		"a/x.yaml": "schema: 1\n", "a/in/y.yml": "schema: 1\n", "b/z.json": "{}", "c/it's #1 ü.yaml": "schema: 1\n", "c/\"q\".yaml": "schema: 1\n",
		"c/tab\t.yaml": "schema: 1\n", "c/.h/v.yaml": "schema: 1\n", "d/text": "schema: 1\n", "e/" + long(500): "schema: 1\n", "e/" + long(501): "schema: 1\n",
	})
	for paths, want := range map[string][]string{
		"a":             {"in/y.yml", "x.yaml"},
		"a/x.yaml":      {"x.yaml"},
		"a b/z.json":    {"a/in/y.yml", "a/x.yaml", "b/z.json"},
		"b/z.json - a":  {"b/z.json", "", "a/in/y.yml", "a/x.yaml"},
		"a/in a":        {"in/y.yml", "x.yaml"},
		"- a/x.yaml":    {"", "x.yaml"},
		"-":             {""},
		"c":             {`"q".yaml`, "it's #1 ü.yaml", ""}, // a tab is not printed
		"c/.h a/x.yaml": {"", "a/x.yaml"},                   // a hidden file was named
		"c/.h/v.yaml":   {"v.yaml"},
		"d/text":        {""}, // a push of the folder would not read it
		"e":             {long(500), ""},
		"e a/x.yaml":    {"", "", "a/x.yaml"}, // 502 and 503 characters
	} {
		var names []string
		for name := range strings.FieldsSeq(paths) {
			if name != "-" {
				name = filepath.Join(dir, name)
			}
			names = append(names, name)
		}
		read, err := readAll(t.Context(), &check.Reader{Stdin: strings.NewReader("schema: 1\n")}, names, "")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, file := range read.files {
			got = append(got, file.Path)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("push b %s (-want +got):\n%s", paths, diff)
		}
	}
}

// A link to a folder is a bucket too, and a link to a document is in none.
func TestReadChangeSet_links(t *testing.T) {
	t.Parallel()
	elsewhere := tree(t, map[string]string{"shared/x.yaml": "schema: 1\n"})
	dir := tree(t, map[string]string{"own/y.yaml": "schema: 2\n"})
	if err := os.Symlink(filepath.Join(elsewhere, "shared"), filepath.Join(dir, "linked")); err != nil {
		t.Skip(err)
	}
	read, err := readBuckets(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, file := range read.files {
		got = append(got, file.Bucket)
	}
	if diff := cmp.Diff([]string{"linked", "own"}, got); diff != "" {
		t.Errorf("buckets (-want +got):\n%s", diff)
	}
	if err := os.Symlink(filepath.Join(elsewhere, "shared", "x.yaml"), filepath.Join(dir, "x.yaml")); err != nil {
		t.Fatal(err)
	}
	if _, err := readBuckets(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "is in no folder of") {
		t.Errorf("a linked document in no bucket: %v", err)
	}
}

// Files excluded by .purser.yaml are in no change set, however they are named.
func TestReadChangeSet_excludes(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{
		".purser.yaml": "exclude: [charts, site/b.yaml, '*.tmpl.yaml', top.yaml]\n", "charts/x.yaml": "x: 1\n", "top.yaml": "x: 1\n",
		"site/a.yaml": "schema: 1\n", "site/b.yaml": "schema: 1\n", "other/b.yaml": "schema: 2\n", "other/c.tmpl.yaml": "{{c}}\n",
	})
	read, err := readBuckets(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, file := range read.files {
		got = append(got, file.Bucket+" "+file.Path)
	}
	if diff := cmp.Diff([]string{"other b.yaml", "site a.yaml"}, got); diff != "" || read.empty != nil {
		t.Errorf("buckets and files (-want +got), without documents %v:\n%s", read.empty, diff)
	}
	want := "excluded by .purser.yaml: charts, other/c.tmpl.yaml, site/b.yaml, top.yaml"
	if got := strings.ReplaceAll(strings.Join(read.notices(), "\n"), dir+"/", ""); got != want {
		t.Errorf("said %q, want %q", got, want)
	}
}

// Duplicate keys are reported before the push; those of encrypted documents are not named.
func TestRead_duplicateKeys(t *testing.T) {
	t.Parallel()
	const text = "metadata: {storagePolicy: %s}\ndata:\n  %s: 1\n  %[2]s: 2\n"
	dir := tree(t, map[string]string{
		"a.yaml": "x: 1\n---\n" + fmt.Sprintf(text, "cleartext", "shown"), "b.yaml": fmt.Sprintf(text, "encrypted", "hidden"),
	})
	b, err := Read(t.Context(), []string{dir}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"warning: " + dir + "/a.yaml: The key 'shown' appears twice in one mapping, at lines 5 and 6; the last one wins.",
		"warning: " + dir + "/b.yaml: A key appears twice in one mapping, at lines 3 and 4; the last one wins.",
	}
	if diff := cmp.Diff(want, b.Notices); diff != "" {
		t.Errorf("notices (-want +got):\n%s", diff)
	}
}

func TestRead_errors(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{"bad.yaml": "a: 1\n---\nb: [1,\nc: 2\n", "bad.json": "[1, 2", "lone.yaml": "a: 1\n", "wide.yaml": "\xff\xfea\x00"})
	for path, want := range map[string]string{
		"bad.yaml": "bad.yaml: document 2, line ", "bad.json": "bad.json: line 1, column 5: the text ends early", "none.yaml": "no such file",
		// As a server refuses it, and so purser check.
		"wide.yaml": "wide.yaml: line 1: the text is UTF-16; it must be UTF-8: convert it with iconv",
	} {
		_, err := Read(t.Context(), []string{filepath.Join(dir, path)}, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q in it", path, err, want)
		}
	}
	if _, err := ReadChangeSet(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "is in no folder of") {
		t.Errorf("a document in no folder: error %v", err)
	}
	if _, err := ReadChangeSet(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "has no folders") {
		t.Errorf("an empty change set: error %v", err)
	}
}
