package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/validations"
)

// layered is a site whose documents are rendered from one another.
type layered struct {
	label     string
	body      []byte
	documents []*document.Document
}

// layered returns a real site, if available, and otherwise the generated one.
func (o *options) layered(ctx context.Context) (layered, error) {
	const known = "tm19-airskiff"
	body, err := os.ReadFile(filepath.Join(o.shared, "corpus", known, "documents.yaml"))
	if errors.Is(err, fs.ErrNotExist) {
		return newLayered(ctx, "our own site", layeredSite())
	}
	if err != nil {
		return layered{}, fmt.Errorf("read %s: %w", known, err)
	}
	return newLayered(ctx, known, body)
}

func newLayered(ctx context.Context, name string, body []byte) (layered, error) {
	documents, err := decodeAndCheck(ctx, body, unchecked{}, cores())
	if err != nil {
		return layered{}, fmt.Errorf("%s: %w", name, err)
	}
	label := fmt.Sprintf("%s (%d documents, %d substitutions)", name, len(documents), substitutions(documents))
	return layered{label, body, documents}, nil
}

func substitutions(documents []*document.Document) (n int) {
	for _, doc := range documents {
		value, _ := document.ParseJSON(doc.Metadata)
		metadata, _ := value.(document.Mapping)
		links, _ := metadata.At("substitutions").([]any)
		n += len(links)
	}
	return n
}

// unchecked is a Checker that finds nothing.
type unchecked struct{}

func (unchecked) Check(*budget.Meter, []byte) ([]validations.Finding, error) { return nil, nil }
