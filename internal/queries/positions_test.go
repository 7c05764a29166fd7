package queries

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/changes"
	"purser/internal/document"
	"purser/internal/revisions"
)

const located = `---
schema: acme/Host/v1
metadata: {schema: metadata/Document/v1, name: a, layeringDefinition: {layer: site}}
data:
  rack: 99
---
schema: acme/Host/v1
metadata: {schema: metadata/Document/v1, name: b, layeringDefinition: {layer: site}}
data: {more: 1}
`

// Positions are those of the value, or of the disallowed property; the given findings are not modified.
func TestLocate(t *testing.T) {
	t.Parallel()
	segments, err := document.Split(t.Context(), []byte(located), document.YAML, document.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	host := func(name string) document.Identity {
		return document.Identity{Schema: "acme/Host/v1", Layer: "site", Name: name}
	}
	var written changes.Written
	for i, name := range []string{"a", "b"} {
		written.Items = append(written.Items, changes.Item{Segment: &segments[i]})
		written.Documents = append(written.Documents, &revisions.Stored{Document: &document.Document{Identity: host(name)}})
	}
	given := []Finding{
		{Document: host("a"), Path: ".data.rack"},
		{Document: host("a"), Path: ".data", Rule: ".additionalProperties", Message: "'rack' is not allowed"},
		{Document: host("b"), Others: []Located{{Identity: host("a")}}, Rule: "SubstitutionDependencyCycle"},
		{Document: host("elsewhere"), Path: ".data"},
		{Message: "about none"},
	}
	before := slices.Clone(given)
	before[2].Others = slices.Clone(given[2].Others)
	found, err := Locate(t.Context(), given, written)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]document.Position, len(found))
	for i, f := range found {
		got[i] = f.At
	}
	want := []document.Position{{Line: 5, Column: 9}, {Line: 5, Column: 9}, {Line: 8, Column: 11}, {}, {}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if other := found[2].Others[0].At; other != (document.Position{Line: 3, Column: 11}) {
		t.Errorf("the other document of a cycle is at %v", other)
	}
	if diff := cmp.Diff(before, given); diff != "" {
		t.Errorf("what was given was changed (-before +after)\n%s", diff)
	}
	if same, err := Locate(t.Context(), given, changes.Written{}); err != nil || cmp.Diff(given, same) != "" {
		t.Errorf("without a body: %v, %v", same, err)
	}
}
