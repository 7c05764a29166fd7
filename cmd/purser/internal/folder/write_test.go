package folder

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/document"
)

// The records of pulls are kept in a folder of the tests.
func TestMain(m *testing.M) {
	cache, err := os.MkdirTemp("", "purser-cache-")
	if err == nil {
		err = os.Setenv("XDG_CACHE_HOME", cache)
	}
	if err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(cache)
	os.Exit(code)
}

// answered returns what a server answers with for the texts of documents.
func answered(parts ...document.File) (body []byte) {
	for _, part := range parts {
		body = document.AppendFile(body, part)
	}
	return body
}

// host returns the text of a document.
func host(name string) string {
	return "---\nschema: acme/Host/v1\nmetadata: {name: " + name + "}\n"
}

// secret returns the text of an encrypted document.
func secret(name string) string {
	return "---\nschema: acme/Host/v1\nmetadata: {name: " + name + ", storagePolicy: encrypted}\n"
}

func part(bucket, path string, line int, text string) document.File {
	return document.File{Bucket: bucket, Path: path, Line: line, Text: []byte(text)}
}

// Documents whose file is not known get files that are named after them.
func TestFilesOf_alone(t *testing.T) {
	t.Parallel()
	doc := func(bucket, schema, layer, name string) document.File {
		return part(bucket, "", 0, fmt.Sprintf("schema: %q\nmetadata: {name: %q, layeringDefinition: {layer: %q}}\n", schema, name, layer))
	}
	files, _, err := filesOf(t.Context(), answered(
		doc("site", "acme/Host/v1", "global", "a"), doc("site", "acme/Host/v1", "site", "a"),
		doc("site", "acme/Host/v2", "site", "A"), doc("site", "other/host/v1", "site", "b"),
		doc("..", "acme/Host/v1", "site", "../../x"), doc("site", "odd", "", strings.Repeat("n", 255)),
		doc(strings.Repeat("b", 255), strings.Repeat("k", 198)+"..k", "", "c"),
		document.File{Bucket: "site", JSON: true, Text: []byte(`{"schema": "acme/Host/v1", "metadata": {"name": "j"}}`)},
		part("site", "", 0, host("two")+host("three")),
	))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"site/Host/a.yaml", "site/Host/a~2.yaml", "site/Host/A~3.yaml", "site/Host/b.yaml", "site/Host/j.json",
		"site/Host/two.yaml", "%2E%2E/Host/%2E.%2F..%2Fx.yaml", "site/odd/" + strings.Repeat("n", 200) + ".yaml",
		strings.Repeat("b", 255) + "/" + strings.Repeat("k", 198) + "/c.yaml",
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(files))); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// The parts of a file make up the file, in whichever order they come. What is missing, or is in another form, does not
// take the others out of it.
func TestFilesOf_composed(t *testing.T) {
	t.Parallel()
	a, b, c := "# of a\nschema: acme/Host/v1\nmetadata: {name: a}\n", "# of b\n"+host("b"), "...\n"+host("c")+"# end"
	canonical := part("site", "x.yaml", 4, strings.TrimPrefix(secret("b"), "---\n"))
	canonical.Why = "secret"
	json := document.File{Bucket: "site", Path: "x.json", Line: 1, JSON: true, Text: []byte("[\n" + `{"schema": "acme/Host/v1", "metadata": {"name": "j"}}, null]`)}
	inYAML := json
	inYAML.Path = "x.yaml"
	ofJSON := canonical
	ofJSON.Path = "x.json"
	for name, of := range map[string]struct {
		parts []document.File
		want  map[string]string
	}{
		"in order":  {[]document.File{part("site", "x.yaml", 1, a), part("site", "x.yaml", 4, b), part("site", "x.yaml", 8, c)}, map[string]string{"site/x.yaml": a + b + c}},
		"reversed":  {[]document.File{part("site", "x.yaml", 8, c), part("site", "x.yaml", 4, b), part("site", "x.yaml", 1, a)}, map[string]string{"site/x.yaml": a + b + c}},
		"no second": {[]document.File{part("site", "x.yaml", 1, a), part("site", "x.yaml", 8, c)}, map[string]string{"site/x.yaml": a + c}},
		"no first":  {[]document.File{part("site", "x.yaml", 4, b), part("site", "x.yaml", 8, c)}, map[string]string{"site/x.yaml": b + c}},
		"an end without a line end, then another": {
			[]document.File{part("site", "x.yaml", 1, c), part("site", "x.yaml", 3, b)}, map[string]string{"site/x.yaml": c + "\n" + b},
		},
		"no marker between": {[]document.File{part("site", "x.yaml", 1, a), part("site", "x.yaml", 9, a)}, map[string]string{"site/x.yaml": a + "---\n" + a}},
		"one in canonical form": {
			[]document.File{part("site", "x.yaml", 1, a), canonical, part("site", "x.yaml", 8, c)},
			map[string]string{"site/x.yaml": a + secret("b") + c},
		},
		"JSON":                   {[]document.File{json}, map[string]string{"site/x.json": string(json.Text)}},
		"JSON in YAML":           {[]document.File{inYAML}, map[string]string{"site/x.yaml": string(json.Text)}},
		"a canonical one of it":  {[]document.File{ofJSON}, map[string]string{"site/Host/b.yaml": string(ofJSON.Text)}},
		"of another name":        {[]document.File{part("site", "x.txt", 1, a)}, map[string]string{"site/Host/a.yaml": a}},
		"hidden":                 {[]document.File{part("site", ".git/x.yaml", 1, a)}, map[string]string{"site/Host/a.yaml": a}},
		"too long for a file":    {[]document.File{part("site", strings.Repeat("x", 251)+".yaml", 1, a)}, map[string]string{"site/Host/a.yaml": a}},
		"in a folder and a file": {[]document.File{part("site", "x.yaml", 1, a), part("site", "x.yaml/y.yaml", 1, b)}, map[string]string{"site/x.yaml": a, "site/Host/b.yaml": b}},
		"differ in case":         {[]document.File{part("site", "X.yaml", 1, a), part("site", "x.yaml", 1, b)}, map[string]string{"site/X.yaml": a, "site/Host/b.yaml": b}},
		"buckets":                {[]document.File{part("a/b", "x.yaml", 1, a), part("c", "x.yaml", 1, b)}, map[string]string{"a%2Fb/x.yaml": a, "c/x.yaml": b}},
	} {
		files, canonical, err := filesOf(t.Context(), answered(of.parts...))
		got := map[string]string{}
		for name, file := range files {
			got[name] = string(file.text)
		}
		if diff := cmp.Diff(of.want, got); diff != "" || err != nil || len(canonical) != strings.Count(name, "canonical") {
			t.Errorf("%s: %v canonical, error %v (-want +got):\n%s", name, canonical, err, diff)
		}
	}
	for text, want := range map[string]string{
		"<html>": "as this version of purser expects", "--- # purser: {\n": "not valid JSON",
		string(answered(part("", "x.yaml", 1, host("x")))): "names no bucket",
	} {
		if _, _, err := filesOf(t.Context(), []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// If a bucket has too long a name for a folder, the error names it, and no file is written or deleted.
func TestPlanPull_longBucket(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 43) // 258 characters when escaped
	for _, path := range []string{"", "x.yaml"} {
		plan, err := PlanPull(t.Context(), t.TempDir(), answered(part("a", path, 1, host("x")), part(long, path, 1, host("x"))), all())
		if err == nil || !strings.Contains(err.Error(), "bucket "+long+" ") || len(plan.Written) > 0 {
			t.Errorf("%v is written, error %v, want one that names the bucket", plan.Written, err)
		}
	}
}

// revision returns the documents of a revision: three of bucket site, two of them from one file, and one of bucket a/b.
func revision() []byte {
	return answered(part("site", "", 0, host("x")), part("site", "in/z.yaml", 1, host("z")), part("site", "in/z.yaml", 4, host("zz")),
		part("a/b", "", 0, secret("y")))
}

func all() Allowed { return Allowed{Replace: true, Encrypted: true} }

// pull carries out a pull.
func pull(t *testing.T, dir string, submitted []byte, allowed Allowed) (Pull, error) {
	t.Helper()
	plan, err := PlanPull(t.Context(), dir, submitted, allowed)
	if err != nil {
		return plan, err
	}
	unrecorded, err := plan.Write()
	if unrecorded != nil {
		t.Errorf("unrecorded: %v", unrecorded)
	}
	return plan, err
}

// inFolder returns the texts of the files in a folder.
func inFolder(t failing, dir string) map[string]string {
	t.Helper()
	texts := map[string]string{}
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil || !info.Mode().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		texts[filepath.ToSlash(name)] = string(text)
		return err
	})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return texts
}

