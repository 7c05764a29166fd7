package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"purser/internal/client"
	"purser/internal/document"
)

func marshalValue(value any) []byte { return document.AppendJSON(nil, value) }

// Every bucket has a folder name that is valid on every system and can be converted back to the bucket.
func TestFolderName_laws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"..", ".", "con", "Com1.x", "a/b", `a\b`, "%2F", "nul"})).
			Filter(func(s string) bool { return s != "" }).Draw(t, "name")
		folder := folderName(name)
		back, err := bucketOf(folder)
		if err != nil || back != name {
			t.Errorf("%q becomes %q and then %q, error %v", name, folder, back, err)
		}
		if folder != filepath.Base(folder) || strings.ContainsAny(folder, `/\:*?"<>|`) || strings.HasPrefix(folder, ".") ||
			strings.HasSuffix(folder, ".") {
			t.Errorf("%q becomes %q, which is not a name everywhere", name, folder)
		}
		if base, _, _ := strings.Cut(folder, "."); isReserved(base) {
			t.Errorf("%q becomes %q, which Windows keeps for a device", name, folder)
		}
	})
	if _, err := bucketOf("100%"); err == nil {
		t.Error("a folder with a bare % is a bucket")
	}
}

func TestFilesOf(t *testing.T) {
	t.Parallel()
	doc := func(bucket, schema, layer, name string) stored {
		return stored{Identity: client.Identity{Schema: schema, Layer: layer, Name: name, Bucket: bucket}}
	}
	files := filesOf([]stored{
		doc("site", "acme/Host/v1", "site", "a"), doc("site", "acme/Host/v1", "global", "a"),
		doc("site", "acme/Host/v2", "site", "A"), doc("site", "other/host/v1", "site", "b"),
		doc("..", "acme/Host/v1", "site", "../../x"), doc("site", "odd", "", strings.Repeat("n", 255)),
	})
	got := map[string]string{}
	for path, doc := range files {
		got[path] = doc.Schema + " " + doc.Layer
	}
	want := map[string]string{
		"site/Host/a.yaml": "acme/Host/v1 global", "site/Host/a~2.yaml": "acme/Host/v1 site",
		"site/Host/A~3.yaml": "acme/Host/v2 site", "site/Host/b.yaml": "other/host/v1 site",
		"%2E%2E/Host/%2E.%2F..%2Fx.yaml":                 "acme/Host/v1 site",
		"site/odd/" + strings.Repeat("n", 200) + ".yaml": "odd ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}
