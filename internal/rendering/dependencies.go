package rendering

import (
	"context"

	"purser/internal/document"
	"purser/internal/fault"
)

// Examine reports why documents are inconsistent, as far as their metadata and the LayeringPolicy show it.
func Examine(ctx context.Context, documents []*document.Document, options Options) ([]*fault.Fault, error) {
	r := newRun(ctx, documents, options)
	defer r.end()
	if err := r.readAll(documents); err != nil {
		return nil, err
	}
	return r.set.examine()
}

// Dependencies returns how the documents of one revision depend on each other, with the problems that Examine reports.
// Of documents with one identity only the first counts.
//
// Fault: TooLarge if a limit is exceeded. If the context ends, the error is its cause.
func Dependencies(ctx context.Context, documents []*document.Document) (*Graph, error) {
	r := newRun(ctx, documents, Options{})
	defer r.end()
	if err := r.readAll(documents); err != nil {
		return nil, err
	}
	return r.set.linkGraph()
}
