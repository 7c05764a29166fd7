package changes

import (
	"fmt"
	"testing"

	"purser/internal/document"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// Revisions that one process made have the same Failures as the ones before if nothing else fails in them, and for no
// other reason.
func TestService_failuresOf(t *testing.T) {
	t.Parallel()
	s, m := service()
	s.DefaultValidations = append(revisions.Defaults{validations.SchemaValidation}, RevisionValidations()[:2]...)
	made := 0
	beside := func() document.Digest {
		made++
		return put(t, s, "mine", widget("mine", fmt.Sprintf("{y: %d}", made))).Failures
	}
	for _, step := range []struct {
		name   string
		change func()
	}{
		{"a document fails", func() {
			put(t, s, "a", layeringPolicy("layers")+dataSchema("string")+widget("w", "{x: 1}"))
		}},
		{"it fails otherwise", func() {
			put(t, s, "a", layeringPolicy("layers")+dataSchema("string")+widget("w", "{x: 2}"))
		}},
		{"its schema changes", func() {
			put(t, s, "a", layeringPolicy("layers")+dataSchema("boolean")+widget("w", "{x: 2}"))
		}},
		{"another fails too", func() { put(t, s, "b", widget("v", "{x: 1}")) }},
		{"one does not render", func() { put(t, s, "c", taking(1, "gone", 1, "path: .t", "{}")) }},
		{"it is another source that does not exist", func() { put(t, s, "c", taking(1, "lost", 1, "path: .t", "{}")) }},
		{"another process makes a change", func() {
			other, _ := service()
			other.Store = m
			put(t, other, "d", widget("other", "{}"))
		}},
	} {
		before := beside()
		if again := beside(); again != before {
			t.Errorf("before %s: each change has others", step.name)
		}
		if step.change(); beside() == before {
			t.Errorf("after %s: the same", step.name)
		}
	}
}