// What is written is read again as the same documents in the same buckets. The next pull replaces it, and deletes what
// is not in its revision.
func TestPull_isReadAgain(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	plan, err := pull(t, dir, revision(), Allowed{Encrypted: true})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"a%2Fb/Host/y.yaml": secret("y"), "site/Host/x.yaml": host("x"), "site/in/z.yaml": host("z") + host("zz"),
	}
	if diff := cmp.Diff(want, inFolder(t, dir)); diff != "" || len(plan.Written) != len(want) {
		t.Fatalf("files (-want +got), written %v:\n%s", plan.Written, diff)
	}
	for name := range want {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || (info.Mode() == 0o600) != (name == "a%2Fb/Host/y.yaml") {
			t.Errorf("%s has the mode %v, error %v", name, info.Mode(), err)
		}
	}
	body, err := ReadChangeSet(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, segment := range sentIn(t, body.Text) {
		entry, err := document.Decode(t.Context(), segment, document.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, segment.Bucket+" "+document.Locate(entry.Value, []string{"metadata", "name"}).(string))
	}
	if diff := cmp.Diff([]string{"a/b y", "site x", "site z", "site zz"}, got); diff != "" {
		t.Errorf("documents (-want +got):\n%s", diff)
	}
	if _, err := PlanPull(t.Context(), dir, nil, Allowed{}); err == nil {
		t.Error("a folder with documents is overwritten without --replace")
	}
	plan, err = pull(t, dir, answered(part("site", "in/z.yaml", 1, host("other"))), all())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a%2Fb/Host/y.yaml", "site/Host/x.yaml"}, plan.Deleted); diff != "" {
		t.Errorf("deleted (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"site/in/z.yaml": host("other")}, inFolder(t, dir)); diff != "" {
		t.Errorf("files after the next pull (-want +got):\n%s", diff)
	}
	if _, err := os.Stat(filepath.Join(dir, "a%2Fb")); !os.IsNotExist(err) {
		t.Errorf("the folder of the old file: %v", err)
	}
}

