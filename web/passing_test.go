package web

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/wire"
)

// Documents are listed as those without findings if no finding is about them, and none if a finding is not listed.
func TestWithoutFindings(t *testing.T) {
	t.Parallel()
	named := func(name string) (d wire.Document) {
		d.Schema, d.Metadata.Name, d.Metadata.Layering.Layer, d.Status.Bucket = "acme/Host/v1", name, "site", "b"
		return d
	}
	about := func(name string) wire.Finding {
		return wire.Finding{Document: &wire.Identity{Schema: "acme/Host/v1", Layer: "site", Name: name}}
	}
	cycle := about("b")
	cycle.Others = []wire.Other{{Schema: "acme/Host/v1", Layer: "site", Name: "c"}}
	all := []wire.Document{named("a"), named("b"), named("c")}
	for name, c := range map[string]struct {
		findings          []wire.Finding
		total             int
		more              bool
		want              []string
		withheld, unknown bool
	}{
		"none":             {nil, 0, false, []string{"a", "b", "c"}, false, false},
		"of one":           {[]wire.Finding{about("a")}, 1, false, []string{"b", "c"}, false, false},
		"of a cycle":       {[]wire.Finding{cycle}, 1, false, []string{"a"}, false, false},
		"of a secret":      {[]wire.Finding{{Secret: true}}, 1, false, []string{"a", "b", "c"}, true, false},
		"not all listed":   {[]wire.Finding{about("a")}, 2, false, nil, false, true},
		"not all examined": {[]wire.Finding{about("a")}, 1, true, nil, false, true},
	} {
		found := wire.Findings{Counts: wire.Counts{Total: c.total, More: c.more}, Findings: c.findings}
		got := withoutFindings(all, found)
		var names []string
		for _, doc := range got.Passing {
			names = append(names, doc.Metadata.Name)
		}
		if diff := cmp.Diff(c.want, names); diff != "" || got.Withheld != c.withheld || got.Unknown != c.unknown {
			t.Errorf("%s: %+v (-want +got)\n%s", name, got, diff)
		}
	}
}
