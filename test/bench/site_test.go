package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSite checks that generated sites have the documented size, are valid, and are the same in every run.
func TestSite(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		kind     kind
		min, max int
	}{{small(), 380, 450}, {large(), 1850, 2150}} {
		t.Run(test.kind.name, func(t *testing.T) {
			t.Parallel()
			const n = 200
			checker, err := compile(t.Context(), test.kind)
			if err != nil {
				t.Fatal(err)
			}
			s := newSite(test.kind, n)
			docs, err := decodeAndCheck(t.Context(), s.body(), checker, 2)
			if err != nil || len(docs) != n {
				t.Fatalf("%d documents, error %v", len(docs), err)
			}
			if mean := len(s.body()) / n; mean < test.min || mean > test.max {
				t.Errorf("a document has %d bytes on average", mean)
			}
			if diff := cmp.Diff(s.documents, newSite(test.kind, n).documents); diff != "" {
				t.Errorf("not the same twice: %s", diff)
			}
			before := s.documents[7]
			s.change(7, 1)
			if before == s.documents[7] {
				t.Error("a new version says the same")
			}
		})
	}
}
