package queries

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/document"
	"purser/internal/revisions"
)

// version returns a version of a document, whose data is JSON.
func version(name, data string) *revisions.Stored {
	metadata := []byte(`{"name":"` + name + `","schema":"metadata/Document/v1"}`)
	text := &document.Document{
		Identity: document.Identity{Schema: "acme/X/v1", Name: name}, Metadata: metadata, Data: []byte(data),
		Digest: document.Digest{byte(len(data)), data[len(data)-2]},
	}
	return &revisions.Stored{Document: text, Bucket: "b"}
}

func changedTo(name, before, after string) revisions.DocumentDifference {
	d := revisions.DocumentDifference{Identity: document.Identity{Schema: "acme/X/v1", Name: name}, Difference: revisions.Modified}
	d.Before, d.After = version(name, before), version(name, after)
	return d
}

// ofSecret marks both versions as made from a secret.
func ofSecret(d revisions.DocumentDifference) revisions.DocumentDifference {
	d.Before.Tainted, d.After.Tainted = true, true
	return d
}

func TestGroupOptions_Group(t *testing.T) {
	t.Parallel()
	const one, two = "@@ -1,2 +1,2 @@\n data:\n-  a: 1\n+  a: 2\n", "@@ -1,2 +1,2 @@\n data:\n-  b: 1\n+  b: 2\n"
	x, y := changedTo("x", `{"a":1,"c":1}`, `{"a":2,"c":1}`), changedTo("y", `{"a":1,"z":9}`, `{"a":2,"z":9}`)
	other := changedTo("o", `{"b":1}`, `{"b":2}`)
	gone := revisions.DocumentDifference{Identity: x.Identity, Difference: revisions.Deleted, Before: x.Before}
	for name, c := range map[string]struct {
		options   GroupOptions
		documents []revisions.DocumentDifference
		want      []string // kinds, diffs and names
	}{
		"none":              {GroupOptions{Diffs: true}, nil, nil},
		"the same once":     {GroupOptions{Diffs: true}, []revisions.DocumentDifference{other, x, y}, []string{"modified x y: " + one, "modified o: " + two}},
		"without diffs":     {GroupOptions{}, []revisions.DocumentDifference{other, gone, y}, []string{"modified o y", "deleted x"}},
		"key order":         {GroupOptions{Diffs: true}, []revisions.DocumentDifference{changedTo("k", `{"a":1,"b":2}`, `{"b":2,"a":1}`)}, []string{"modified k: "}},
		"secrets":           {GroupOptions{Diffs: true}, []revisions.DocumentDifference{ofSecret(changedTo("s", `{"a":1}`, `{"a":2}`)), y}, []string{"modified s secret: ", "modified y: " + one}},
		"secrets, no diffs": {GroupOptions{}, []revisions.DocumentDifference{ofSecret(changedTo("s", `{"a":1}`, `{"a":2}`)), y}, []string{"modified s secret", "modified y"}},
		"too large": {
			GroupOptions{Diffs: true},
			[]revisions.DocumentDifference{changedTo("l", `{"a":1}`, `{"a":"`+strings.Repeat("x", maxGroupedDiffs)+`"}`), y},
			[]string{"modified l omitted", "modified y: " + one},
		},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			c.options.Page = Page{Limit: -1}
			grouped, err := c.options.Group(t.Context(), c.documents)
			if err != nil || grouped.Total() != len(c.documents) {
				t.Fatalf("%d of %d documents, %v", grouped.Total(), len(c.documents), err)
			}
			var got []string
			for _, g := range grouped.Groups {
				words := []string{g.Documents[0].Difference.String()}
				for _, d := range g.Documents {
					words = append(words, d.Name)
				}
				text := strings.Join(words, " ")
				if g.Encrypted {
					text += " secret"
				}
				if g.Omitted {
					text += " omitted"
				}
				if g.Diff != nil {
					text += ": " + *g.Diff
				}
				got = append(got, text)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestGroupOptions_Group_bounds(t *testing.T) {
	t.Parallel()
	var all []revisions.DocumentDifference
	for i := range maxGrouped + 2 {
		all = append(all, changedTo(strconv.Itoa(i), `{"a":1}`, `{"a":2}`))
	}
	for n, want := range map[int]int{maxGrouped: 0, maxGrouped + 1: 1, maxGrouped + 2: 2} {
		got, err := GroupOptions{Diffs: true, Page: Page{Limit: -1}}.Group(t.Context(), all[:n])
		if err != nil || got.Unlisted != want || got.Total() != n || len(got.Groups) != 1 ||
			len(got.Groups[0].Documents) != maxGrouped {
			t.Errorf("%d documents: %d groups, %d unlisted, %v", n, len(got.Groups), got.Unlisted, err)
		}
	}
	got, err := GroupOptions{Page: Page{Offset: maxGrouped, Limit: 1}}.Group(t.Context(), all)
	if err != nil || got.Unlisted != 0 || got.Total() != len(all) || got.Groups[0].Documents[0].Name != strconv.Itoa(maxGrouped) {
		t.Errorf("a page: %+v, %v", got, err)
	}
}
