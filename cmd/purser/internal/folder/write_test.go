package folder

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/document"
	"purser/internal/wire"
)

func TestFilesOf(t *testing.T) {
	t.Parallel()
	doc := func(bucket, schema, layer, name string) Document {
		return Document{Identity: wire.Identity{
			Schema: schema, Layer: wire.Optional(layer), Name: name, Bucket: wire.Optional(bucket),
		}}
	}
	files, err := filesOf([]Document{
		doc("site", "acme/Host/v1", "site", "a"), doc("site", "acme/Host/v1", "global", "a"),
		doc("site", "acme/Host/v2", "site", "A"), doc("site", "other/host/v1", "site", "b"),
		doc("..", "acme/Host/v1", "site", "../../x"), doc("site", "odd", "", strings.Repeat("n", 255)),
		doc(strings.Repeat("b", 255), strings.Repeat("k", 198)+"..k", "", "c"),
	})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for path, doc := range files {
		got[path] = doc.Schema + " " + string(doc.Layer)
	}
	want := map[string]string{
		"site/Host/a.yaml": "acme/Host/v1 global", "site/Host/a~2.yaml": "acme/Host/v1 site",
		"site/Host/A~3.yaml": "acme/Host/v2 site", "site/Host/b.yaml": "other/host/v1 site",
		"%2E%2E/Host/%2E.%2F..%2Fx.yaml":                                      "acme/Host/v1 site",
		"site/odd/" + strings.Repeat("n", 200) + ".yaml":                      "odd ",
		strings.Repeat("b", 255) + "/" + strings.Repeat("k", 198) + "/c.yaml": strings.Repeat("k", 198) + "..k ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// If a bucket has too long a name for a folder, the error names it, and no file is written or deleted.
func TestPlanPull_longBucket(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 43) // 258 characters when escaped
	in := func(bucket string) Document {
		return Document{Identity: wire.Identity{Schema: "acme/Host/v1", Name: "x", Bucket: wire.Optional(bucket)}}
	}
	plan, err := PlanPull(t.Context(), t.TempDir(), []Document{in("a"), in(long)}, Allowed{Replace: true})
	if err == nil || !strings.Contains(err.Error(), "bucket "+long+" ") || len(plan.Written) > 0 {
		t.Errorf("%v is written, error %v, want one that names the bucket", plan.Written, err)
	}
}

// pulled returns the documents of a revision: two of bucket site and one of bucket a/b.
func pulled(t *testing.T) []Document {
	t.Helper()
	documents, err := Parse([]byte(`[
		{"schema":"acme/Host/v1","metadata":{"name":"x"},"data":{"a":"yes"},"status":{"bucket":"site"}},
		{"schema":"acme/Host/v1","metadata":{"name":"z"},"data":1,"status":{"bucket":"site"}},
		{"schema":"acme/Host/v1","metadata":{"name":"y","storagePolicy":"encrypted"},"data":"s","status":{"bucket":"a/b"}},
		{"status":{"bucket":"none"}}]`))
	if err != nil {
		t.Fatal(err)
	}
	return documents
}

func all() Allowed { return Allowed{Replace: true, Encrypted: true} }

// A file that is overwritten, and holds documents that are not pulled, is named.
func TestPlanPull_lost(t *testing.T) {
	t.Parallel()
	const x, other = "---\nschema: acme/Host/v1\nmetadata: {name: x}\n", "---\nschema: acme/Host/v1\nmetadata: {name: other}\n"
	dir := tree(t, map[string]string{
		"site/Host/x.yaml": x + other, "site/Host/z.yaml": strings.Replace(x, "name: x", "name: z", 1) + x,
		"site/more.yaml": other,
	})
	plan, err := PlanPull(t.Context(), dir, pulled(t), all())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{"lost": plan.Lost, "deleted": plan.Deleted}
	want := map[string][]string{"lost": {"site/Host/x.yaml"}, "deleted": {"site/more.yaml"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// What is written is read again as the same documents in the same buckets, and old files are deleted.
func TestPull_isReadAgain(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{"gone/Gone/old.yaml": "schema: acme/Gone/v1\nmetadata: {name: old}\n"})
	plan, err := PlanPull(t.Context(), dir, pulled(t), all())
	if err != nil {
		t.Fatal(err)
	}
	if err := plan.Write(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a%2Fb/Host/y.yaml", "site/Host/x.yaml", "site/Host/z.yaml"}, plan.Written); diff != "" {
		t.Fatalf("files (-want +got):\n%s", diff)
	}
	read, err := readBuckets(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range read.sources {
		got = append(got, s.bucket+" "+string(document.AppendJSON(nil, s.Value)))
	}
	want := []string{
		`a/b {"schema":"acme/Host/v1","metadata":{"name":"y","storagePolicy":"encrypted"},"data":"s"}`,
		`site {"schema":"acme/Host/v1","metadata":{"name":"x"},"data":{"a":"yes"}}`,
		`site {"schema":"acme/Host/v1","metadata":{"name":"z"},"data":1}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("documents (-want +got):\n%s", diff)
	}
	if _, err := os.Stat(filepath.Join(dir, "gone")); !os.IsNotExist(err) {
		t.Errorf("the folder of the old file: %v", err)
	}
	if _, err := PlanPull(t.Context(), dir, nil, Allowed{}); err == nil {
		t.Error("a folder with documents is overwritten without --replace")
	}
}

// A pull replaces and deletes only files that hold documents of its buckets and nothing else, and files with the names
// that it gives them.
func TestPlanPull_existing(t *testing.T) {
	t.Parallel()
	const host, other = "schema: acme/Host/v1\nmetadata: {name: x}\n", "a: 1\n"
	const secret = "schema: acme/Host/v1\nmetadata: {name: x, storagePolicy: encrypted}\n"
	for name, c := range map[string]struct {
		file, text string
		blind      bool // encrypted documents may not be seen
		want       string
	}{
		"package.json":                           {file: "package.json", text: `{"name": "x", "version": "1"}`},
		"docker-compose.yaml":                    {file: "docker-compose.yaml", text: "services: {a: {}}\n"},
		"values in a bucket":                     {file: "site/chart/values.yaml", text: other},
		"a manifest of Kubernetes":               {file: "site/k8s.yaml", text: "apiVersion: v1\nmetadata: {name: x}\n"},
		"no documents":                           {file: "site/empty.yaml", text: "# nothing\n"},
		"hidden":                                 {file: "site/.hidden.yaml", text: host},
		"in a hidden folder":                     {file: ".git/Host/x.yaml", text: host},
		"excluded":                               {file: "site/draft.yaml", text: host},
		"another suffix":                         {file: "site/x.txt", text: host},
		"in no bucket":                           {file: "x.yaml", text: host},
		"in a folder that is no bucket":          {file: "tests/x.yaml", text: host},
		"with another name there":                {file: "tests/Host/y.yaml", text: host},
		"two documents there":                    {file: "tests/Host/x.yaml", text: host + "---\n" + host},
		"encrypted, not seen":                    {file: "site/Host/old.yaml", text: secret, blind: true},
		"documents of a bucket":                  {file: "site/any.yml", text: host + "---\n" + secret, want: "delete"},
		"a list of them":                         {file: "site/any.json", text: `[{"schema":"a/B/v1","metadata":{"name":"x"}}]`, want: "delete"},
		"of an earlier pull":                     {file: "tests/Host/x.yaml", text: host, want: "delete"},
		"of an earlier pull, with a number":      {file: "tests/Host/x~2.yaml", text: host, want: "delete"},
		"of the last pull":                       {file: "site/Host/x.yaml", text: host, want: "replace"},
		"others beside documents":                {file: "site/mixed.yaml", text: host + "---\n" + other, want: "keep"},
		"a document without a name":              {file: "site/x.yaml", text: "schema: acme/Host/v1\n", want: "keep"},
		"no YAML":                                {file: "site/broken.yaml", text: "a: [\n", want: "keep"},
		"others in the way":                      {file: "site/Host/x.yaml", text: other, want: "refuse"},
		"others beside documents in the way":     {file: "site/Host/x.yaml", text: host + "---\n" + other, want: "refuse"},
		"an encrypted one, not seen, in the way": {file: "site/Host/x.yaml", text: secret, blind: true, want: "refuse"},
		"a folder in the way":                    {file: "site/Host/x.yaml/y.txt", want: "refuse"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := tree(t, map[string]string{c.file: c.text, ".purser.yaml": "exclude: [draft.yaml]\n"})
			plan, err := PlanPull(t.Context(), dir, pulled(t), Allowed{Replace: true, Encrypted: !c.blind})
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
			if got != c.want {
				t.Errorf("%q, want %q: %v", got, c.want, err)
			}
			if err == nil {
				err = plan.Write()
			}
			_, left := os.Stat(filepath.Join(dir, c.file))
			if gone := left != nil; gone != (c.want == "delete") || err != nil && c.want != "refuse" {
				t.Errorf("the file is gone: %v, error %v", gone, err)
			}
		})
	}
}

// Links are not followed out of the folder, and a link in the way of a file is not replaced.
func TestPull_links(t *testing.T) {
	t.Parallel()
	for link, target := range map[string]string{"site": ".", "site/Host": ".", "site/Host/x.yaml": "x.yaml"} {
		outside := tree(t, map[string]string{"x.yaml": "schema: acme/Host/v1\nmetadata: {name: x}\n", "kept/z.yaml": "z: 1\n"})
		dir := tree(t, map[string]string{"a/b.txt": ""})
		at := filepath.Join(dir, link)
		err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.Symlink(filepath.Join(outside, target), at))
		if err != nil {
			t.Fatal(err)
		}
		_, err = PlanPull(t.Context(), dir, pulled(t), all())
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
	const old = "schema: acme/Host/v1\nmetadata: {name: old}\n"
	dir := tree(t, map[string]string{"target/site/Host/old.yaml": old, "target/moved/a.txt": "", "beside/site/Host/old.yaml": old})
	link := filepath.Join(dir, "link")
	if err := errors.Join(os.Symlink("target", link), os.Symlink("../moved", filepath.Join(dir, "target", "site", "Thing"))); err != nil {
		t.Fatal(err)
	}
	plan, err := PlanPull(t.Context(), link, pulled(t), all())
	if err == nil {
		err = plan.Write()
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{
		"target/site/Host/x.yaml": true, "target/site/Host/old.yaml": false, "target/moved/a.txt": true,
		"beside/site/Host/old.yaml": true, "beside/site/Host/x.yaml": false, "site": false,
	} {
		if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name))); (err == nil) != want {
			t.Errorf("%s: %v, want it %v", name, err, want)
		}
	}
}

// A pull that fails leaves each file with its old or its new content, deletes none and leaves nothing else.
func TestPull_fails(t *testing.T) {
	t.Parallel()
	const old = "schema: acme/Host/v1\nmetadata: {name: x}\n"
	dir := tree(t, map[string]string{"site/Host/x.yaml": old, "site/Host/old.yaml": old})
	plan, err := PlanPull(t.Context(), dir, pulled(t), all())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "site", "Host", "z.yaml", "full"), 0o700); err != nil { // made meanwhile
		t.Fatal(err)
	}
	if err := plan.Write(); err == nil {
		t.Fatal("no error")
	}
	var got []string
	entries, err := os.ReadDir(filepath.Join(dir, "site", "Host"))
	for _, entry := range entries {
		got = append(got, entry.Name())
	}
	if diff := cmp.Diff([]string{"old.yaml", "x.yaml", "z.yaml"}, got); diff != "" || err != nil {
		t.Errorf("files (-want +got):\n%s%v", diff, err)
	}
}
