package changes

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/authz"
	"purser/internal/document"
	"purser/internal/revisions"
)

// A dry run reports the same summary as its change, restricted to what each viewer may see.
func TestService_summary(t *testing.T) {
	t.Parallel()
	good, bad, other := widget("good", "{x: y}"), widget("bad", "{x: 1}"), widget("other", "{x: 2}")
	hidden := secret("hidden", "{x: 1}")
	for _, c := range []struct {
		name    string
		site    []string // alternating buckets and their bodies
		bucket  string   // "" for a rollback to revision 1
		body    string
		want    Summary
		blindly Summary // for viewers who may not see encrypted documents
	}{
		{"the first document", nil, "a", good, Summary{Added: 1}, Summary{Added: 1}},
		{
			"of everything one",
			[]string{"a", good + bad + other},
			"a", widget("good", "{x: z}") + bad + widget("new", "{}"),
			Summary{1, 1, 1, 1, 0},
			Summary{1, 1, 1, 1, 0},
		},
		{"other buckets do not count", []string{"a", good, "b", bad + other}, "b", bad, Summary{0, 0, 1, 1, 0}, Summary{
			0, 0,
			1, 1, 0,
		}},
		{"nothing changes", []string{"a", good + bad}, "a", good + bad, Summary{Unchanged: 2}, Summary{Unchanged: 2}},
		{"a bucket is emptied", []string{"a", good + bad}, "a", "", Summary{Deleted: 2}, Summary{Deleted: 2}},
		{
			"what fails already counts",
			[]string{"s", dataSchema("string"), "a", bad + hidden},
			"b", other,
			Summary{1, 0, 0, 0, 3},
			Summary{1, 0, 0, 0, 0},
		},
		{
			"encrypted documents",
			[]string{"a", good + hidden + secret("gone", "{x: 1}")},
			"a", good + secret("hidden", "{x: 2}") + secret("new", "{x: 2}"),
			Summary{1, 1, 1, 1, 0},
			Summary{Unchanged: 1},
		},
		{
			"one that is encrypted from now on",
			[]string{"a", good + other},
			"a", good + secret("other", "{x: 2}"),
			Summary{0, 1, 0, 1, 0},
			Summary{0, 0, 1, 1, 0},
		},
		{
			"a rollback",
			[]string{"s", dataSchema("string") + hidden + bad, "a", good, "b", other},
			"", "",
			Summary{0, 0, 2, 3, 2},
			Summary{0, 0, 2, 2, 0},
		},
	} {
		for _, viewer := range []authz.Viewer{{Encrypted: true}, {Encrypted: true, Redacted: true}, {}} {
			s, _ := service()
			s.Vault = fakeVault{}
			for i := 0; i < len(c.site); i += 2 {
				put(t, s, c.site[i], c.site[i+1])
			}
			change := func(dryRun bool) Summary {
				options := revisions.Options{Viewer: viewer, DryRun: dryRun}
				var written Written
				var err error
				if c.bucket == "" {
					written, err = s.Rollback(t.Context(), 1, options)
				} else {
					written, err = s.Put(t.Context(), c.bucket, []byte(c.body), document.YAML, options)
				}
				if err != nil {
					t.Fatal(err)
				}
				return written.Summary
			}
			want := c.want
			if !viewer.Encrypted {
				want = c.blindly
			}
			foretold := change(true)
			if diff := cmp.Diff([]Summary{want, want}, []Summary{foretold, change(false)}); diff != "" {
				t.Errorf("%s, for %+v (-want +got of the dry run and the change)\n%s", c.name, viewer, diff)
			}
		}
	}
}
