package folder

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/client"
	"purser/internal/document"
)

func TestFilesOf(t *testing.T) {
	t.Parallel()
	doc := func(bucket, schema, layer, name string) Document {
		return Document{Identity: client.Identity{Schema: schema, Layer: layer, Name: name, Bucket: bucket}}
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
		got[path] = doc.Schema + " " + doc.Layer
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
func TestWrite_longBucket(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{"site/Host/old.yaml": "schema: acme/Host/v1\n"})
	old, err := Existing(dir, true)
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("é", 43) // 258 characters when escaped
	in := func(bucket string) Document {
		return Document{Identity: client.Identity{Schema: "acme/Host/v1", Name: "x", Bucket: bucket}}
	}
	if _, err := Write(dir, []Document{in("a"), in(long)}, old); err == nil || !strings.Contains(err.Error(), "bucket "+long+" ") {
		t.Errorf("error %v, want one that names the bucket", err)
	}
	left, err := Existing(dir, true)
	if diff := cmp.Diff(old, left); diff != "" || err != nil {
		t.Errorf("files (-before +after):\n%s\n%v", diff, err)
	}
}

// What is written is read again as the same documents in the same buckets, and old files are deleted.
func TestWrite_isReadAgain(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{"site/Gone/old.yaml": "schema: acme/Gone/v1\n"})
	old, err := Existing(dir, true)
	if err != nil || len(old) != 1 {
		t.Fatalf("old files %q, error %v", old, err)
	}
	documents, err := Parse([]byte(`[
		{"schema":"acme/Host/v1","metadata":{"name":"x"},"data":{"a":"yes"},"status":{"bucket":"site"}},
		{"schema":"acme/Host/v1","metadata":{"name":"y","storagePolicy":"encrypted"},"data":"s","status":{"bucket":"a/b"}},
		{"status":{"bucket":"none"}}]`))
	if err != nil {
		t.Fatal(err)
	}
	names, err := Write(dir, documents, old)
	if diff := cmp.Diff([]string{"a%2Fb/Host/y.yaml", "site/Host/x.yaml"}, names); diff != "" || err != nil {
		t.Fatalf("files (-want +got):\n%s\nerror %v", diff, err)
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
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("documents (-want +got):\n%s", diff)
	}
	if _, err := os.Stat(filepath.Join(dir, "site", "Gone")); !os.IsNotExist(err) {
		t.Errorf("the folder of the old file: %v", err)
	}
	if _, err := Existing(dir, false); err == nil {
		t.Error("a folder with documents is overwritten without --replace")
	}
}
