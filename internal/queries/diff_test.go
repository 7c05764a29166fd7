package queries

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/revisions/revisionstest"
)

// changedFrom numbers the documents of a body as new versions of others.
func changedFrom(documents []*revisions.Stored, first int64) []*revisions.Stored {
	for i, doc := range documents {
		doc.ID = first + int64(i)
	}
	return documents
}

// all is a page without a limit.
var all = Page{Limit: -1}

func TestPage_window(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		page             Page
		before, n        int
		wantFrom, wantTo int
	}{
		{all, 0, 3, 0, 3},
		{all, 5, 3, 0, 3},
		{Page{Offset: 2, Limit: -1}, 0, 3, 2, 3},
		{Page{Offset: 4, Limit: -1}, 0, 3, 3, 3},
		{Page{Offset: 4, Limit: -1}, 3, 3, 1, 3},
		{Page{Offset: 1, Limit: 3}, 0, 3, 1, 3},
		{Page{Offset: 1, Limit: 3}, 3, 3, 0, 1},
		{Page{Offset: 1, Limit: 3}, 6, 3, 0, 0},
		{Page{Limit: 0}, 0, 3, 0, 0},
	} {
		if from, to := c.page.window(c.before, c.n); from != c.wantFrom || to != c.wantTo {
			t.Errorf("%+v of %d after %d: %d to %d, want %d to %d", c.page, c.n, c.before, from, to, c.wantFrom, c.wantTo)
		}
	}
}

// A page may have documents of several buckets, and only its documents are read.
func TestService_DeepDiff_page(t *testing.T) {
	t.Parallel()
	const count = 6
	var texts []string
	for i := range count {
		texts = append(texts, revisionstest.Widget(fmt.Sprintf("w%d", i), "{x: 1}", revisionstest.Cleartext))
	}
	docs := revisionstest.Parsed(t, strings.Join(texts, ""))
	site := &site{compared: revisions.Comparison{Added: docs, After: []string{"a", "b"}}, texts: map[document.Digest][]byte{}}
	for i, doc := range docs {
		doc.Bucket = []string{"a", "b"}[i%2]
		site.texts[doc.Digest] = doc.Data
	}
	got, err := service(site).DeepDiff(t.Context(), 0, 0, DeepDiffOptions{
		All: true, Submitted: true, Page: Page{Offset: 2, Limit: 2},
	})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, bucket := range got.Buckets {
		for _, d := range bucket.Documents {
			lines = append(lines, bucket.Bucket+" "+d.Name+" "+string(d.After.Data))
		}
	}
	if diff := cmp.Diff([]string{`a w4 {"x":1}`, `b w1 {"x":1}`}, lines); diff != "" || got.Total != count {
		t.Errorf("of %d (-want +got)\n%s", got.Total, diff)
	}
	if site.contents != 2 {
		t.Errorf("%d contents were read, want 2", site.contents)
	}
}

// Both revisions are rendered, which may involve waiting, before their differences are read.
func TestService_DeepDiff_waits(t *testing.T) {
	t.Parallel()
	docs := revisionstest.Parsed(t, layeringPolicy)
	site := &site{
		revisions: []revisions.Revision{{ID: 1}, {ID: 2}}, documents: map[int64][]*revisions.Stored{1: docs, 2: docs},
	}
	if _, err := service(site).DeepDiff(t.Context(), 1, 2, DeepDiffOptions{Page: all}); err != nil {
		t.Fatal(err)
	}
	if site.readBefore != 2 {
		t.Errorf("%d revisions were read before the difference, want 2", site.readBefore)
	}
	site.selections = nil
	_, err := service(site).DeepDiff(t.Context(), 1, 3, DeepDiffOptions{Page: all})
	if fault.KindOf(err) != fault.NotFound || len(site.selections) > 0 {
		t.Errorf("with a revision that does not exist: %v; %d revisions were read", err, len(site.selections))
	}
	site.compared.Stamps = map[int64]revisions.Stamp{1: 0, 2: 7}
	_, err = service(site).DeepDiff(t.Context(), 1, 2, DeepDiffOptions{Page: all})
	if fault.KindOf(err) != fault.Unavailable {
		t.Errorf("of a revision that is another one by then: %v", err)
	}
}

