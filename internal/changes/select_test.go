package changes

import (
	"fmt"
	"testing"

	"purser/internal/document"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// The work on selections is bounded, whichever list is long: of those beyond the bound nothing is known.
func TestRenderer_Select_bounded(t *testing.T) {
	t.Parallel()
	var patterns []string
	for i := range 100 {
		patterns = append(patterns, fmt.Sprintf("b%d*", i))
	}
	var rendered []*revisions.Stored
	for i := range 100 {
		doc := &document.Document{Identity: document.Identity{Schema: "a/A/v1", Layer: "site", Name: fmt.Sprint(i)}}
		rendered = append(rendered, &revisions.Stored{Document: doc, Bucket: "x"})
	}
	for name, c := range map[string]struct {
		selection validations.Selection
		bounded   bool
	}{
		"buckets": {validations.Selection{Buckets: patterns}, true},
		"layers":  {validations.Selection{Layers: patterns}, true},
		"few":     {validations.Selection{Layers: []string{"site"}}, false},
	} {
		selections := make([]validations.Selection, 12_000)
		for i := range selections {
			selections[i] = c.selection
		}
		found, err := Renderer{}.Select(t.Context(), rendered, selections)
		if err != nil || (len(found) < len(selections)) != c.bounded || len(found) == 0 {
			t.Errorf("%s: %d of %d selections, %v", name, len(found), len(selections), err)
		}
	}
}
