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

// changedFrom numbers the documents of a body, which are new versions of others.
func changedFrom(documents []*revisions.Stored, first int64) []*revisions.Stored {
	for i, doc := range documents {
		doc.ID = first + int64(i)
	}
	return documents
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
			Gone: []*revisions.Stored{old[1], old[3], old[4]}, Come: come, Before: []string{"a"}, After: []string{"a"},
		},
	}
	site.texts = map[document.Digest][]byte{}
	for _, doc := range append(slices.Clone(site.compared.Gone), come...) {
		site.texts[doc.Digest] = doc.Data
	}
	for _, c := range []struct {
		name    string
		options DeepDiffOptions
		want    []string
	}{
		{"of what was submitted and is rendered", DeepDiffOptions{}, []string{
			"gone deleted", "new created", "parent modified", "relayered modified",
		}},
		{"of what is rendered", DeepDiffOptions{All: true}, []string{
			"child modified", "gone deleted", "new created", "parent modified", "relayered deleted", "relayered created",
		}},
		{"of what was submitted", DeepDiffOptions{All: true, Submitted: true}, []string{
			"gone deleted", "new created", "parent modified", "relayered deleted", "relayered created",
		}},
		{"of what was submitted, in pairs", DeepDiffOptions{Submitted: true}, []string{
			"gone deleted", "new created", "parent modified", "relayered modified",
		}},
	} {
		got, err := service(site).DeepDiff(t.Context(), 1, 2, c.options)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != 1 || got[0].Bucket != "a" || got[0].Difference != revisions.Modified {
			t.Fatalf("%s: buckets %+v", c.name, got)
		}
		var lines []string
		for _, d := range got[0].Documents {
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

// Revision 0 has no documents and needs no rendering; the higher number is the newer one of the buckets.
func TestService_DeepDiff_zero(t *testing.T) {
	t.Parallel()
	docs := revisionstest.Parsed(t, layeringPolicy+revisionstest.Widget("w", "{}", revisionstest.Cleartext))
	site := &site{
		revisions: []revisions.Revision{{ID: 1}}, documents: map[int64][]*revisions.Stored{1: docs},
		compared: revisions.Comparison{Gone: docs, Before: []string{"a"}},
	}
	got, err := service(site).DeepDiff(t.Context(), 1, 0, DeepDiffOptions{})
	if err != nil || len(got) != 1 || got[0].Difference != revisions.Created || len(got[0].Documents) != 2 ||
		got[0].Documents[0].Difference != revisions.Deleted {
		t.Errorf("differences %+v, %v", got, err)
	}
	site.compared.Missing = []int64{7}
	if _, err := service(site).DeepDiff(t.Context(), 1, 7, DeepDiffOptions{}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("with a revision that does not exist: %v", err)
	}
}

// What was submitted is compared without rendering, and without the data of encrypted documents.
func TestService_DeepDiff_submitted(t *testing.T) {
	t.Parallel()
	secret := strings.Replace(revisionstest.Cleartext, "cleartext", "encrypted", 1)
	docs := revisionstest.Parsed(t, revisionstest.Widget("orphan", "{x: 1}", revisionstest.Cleartext)+revisionstest.Widget("pw", "{x: 2}", secret))
	site := &site{
		revisions: []revisions.Revision{{ID: 1}}, documents: map[int64][]*revisions.Stored{1: docs},
		compared: revisions.Comparison{Come: docs, After: []string{"a"}},
		texts:    map[document.Digest][]byte{docs[0].Digest: docs[0].Data, docs[1].Digest: []byte(`{"x":"hunter2"}`)},
	}
	if _, err := service(site).DeepDiff(t.Context(), 0, 1, DeepDiffOptions{All: true}); err == nil {
		t.Error("rendered without a LayeringPolicy")
	}
	got, err := service(site).DeepDiff(t.Context(), 0, 1, DeepDiffOptions{All: true, Submitted: true})
	if err != nil || len(got) != 1 || len(got[0].Documents) != 2 {
		t.Fatalf("differences %+v, %v", got, err)
	}
	for i, want := range []string{`{"x":1}`, ""} {
		if data := string(got[0].Documents[i].After.Data); data != want {
			t.Errorf("%s: data %s, want %s", got[0].Documents[i].Name, data, want)
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