func TestService_DeepDiff(t *testing.T) {
	t.Parallel()
	global := strings.Replace(revisionstest.Cleartext, "site", "global", 1)
	parent := global + ", labels: {k: v}"
	child := strings.Replace(revisionstest.Cleartext, "{layer: site}",
		"{layer: site, parentSelector: {k: v}, actions: [{method: merge, path: .}]}", 1)
	old := revisionstest.Parsed(t, layeringPolicy+revisionstest.Widget("parent", "{x: 1}", parent)+revisionstest.Widget("child", "{}", child)+
		revisionstest.Widget("gone", "{}", revisionstest.Cleartext)+revisionstest.Widget("relayered", "{}", global)+revisionstest.Widget("same", "{}", revisionstest.Cleartext))
	come := changedFrom(revisionstest.Parsed(t, revisionstest.Widget("parent", "{x: 2}", parent)+revisionstest.Widget("new", "{}", revisionstest.Cleartext)+
		revisionstest.Widget("relayered", "{}", revisionstest.Cleartext)), 10)
	site := &site{
		revisions: []revisions.Revision{{ID: 1}, {ID: 2}},
		documents: map[int64][]*revisions.Stored{
			1: old, 2: {old[0], come[0], old[2], come[1], come[2], old[5]},
		},
		compared: revisions.Comparison{
			Removed: []*revisions.Stored{old[1], old[3], old[4]}, Added: come, Before: []string{"a"}, After: []string{"a"},
		},
	}
	site.texts = map[document.Digest][]byte{}
	for _, doc := range append(slices.Clone(site.compared.Removed), come...) {
		site.texts[doc.Digest] = doc.Data
	}
	for _, c := range []struct {
		name    string
		options DeepDiffOptions
		want    []string
	}{
		{"of what was submitted and is rendered", DeepDiffOptions{Page: all}, []string{
			"gone deleted", "new created", "parent modified", "relayered modified",
		}},
		{"of what is rendered", DeepDiffOptions{All: true, Page: all}, []string{
			"child modified", "gone deleted", "new created", "parent modified", "relayered deleted", "relayered created",
		}},
		{"of what was submitted", DeepDiffOptions{All: true, Submitted: true, Page: all}, []string{
			"gone deleted", "new created", "parent modified", "relayered deleted", "relayered created",
		}},
		{"of what was submitted, in pairs", DeepDiffOptions{Submitted: true, Page: all}, []string{
			"gone deleted", "new created", "parent modified", "relayered modified",
		}},
	} {
		got, err := service(site).DeepDiff(t.Context(), 1, 2, c.options)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Buckets) != 1 || got.Buckets[0].Bucket != "a" || got.Buckets[0].Difference != revisions.Modified {
			t.Fatalf("%s: buckets %+v", c.name, got)
		}
		var lines []string
		for _, d := range got.Buckets[0].Documents {
			lines = append(lines, d.Name+" "+d.Difference.String())
			if d.Name == "parent" && (string(d.Before.Data) != `{"x":1}` || string(d.After.Data) != `{"x":2}`) {
				t.Errorf("%s: %s became %s", c.name, d.Before.Data, d.After.Data)
			}
		}
		if diff := cmp.Diff(c.want, lines); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, diff)
		}
	}
}