// A pull replaces and deletes only files that a pull has written, and that are as it has written them.
func TestPlanPull_existing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before     []document.File // of an earlier pull
		file, text string          // written by somebody else then, unless it is ""
		gone       string          // deleted by somebody else then
		blind      bool            // encrypted documents may not be seen
		want       string
	}{
		"documents in a bucket":             {file: "site/any.yml", text: host("x")},
		"documents with the name of a pull": {file: "tests/Host/y.yaml", text: host("y")},
		"no documents":                      {file: "site/values.yaml", text: "a: 1\n"},
		"hidden":                            {file: "site/.x.yaml", text: host("x")},
		"of an earlier pull":                {before: []document.File{part("tests", "q.yaml", 1, host("q"))}, file: "tests/q.yaml", want: "delete"},
		"changed since":                     {before: []document.File{part("tests", "q.yaml", 1, host("q"))}, file: "tests/q.yaml", text: host("w"), want: "keep"},
		"deleted since":                     {before: []document.File{part("tests", "q.yaml", 1, host("q"))}, gone: "tests/q.yaml"},
		"deleted since, again there":        {before: []document.File{part("site", "in/z.yaml", 1, host("q"))}, file: "site/in/z.yaml", gone: "site/in/z.yaml", want: "replace"},
		"of the last pull":                  {before: []document.File{part("site", "in/z.yaml", 1, host("q"))}, file: "site/in/z.yaml", want: "replace"},
		"changed since, in the way":         {before: []document.File{part("site", "in/z.yaml", 1, host("q"))}, file: "site/in/z.yaml", text: host("w"), want: "refuse"},
		"in the way":                        {file: "site/in/z.yaml", text: host("w"), want: "refuse"},
		"equal already":                     {file: "site/in/z.yaml", text: host("z") + host("zz"), want: "replace"},
		"encrypted":                         {before: []document.File{part("tests", "q.yaml", 1, secret("q"))}, file: "tests/q.yaml", want: "delete"},
		"encrypted, not seen":               {before: []document.File{part("tests", "q.yaml", 1, host("r")), part("tests", "q.yaml", 4, secret("q"))}, file: "tests/q.yaml", blind: true},
		"encrypted, not seen, in the way":   {before: []document.File{part("site", "in/z.yaml", 1, secret("q"))}, file: "site/in/z.yaml", blind: true, want: "refuse"},
		"a folder in the way":               {file: "site/in/z.yaml/y.txt", text: "y", want: "refuse"},
		"a file in the way of a folder":     {file: "site/in", text: "y", want: "refuse"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "new")
			if c.before != nil {
				if _, err := pull(t, dir, answered(c.before...), all()); err != nil {
					t.Fatal(err)
				}
			}
			at := filepath.Join(dir, c.file)
			if c.text != "" {
				if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(c.text), 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			if c.gone != "" {
				if err := os.Remove(filepath.Join(dir, c.gone)); err != nil {
					t.Fatal(err)
				}
			}
			before := inFolder(t, dir)
			plan, err := PlanPull(t.Context(), dir, revision(), Allowed{Replace: true, Encrypted: !c.blind})
			got := ""
			switch {
			case err != nil:
				got = "refuse"
			case slices.Contains(plan.Deleted, c.file):
				got = "delete"
			case slices.Contains(plan.Written, c.file):
				got = "replace"
			case slices.Contains(plan.Kept, c.file):
				got = "keep"
			}
			if got != c.want || len(plan.Deleted) > 1 || len(plan.Kept) > 1 {
				t.Errorf("%q, want %q: %v", got, c.want, err)
			}
			if err != nil {
				if !strings.Contains(err.Error(), "Nothing was written") {
					t.Error(err)
				}
				return
			}
			if _, err := plan.Write(); err != nil {
				t.Fatal(err)
			}
			delete(before, c.gone)
			if c.want != "" && c.want != "keep" {
				delete(before, c.file)
			}
			after := inFolder(t, dir)
			for _, name := range plan.Written {
				delete(after, name)
			}
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("other files (-before +after):\n%s", diff)
			}
		})
	}
}

