package revisions

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/document"
)

func TestBucketDifferences(t *testing.T) {
	t.Parallel()
	in := func(bucket, contents string) *Stored {
		doc := version(bucket, bucket+contents, 1, 1)
		doc.Digest = document.DigestOf(contents)
		return doc
	}
	same := []string{"a"}
	for _, c := range []struct {
		name          string
		before, after []string
		gone, come    []*Stored
		want          []BucketDifference
	}{
		{"nothing", nil, nil, nil, nil, []BucketDifference{}},
		{"sorted by name", []string{"b", "d"}, []string{"a", "b"}, nil, nil, []BucketDifference{
			{"a", Created}, {"b", Unmodified}, {"d", Deleted},
		}},
		{"one more", same, same, nil, []*Stored{in("a", "x")}, []BucketDifference{{"a", Modified}}},
		{"one less", same, same, []*Stored{in("a", "x")}, nil, []BucketDifference{{"a", Modified}}},
		{"other contents", same, same, []*Stored{in("a", "x")}, []*Stored{in("a", "y")}, []BucketDifference{{"a", Modified}}},
		{
			"renamed with equal contents", same, same,
			[]*Stored{in("a", "x")},
			[]*Stored{in("a", "x")},
			[]BucketDifference{{"a", Unmodified}},
		},
		{
			"contents of another bucket",
			[]string{"a", "b"},
			[]string{"a", "b"},
			[]*Stored{in("a", "x")},
			[]*Stored{in("b", "x")},
			[]BucketDifference{{"a", Modified}, {"b", Modified}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, BucketDifferences(c.before, c.after, c.gone, c.come)); diff != "" {
				t.Errorf("differences (-want +got)\n%s", diff)
			}
		})
	}
}

func TestDocumentDifferences(t *testing.T) {
	t.Parallel()
	other := version("a", "modified", 5, 5)
	other.Digest = document.DigestOf("other")
	gone := []*Stored{
		version("b", "deleted", 1, 1), version("b", "moved", 2, 2), version("a", "modified", 3, 3), version("a", "same", 4,
			4),
	}
	come := []*Stored{
		version("a", "moved", 6, 6), other, version("a", "same", 7, 7), version("a", "created", 8, 8),
	}
	var got []string
	for _, d := range DocumentDifferences(gone, come) {
		got = append(got, fmt.Sprintf("%s/%s %s %v, %v", d.Bucket(), d.Name, d.Difference, d.Before != nil, d.After != nil))
	}
	want := []string{
		"a/created created false, true", "a/modified modified true, true", "a/moved moved true, true",
		"b/deleted deleted true, false",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("differences (-want +got)\n%s", diff)
	}
}

func TestDifference_String(t *testing.T) {
	t.Parallel()
	for difference, want := range map[Difference]string{
		Unmodified: "unmodified", Created: "created", Deleted: "deleted", Modified: "modified", Moved: "moved", 9: "unknown",
	} {
		if got := difference.String(); got != want {
			t.Errorf("%d is %s, want %s", difference, got, want)
		}
	}
}
