package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/document"
	"purser/internal/rendering"
)

// lastRendered returns the rendered data of the last document in text.
func lastRendered(t *testing.T, text string) document.Mapping {
	t.Helper()
	documents, err := decodeAndCheck(t.Context(), []byte(text), unchecked{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	out, err := rendering.Render(t.Context(), documents, rendering.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range out.Documents {
		if doc.Index == len(documents)-1 {
			data, _ := doc.Data.(document.Mapping)
			return data
		}
	}
	t.Fatal("the last document is not rendered")
	return nil
}

// TestGrowth checks that the documents of row 12 are rendered as intended.
func TestGrowth(t *testing.T) {
	t.Parallel()
	relative := string(document.AppendJSON(nil, lastRendered(t, relatives(2*family))))
	want := `{"host":"doc-00019.example.com","limits":{"memory":147,"cpu":5},"paths":["/v1","/v4"],` +
		`"proxy":{"host":"doc-00011.example.com"}}`
	if diff := cmp.Diff(want, relative); diff != "" {
		t.Errorf("a relative (-want +got)\n%s", diff)
	}
	for actions, keys := range map[int]int{1: parentKeys, mostActions: parentKeys - mostActions/3} {
		if data := lastRendered(t, broods(2, actions)); len(data) != keys {
			t.Errorf("a child with %d actions has %d keys, want %d", actions, len(data), keys)
		}
	}
}
