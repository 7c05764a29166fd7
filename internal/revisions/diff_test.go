package revisions

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

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

func TestDiff_rebased(t *testing.T) {
	t.Parallel()
	fresh, succeeding, kept := version("a", "fresh", 8, 8), version("a", "succeeding", 9, 3), version("a", "kept", 4, 4)
	diff := Diff{
		Added: []*Stored{fresh, succeeding}, Removed: []*Stored{version("a", "succeeding", 3, 3)},
		Result: []*Stored{kept, succeeding, fresh}, Buckets: []string{"a"}, Changes: true,
	}
	from := Head{Revision: 5, LastDocument: 7}
	for _, c := range []struct {
		name string
		to   Head
		want [][]string // the added documents, and the whole result
		at   int64      // revision of the added documents
	}{
		{"same head", from, [][]string{
			{"a/fresh#8@8", "a/succeeding#9@3"}, {"a/kept#4@4", "a/succeeding#9@3", "a/fresh#8@8"},
		}, 0},
		{"without new documents in between", Head{Revision: 6, LastDocument: 7}, [][]string{
			{"a/fresh#8@8", "a/succeeding#9@3"}, {"a/kept#4@4", "a/succeeding#9@3", "a/fresh#8@8"},
		}, 7},
		{"with new documents in between", Head{Revision: 8, LastDocument: 17}, [][]string{
			{"a/fresh#18@18", "a/succeeding#19@3"},
			{"a/kept#4@4", "a/succeeding#19@3", "a/fresh#18@18"},
		}, 9},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := diff.Rebased(from, c.to)
			if diff := cmp.Diff(c.want, [][]string{names(got.Added), names(got.Result)}); diff != "" {
				t.Errorf("rebased (-want +got)\n%s", diff)
			}
			if got.Removed[0] != diff.Removed[0] || got.Buckets[0] != "a" || !got.Changes {
				t.Errorf("rebasing modified what has no numbers: %+v", got)
			}
			for _, doc := range got.Added {
				if doc.Revision != c.at {
					t.Errorf("%s came with revision %d, want %d", doc.Name, doc.Revision, c.at)
				}
			}
			if got.Result[0] != kept || fresh.ID != 8 || diff.Result[2] != fresh {
				t.Error("rebasing modified the diff")
			}
		})
	}
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
