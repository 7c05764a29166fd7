package rendering

import (
	"context"

	"purser/internal/document"
)

// Needs describe the documents that decide how others are rendered.
type Needs struct {
	// Keys are the schemas and names of the sources of substitutions, and of documents that replace each other.
	Keys    []Key
	Parents []Selector // each selects the possible parents of a document
}

// Selector selects the documents of a schema that have all of the labels.
type Selector struct {
	Schema string
	Labels []Label
}

// NeedsOf returns what the rendering of documents needs, as their metadata declares it. What is found may have needs in
// turn. If a whole revision renders, then documents with all of these and the LayeringPolicies render in the same way
// without the others. ok is false if a selector has a value that is not a string, which may equal other values.
func NeedsOf(ctx context.Context, documents []*document.Document) (needs Needs, ok bool, err error) {
	r := newRun(ctx, documents, Options{})
	defer r.end()
	if err := r.readAll(documents); err != nil {
		return needs, false, err
	}
	for _, n := range r.nodes {
		r.charge(lookupCost * (1 + len(n.substitutions) + len(n.selector)))
		needs.Keys = append(needs.Keys, n.nameKey())
		for i := range n.substitutions {
			needs.Keys = append(needs.Keys, n.substitutions[i].source)
		}
		if len(n.selector) == 0 {
			continue
		}
		parent := Selector{Schema: n.Schema}
		for _, wanted := range n.selector {
			text, isText := wanted.text()
			if !isText {
				return Needs{}, false, nil
			}
			parent.Labels = append(parent.Labels, Label{wanted.key, text})
		}
		needs.Parents = append(needs.Parents, parent)
	}
	return needs, true, r.check()
}
