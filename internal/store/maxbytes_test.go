package store_test

import (
	"fmt"
	"strings"
	"testing"

	"purser/internal/queries"
	"purser/internal/store/storetest"
)

// A selection with a limit in bytes outlines from the document on that exceeds it, whatever the document's size in the
// database.
func TestStore_Documents_maxBytes(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	const size = 1 << 20 // of each document, which compresses well
	var body strings.Builder
	for i := range 4 {
		fmt.Fprintf(&body, "---\nschema: acme/W/v1\nmetadata: {schema: metadata/Document/v1, name: w%d, storagePolicy: cleartext, "+
			"layeringDefinition: {layer: site}}\ndata: %s\n", i, strings.Repeat("x", size))
	}
	put(t, open(t, url), "a", body.String())
	s := openStore(t, url, defaults())
	for maxBytes, want := range map[int]int{0: 4, 1: 1, size: 1, 2*size + 100: 2, 5 * size: 4} {
		selected, err := s.Documents(t.Context(), 1, queries.Selection{MaxBytes: maxBytes, Page: queries.Page{Limit: -1}})
		if err != nil || len(selected.Documents) != want || len(selected.Rest) != 4-want {
			t.Errorf("at most %d bytes: %d documents and %d, %v; want %d", maxBytes, len(selected.Documents),
				len(selected.Rest), err, want)
		}
	}
}

// Sealed secrets count too: reading documents that contain only references to secrets is bounded.
func TestStore_Documents_maxBytesSealed(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	put(t, open(t, url), "a", widget("v", 1)+widget("w", 2)+widget("x", 3))
	const size = 1 << 20
	if _, err := storetest.Connect(t, url).Exec(t.Context(), "UPDATE contents SET sealed = $1", make([]byte, size)); err != nil {
		t.Fatal(err)
	}
	s := openStore(t, url, defaults())
	selected, err := s.Documents(t.Context(), 1, queries.Selection{MaxBytes: size, Page: queries.Page{Limit: -1}})
	if err != nil || len(selected.Documents) != 1 || len(selected.Rest) != 2 {
		t.Fatalf("%d documents and %d, %v", len(selected.Documents), len(selected.Rest), err)
	}
	for _, outline := range selected.Rest {
		if outline.Size < size {
			t.Errorf("an outline of %d bytes, with a secret of %d", outline.Size, size)
		}
	}
}
