package revisions

import (
	"fmt"
	"testing"

	"purser/internal/document"
)

// version returns a version of a document in a bucket, with its name as its data.
func version(bucket, name string, id, place int64) *Stored {
	identity := document.Identity{Schema: "acme/Widget/v1", Layer: "site", Name: name}
	return &Stored{
		Document: &document.Document{Identity: identity, Metadata: []byte("{}"), Digest: document.DigestOf(name)},
		ID:       id, Place: place, Bucket: bucket,
	}
}

// names lists documents as "bucket/name#id@place".
func names(documents []*Stored) (list []string) {
	for _, doc := range documents {
		list = append(list, fmt.Sprintf("%s/%s#%d@%d", doc.Bucket, doc.Name, doc.ID, doc.Place))
	}
	return list
}

func TestDiff_replacing(t *testing.T) {
	t.Parallel()
	first, second, other := version("a", "first", 1, 1), version("a", "second", 2, 2), version("a", "other", 1, 1)
	diff := Diff{Added: []*Stored{first, second}, Result: []*Stored{second, first}}
	got := diff.Replacing(map[*Stored]*Stored{first: other})
	if got.Added[0] != other || got.Added[1] != second || got.Result[0] != second || got.Result[1] != other {
		t.Errorf("added %v, result %v", names(got.Added), names(got.Result))
	}
	if diff.Added[0] != first || diff.Result[1] != first {
		t.Error("replacing modified the diff")
	}
	if same := diff.Replacing(nil); &same.Added[0] != &diff.Added[0] {
		t.Error("replacing nothing copied the diff")
	}
}
