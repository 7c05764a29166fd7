package rendering

import (
	"context"

	"purser/internal/document"
	"purser/internal/rendering/declared"
	"purser/internal/rendering/meter"
)

// Needs describe the documents that decide how others are rendered.
type Needs struct {
	// Keys are the schemas and names of the sources of substitutions, and of documents that replace each other.
	Keys    []Key
	Parents []Selector // each selects the possible parents of a document
}

// Key is the schema and name of documents, one in each of some layers.
type Key = declared.Key

// Selector selects the documents of a schema that have all of the labels.
type Selector struct {
	Schema string
	Labels []Label
}

// Label is a label with its value.
type Label struct{ Key, Value string }

// NeedsOf returns what the rendering of documents needs, as their metadata declares it. What is found may have needs in
// turn. If a whole revision renders, then documents with all of these and the LayeringPolicies render in the same way
// without the others. ok is false if a selector has a value that is not a string, which may equal other values.
func NeedsOf(ctx context.Context, documents []*document.Document) (needs Needs, ok bool, err error) {
	r := newRun(ctx, documents, Options{})
	defer r.End()
	if err := r.readAll(documents); err != nil {
		return needs, false, err
	}
	for _, n := range r.set.Nodes {
		r.Charge(meter.Lookup * (1 + len(n.Substitutions) + len(n.Selector)))
		needs.Keys = append(needs.Keys, n.Key())
		for i := range n.Substitutions {
			needs.Keys = append(needs.Keys, n.Substitutions[i].Source)
		}
		if len(n.Selector) == 0 {
			continue
		}
		parent := Selector{Schema: n.Schema}
		for _, wanted := range n.Selector {
			text, isText := wanted.Text()
			if !isText {
				return Needs{}, false, nil
			}
			parent.Labels = append(parent.Labels, Label{wanted.Key, text})
		}
		needs.Parents = append(needs.Parents, parent)
	}
	return needs, true, r.Stopped()
}