// Revision 0 has no documents and is not rendered; for buckets the higher number is the newer one.
func TestService_DeepDiff_zero(t *testing.T) {
	t.Parallel()
	docs := revisionstest.Parsed(t, layeringPolicy+revisionstest.Widget("w", "{}", revisionstest.Cleartext))
	site := &site{
		revisions: []revisions.Revision{{ID: 1}}, documents: map[int64][]*revisions.Stored{1: docs},
		compared: revisions.Comparison{Removed: docs, Before: []string{"a"}},
	}
	got, err := service(site).DeepDiff(t.Context(), 1, 0, DeepDiffOptions{Page: all})
	if err != nil || len(got.Buckets) != 1 || got.Buckets[0].Difference != revisions.Created ||
		len(got.Buckets[0].Documents) != 2 || got.Buckets[0].Documents[0].Difference != revisions.Deleted {
		t.Errorf("differences %+v, %v", got, err)
	}
	site.compared.Missing = []int64{7}
	if _, err := service(site).DeepDiff(t.Context(), 1, 7, DeepDiffOptions{Page: all}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("with a revision that does not exist: %v", err)
	}
}

// Submitted forms are compared without rendering, and without the data of encrypted documents.
func TestService_DeepDiff_submitted(t *testing.T) {
	t.Parallel()
	secret := strings.Replace(revisionstest.Cleartext, "cleartext", "encrypted", 1)
	docs := revisionstest.Parsed(t, revisionstest.Widget("orphan", "{x: 1}", revisionstest.Cleartext)+revisionstest.Widget("pw", "{x: 2}", secret))
	site := &site{
		revisions: []revisions.Revision{{ID: 1}}, documents: map[int64][]*revisions.Stored{1: docs},
		compared: revisions.Comparison{Added: docs, After: []string{"a"}},
		texts:    map[document.Digest][]byte{docs[0].Digest: docs[0].Data, docs[1].Digest: []byte(`{"x":"hunter2"}`)},
	}
	if _, err := service(site).DeepDiff(t.Context(), 0, 1, DeepDiffOptions{All: true, Page: all}); err == nil {
		t.Error("rendered without a LayeringPolicy")
	}
	got, err := service(site).DeepDiff(t.Context(), 0, 1, DeepDiffOptions{All: true, Submitted: true, Page: all})
	if err != nil || len(got.Buckets) != 1 || len(got.Buckets[0].Documents) != 2 || got.Total != 2 {
		t.Fatalf("differences %+v, %v", got, err)
	}
	for i, want := range []string{`{"x":1}`, ""} {
		if data := string(got.Buckets[0].Documents[i].After.Data); data != want {
			t.Errorf("%s: data %s, want %s", got.Buckets[0].Documents[i].Name, data, want)
		}
	}
}

func TestPairedByName(t *testing.T) {
	t.Parallel()
	of := func(layer string, difference revisions.Difference) revisions.DocumentDifference {
		doc := &revisions.Stored{Document: &document.Document{}}
		d := revisions.DocumentDifference{
			Identity: document.Identity{Schema: "acme/Widget/v1", Layer: layer, Name: "w"}, Difference: difference,
		}
		if difference != revisions.Created {
			d.Before = doc
		}
		if difference != revisions.Deleted {
			d.After = doc
		}
		return d
	}
	for _, c := range []struct {
		name        string
		differences []revisions.DocumentDifference
		want        []string
	}{
		{"none", nil, nil},
		{
			"another layer",
			[]revisions.DocumentDifference{of("global", revisions.Deleted), of("site", revisions.Created)},
			[]string{"site modified"},
		},
		{
			"created before deleted",
			[]revisions.DocumentDifference{of("a", revisions.Created), of("b", revisions.Deleted)},
			[]string{"a modified"},
		},
		{"one deleted, two created", []revisions.DocumentDifference{
			of("a", revisions.Deleted), of("b", revisions.Created), of("c", revisions.Created),
		}, []string{"b modified", "c created"}},
		{"two deleted, one created", []revisions.DocumentDifference{
			of("a", revisions.Deleted), of("b", revisions.Deleted), of("c", revisions.Created),
		}, []string{"a deleted", "c modified"}},
		{
			"nothing to pair",
			[]revisions.DocumentDifference{of("a", revisions.Modified), of("b", revisions.Created)},
			[]string{"a modified", "b created"},
		},
	} {
		var got []string
		for _, d := range pairedByName(c.differences) {
			got = append(got, fmt.Sprint(d.Layer, " ", d.Difference))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, diff)
		}
	}
}
