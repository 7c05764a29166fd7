package views

import (
	"encoding/json"

	"purser/internal/document"
	"purser/internal/queries"
	"purser/internal/rendering"
	"purser/internal/revisions"
)

// Explanation shows where the data of a rendered document comes from.
type Explanation struct {
	Document documentName   `json:"document"`
	Parents  []documentName `json:"parents"`
	Leaves   []leafView     `json:"leaves"`
}

// documentName identifies a document of a revision.
type documentName struct {
	Schema   string  `json:"schema"`
	Name     string  `json:"name"`
	Layer    *string `json:"layer"`
	Bucket   string  `json:"bucket"`
	Revision int64   `json:"revision"` // in which it last changed
}

func nameOf(doc *revisions.Stored) documentName {
	return documentName{doc.Schema, doc.Name, Optional(doc.Layer), doc.Bucket, doc.Revision}
}

type leafView struct {
	Path   string          `json:"path"`
	Value  json.RawMessage `json:"value,omitempty"` // absent if it is secret
	Secret bool            `json:"secret,omitempty"`
	trailView
}

type trailView struct {
	From    writtenView `json:"from"`
	Steps   []stepView  `json:"steps"`
	Omitted int         `json:"omitted,omitempty"` // steps
}

type writtenView struct {
	documentName

	Path *string `json:"path"` // null for an empty container created by the first step
}

type stepView struct {
	Kind         string        `json:"kind"`
	Document     documentName  `json:"document"`
	Action       *int          `json:"action,omitempty"`
	Substitution *int          `json:"substitution,omitempty"`
	Source       *documentName `json:"source,omitempty"`
	From         string        `json:"from,omitempty"`
	Part         string        `json:"part,omitempty"`
	Path         string        `json:"path,omitempty"`
	Pattern      string        `json:"pattern,omitempty"`
	Value        *trailView    `json:"value,omitempty"` // the value that replaced the pattern
}

// ExplanationOf returns the view of an explanation.
func ExplanationOf(e queries.Explanation) Explanation {
	view := Explanation{
		Document: nameOf(e.Documents[e.Document]), Parents: []documentName{}, Leaves: make([]leafView, len(e.Leaves)),
	}
	for _, parent := range e.Parents {
		view.Parents = append(view.Parents, nameOf(e.Documents[parent]))
	}
	for i, leaf := range e.Leaves {
		shown := leafView{Path: leaf.At, Secret: leaf.Secret, trailView: trailViewOf(e, leaf.Trail)}
		if !leaf.Secret {
			shown.Value = document.AppendJSON(nil, leaf.Value)
		}
		view.Leaves[i] = shown
	}
	return view
}

func trailViewOf(e queries.Explanation, trail rendering.Trail) trailView {
	view := trailView{
		From:  writtenView{nameOf(e.Documents[trail.Document]), Optional(trail.Path)},
		Steps: make([]stepView, len(trail.Steps)), Omitted: trail.Omitted,
	}
	for i, step := range trail.Steps {
		view.Steps[i] = stepViewOf(e, step)
	}
	return view
}

func stepViewOf(e queries.Explanation, step rendering.Step) stepView {
	view := stepView{Kind: step.Kind.String(), Document: nameOf(e.Documents[step.Document]), Path: step.To}
	switch step.Kind {
	case rendering.Inherited:
	case rendering.Merged, rendering.Replaced, rendering.Deleted:
		view.Action = &step.Number
	case rendering.Substituted, rendering.Inserted:
		view.Substitution, view.From, view.Part, view.Pattern = &step.Number, step.From, step.Part, step.Pattern
		view.Source = new(nameOf(e.Documents[step.Source]))
		if step.Inserted != nil {
			view.Value = new(trailViewOf(e, *step.Inserted))
		}
	}
	return view
}
