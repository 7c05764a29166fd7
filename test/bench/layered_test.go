package main

import (
	"testing"

	"purser/internal/revisions"
	"purser/internal/validations"
)

// TestLayeredSite checks the size of the generated site, and that its rendered documents are valid.
func TestLayeredSite(t *testing.T) {
	t.Parallel()
	site, err := newLayered(t.Context(), "own", layeredSite())
	if err != nil {
		t.Fatal(err)
	}
	if want := "own (377 documents, 800 substitutions)"; site.label != want {
		t.Errorf("it is %s, want %s", site.label, want)
	}
	var stored frozen
	for i, doc := range site.documents {
		stored.documents = append(stored.documents, &revisions.Stored{Document: doc, ID: int64(i), Place: int64(i)})
	}
	visible := len(site.documents) - templates - replacements
	if err := render(t.Context(), newQueries(stored, validations.NewEngine(validations.Options{})), 1, visible); err != nil {
		t.Error(err)
	}
}