// What has changed between the plan of a pull and the pull is kept.
func TestPull_changedMeanwhile(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	if _, err := pull(t, dir, answered(part("site", "a.yaml", 1, host("a")), part("site", "b.yaml", 1, host("b"))), all()); err != nil {
		t.Fatal(err)
	}
	plan, err := PlanPull(t.Context(), dir, answered(part("site", "a.yaml", 1, host("c"))), all())
	if err != nil || len(plan.Deleted) != 1 {
		t.Fatalf("deletes %v, error %v", plan.Deleted, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "site", "b.yaml"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Write(); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"site/a.yaml": host("c"), "site/b.yaml": "mine"}
	if diff := cmp.Diff(want, inFolder(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	again, err := PlanPull(t.Context(), dir, answered(part("site", "a.yaml", 1, host("d"))), all())
	if diff := cmp.Diff([]string{"site/b.yaml"}, again.Kept); diff != "" || err != nil {
		t.Errorf("kept by the next pull (-want +got), error %v:\n%s", err, diff)
	}
	if err := os.WriteFile(filepath.Join(dir, "site", "a.yaml"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := again.Write(); err == nil || !strings.Contains(err.Error(), "Nothing was written") {
		t.Errorf("a file that is changed meanwhile is replaced: %v", err)
	}
}

// Links are not followed out of the folder, and a link in the way of a file is not replaced.
func TestPull_links(t *testing.T) {
	t.Parallel()
	for link, target := range map[string]string{
		"site": ".", "site/Host": ".", "site/Host/x.yaml": "x.yaml", "site/in": ".", "site/in/z.yaml": "kept/z.yaml",
	} {
		outside := tree(t, map[string]string{"x.yaml": "schema: acme/Host/v1\nmetadata: {name: x}\n", "kept/z.yaml": "z: 1\n"})
		dir := tree(t, map[string]string{"a/b.txt": ""})
		at := filepath.Join(dir, link)
		err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.Symlink(filepath.Join(outside, target), at))
		if err != nil {
			t.Fatal(err)
		}
		_, err = PlanPull(t.Context(), dir, revision(), all())
		entries, _ := os.ReadDir(outside)
		text, _ := os.ReadFile(filepath.Join(outside, "x.yaml"))
		if err == nil || !strings.Contains(err.Error(), "Nothing was written") || len(entries) != 2 || !strings.HasPrefix(string(text), "schema") {
			t.Errorf("%s: error %v, outside there are %v, x.yaml is %q", link, err, entries, text)
		}
	}
}

// A target that is itself a link is the folder that it leads to, and a link within the target leads nowhere else.
func TestPull_linkedTarget(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{"target/a.txt": "", "moved/a.txt": "", "beside/site/Host/old.yaml": host("old")})
	link := filepath.Join(dir, "link")
	if err := os.Symlink("target", link); err != nil {
		t.Fatal(err)
	}
	if _, err := pull(t, link, answered(part("site", "old.yaml", 1, host("old"))), all()); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../../moved", filepath.Join(dir, "target", "site", "Thing")); err != nil {
		t.Fatal(err)
	}
	// It is the same folder by its own name.
	plan, err := pull(t, filepath.Join(dir, "target"), revision(), all())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"site/old.yaml"}, plan.Deleted); diff != "" {
		t.Errorf("deleted (-want +got):\n%s", diff)
	}
	for name, want := range map[string]bool{
		"target/site/Host/x.yaml": true, "target/site/old.yaml": false, "target/a.txt": true, "moved/a.txt": true,
		"target/site/Thing": true, "beside/site/Host/old.yaml": true, "beside/site/Host/x.yaml": false, "site": false,
	} {
		if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name))); (err == nil) != want {
			t.Errorf("%s: %v, want it %v", name, err, want)
		}
	}
}

