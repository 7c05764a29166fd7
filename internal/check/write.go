package check

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"purser/internal/document"
	"purser/internal/revisions"
)

// Render returns the rendered documents of a report as YAML, of which secrets show only hashes: one text for each
// bucket, by its name.
func (r Report) Render() map[string][]byte {
	texts := map[string][]byte{}
	for bucket, documents := range revisions.GroupByBucket(r.Rendered) {
		for _, doc := range documents {
			texts[bucket] = append(texts[bucket], "---\n"...)
			texts[bucket] = document.AppendYAML(texts[bucket], jsonOf(doc))
		}
	}
	return texts
}

// jsonOf returns a document as JSON text.
func jsonOf(doc *revisions.Stored) []byte {
	text := append([]byte(`{"schema":`), document.AppendJSON(nil, doc.Schema)...)
	text = append(append(text, `,"metadata":`...), doc.Metadata...)
	text = append(append(text, `,"data":`...), doc.Data...)
	return append(text, '}')
}

// WriteFolder writes texts as files of a folder, which it makes: BUCKET.yaml for each.
func WriteFolder(folder string, texts map[string][]byte) error {
	for bucket, text := range texts {
		name := filepath.Join(folder, filepath.Clean("/"+filepath.FromSlash(bucket))+".yaml")
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil { //nolint:gosec // as other folders
			return fmt.Errorf("make a folder: %w", err)
		}
		if err := os.WriteFile(name, text, 0o644); err != nil { //nolint:gosec // as other files
			return fmt.Errorf("write rendered documents: %w", err)
		}
	}
	return nil
}

// Same reports whether two readings have the same files with the same texts.
func Same(a, b []File) bool {
	return slices.EqualFunc(a, b, func(a, b File) bool {
		return a.Name == b.Name && a.Broken == b.Broken && bytes.Equal(a.Text, b.Text)
	})
}
