package queries

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
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
	global := strings.Replace(cleartext, "site", "global", 1)
	parent := global + ", labels: {k: v}"
	child := strings.Replace(cleartext, "{layer: site}",
		"{layer: site, parentSelector: {k: v}, actions: [{method: merge, path: .}]}", 1)
	old := parsed(t, layeringPolicy+widget("parent", "{x: 1}", parent)+widget("child", "{}", child)+
		widget("gone", "{}", cleartext)+widget("relayered", "{}", global)+widget("same", "{}", cleartext))
	come := changedFrom(parsed(t, widget("parent", "{x: 2}", parent)+widget("new", "{}", cleartext)+
		widget("relayered", "{}", cleartext)), 10)
	site := &site{
		revisions: []revisions.Revision{{ID: 1}, {ID: 2}},
		documents: map[int64][]*revisions.Stored{
			1: old, 2: {old[0], come[0], old[2], come[1], come[2], old[5]},
		},
		compared: revisions.Comparison{
			Gone: []*revisions.Stored{old[1], old[3], old[4]}, Come: come, Before: []string{"a"}, After: []string{"a"},
		},
	}
	for _, c := range []struct {
		name string
		all  bool
		want []string
	}{
		{"of what was submitted", false, []string{"gone deleted", "new created", "parent modified", "relayered modified"}},
		{"of what is rendered", true, []string{
			"child modified", "gone deleted", "new created", "parent modified", "relayered deleted", "relayered created",
		}},
	} {
		got, err := service(site).DeepDiff(t.Context(), 1, 2, c.all)
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
	docs := parsed(t, layeringPolicy+widget("w", "{}", cleartext))
	site := &site{
		revisions: []revisions.Revision{{ID: 1}}, documents: map[int64][]*revisions.Stored{1: docs},
		compared: revisions.Comparison{Gone: docs, Before: []string{"a"}},
	}
	got, err := service(site).DeepDiff(t.Context(), 1, 0, false)
	if err != nil || len(got) != 1 || got[0].Difference != revisions.Created || len(got[0].Documents) != 2 ||
		got[0].Documents[0].Difference != revisions.Deleted {
		t.Errorf("differences %+v, %v", got, err)
	}
	site.compared.Missing = []int64{7}
	if _, err := service(site).DeepDiff(t.Context(), 1, 7, false); fault.KindOf(err) != fault.NotFound {
		t.Errorf("with a revision that does not exist: %v", err)
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
