package api

import (
	"bytes"
	"strconv"
	"testing"

	"purser/internal/document"
	"purser/internal/revisions"
)

// Texts are prepared up to a limit on their own size, which includes metadata and the indentation of deep values.
func TestPrepare(t *testing.T) {
	t.Parallel()
	const deep = 100
	nested := append(bytes.Repeat([]byte(`{"k":`), deep), append([]byte("1"), bytes.Repeat([]byte("}"), deep)...)...)
	documents := make([]*revisions.Stored, 1000)
	for i := range documents {
		documents[i] = &revisions.Stored{
			Document: &document.Document{
				Identity: document.Identity{Schema: "acme/Widget/v1", Layer: "site", Name: strconv.Itoa(i)},
				Metadata: []byte(`{"name":"w"}`), Data: nested,
			},
			Bucket: "b", Revision: 7,
		}
	}
	texts := prepareTexts(documents)
	size, largest := 0, 0
	for _, text := range texts {
		size, largest = size+len(text), max(largest, len(text))
	}
	if len(texts) == len(documents) || size < maxPrepared || size > maxPrepared+largest {
		t.Errorf("%d texts of %d bytes, want the first of at least %d", len(texts), size, maxPrepared)
	}
	for i, doc := range documents {
		if _, made := texts[textKey{doc, true}]; made != (i < len(texts)) {
			t.Errorf("document %d: made %v", i, made)
		}
	}
}