// A pull that fails leaves each file with its old or its new content, deletes none and leaves nothing else. The next one
// replaces what it has written.
func TestPull_fails(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	a, old := part("site", "a.yaml", 1, host("a")), part("site", "old.yaml", 1, host("old"))
	if _, err := pull(t, dir, answered(a, part("site", "z/z.yaml", 1, host("z")), old), all()); err != nil {
		t.Fatal(err)
	}
	a.Text = []byte(host("b"))
	next := answered(a, part("site", "z/z.yaml", 1, host("y")))
	plan, err := PlanPull(t.Context(), dir, next, all())
	if err != nil {
		t.Fatal(err)
	}
	closed := filepath.Join(dir, "site", "z")
	if err := os.Chmod(closed, 0o500); err != nil {
		t.Fatal(err)
	}
	if os.WriteFile(filepath.Join(closed, "x"), nil, 0o600) == nil {
		t.Skip("this user may write to all folders")
	}
	unrecorded, err := plan.Write()
	if err == nil || unrecorded != nil {
		t.Fatalf("error %v, unrecorded %v", err, unrecorded)
	}
	want := map[string]string{"site/a.yaml": host("b"), "site/z/z.yaml": host("z"), "site/old.yaml": host("old")}
	if diff := cmp.Diff(want, inFolder(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if err := os.Chmod(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	if plan, err = pull(t, dir, next, all()); err != nil || len(plan.Deleted) != 1 {
		t.Errorf("the next pull deletes %v, error %v", plan.Deleted, err)
	}
}

// Without a cache, a pull writes, says so, and replaces nothing.
func TestPull_unrecorded(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("HOME", "")
	dir := filepath.Join(t.TempDir(), "new")
	plan, err := PlanPull(t.Context(), dir, revision(), Allowed{Encrypted: true})
	if err != nil {
		t.Fatal(err)
	}
	unrecorded, err := plan.Write()
	if err != nil || unrecorded == nil || !strings.Contains(unrecorded.Error(), "XDG_CACHE_HOME") || len(inFolder(t, dir)) != 3 {
		t.Errorf("unrecorded: %v, error %v, files %v", unrecorded, err, inFolder(t, dir))
	}
	if _, err := PlanPull(t.Context(), dir, revision(), all()); err == nil || !strings.Contains(err.Error(), "XDG_CACHE_HOME") {
		t.Errorf("with --replace: %v", err)
	}
}

// A record that cannot be read is an error that names it; that of another folder does not count.
func TestPlanPull_records(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	if _, err := pull(t, dir, answered(part("site", "a.yaml", 1, host("a"))), all()); err != nil {
		t.Fatal(err)
	}
	name, folder, err := recordOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ text, want string }{
		{string(text), ""},
		{strings.Replace(string(text), folder, "/elsewhere", 1), "in the way"},
		{string(text[:9]), name + ": "},
	} {
		if err := os.WriteFile(name, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := PlanPull(t.Context(), dir, answered(part("site", "a.yaml", 1, host("b"))), all())
		if c.want == "" != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("record %q: error %v, want %q", c.text, err, c.want)
		}
	}
}

// A file of others that has the text to write already stays as it is, and no later pull deletes it.
func TestPull_adoptsNothing(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir := t.TempDir()
	const text = "schema: acme/Host/v1\nmetadata: {name: a}\n"
	own := filepath.Join(dir, "site", "x.yaml")
	if err := os.MkdirAll(filepath.Dir(own), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(own, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, submitted := range []string{string(answered(part("site", "x.yaml", 1, text))), ""} {
		pull, err := PlanPull(t.Context(), dir, []byte(submitted), Allowed{Replace: true, Encrypted: true})
		if err != nil || len(pull.Deleted) > 0 {
			t.Fatalf("deletes %v, error %v", pull.Deleted, err)
		}
		if _, err := pull.Write(); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(own)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Fatalf("the file is %v, %v", info, err)
		}
	}
}
