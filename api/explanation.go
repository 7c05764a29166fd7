package api

import (
	"purser/internal/document"
	"purser/internal/queries"
	"purser/internal/rendering"
	"purser/internal/revisions"
	"purser/internal/wire"
)

func versionView(doc *revisions.Stored) wire.Version {
	return wire.Version{
		Schema: doc.Schema, Name: doc.Name, Layer: wire.Optional(doc.Layer), Bucket: doc.Bucket, Revision: doc.Revision,
	}
}

// explanationView returns the view of an explanation.
func explanationView(e queries.Explanation) wire.Explanation {
	view := wire.Explanation{
		Document: versionView(e.Documents[e.Document]), Parents: []wire.Version{},
		Leaves: make([]wire.Leaf, len(e.Leaves)),
	}
	for _, parent := range e.Parents {
		view.Parents = append(view.Parents, versionView(e.Documents[parent]))
	}
	for i, leaf := range e.Leaves {
		shown := wire.Leaf{Path: leaf.At, Secret: leaf.Secret, Trail: trailView(e, leaf.Trail)}
		if !leaf.Secret {
			shown.Value = document.AppendJSON(nil, leaf.Value)
		}
		view.Leaves[i] = shown
	}
	return view
}

func trailView(e queries.Explanation, trail rendering.Trail) wire.Trail {
	view := wire.Trail{
		From:  wire.Written{Version: versionView(e.Documents[trail.Document]), Path: wire.Optional(trail.Path)},
		Steps: make([]wire.Step, len(trail.Steps)), Omitted: trail.Omitted,
	}
	for i, step := range trail.Steps {
		view.Steps[i] = stepView(e, step)
	}
	return view
}

func stepView(e queries.Explanation, step rendering.Step) wire.Step {
	view := wire.Step{Kind: step.Kind.String(), Document: versionView(e.Documents[step.Document]), Path: step.To}
	switch step.Kind {
	case rendering.Inherited:
	case rendering.Merged, rendering.Replaced, rendering.Deleted:
		view.Action = &step.Number
	case rendering.Substituted, rendering.Inserted:
		view.Substitution, view.From, view.Part, view.Pattern = &step.Number, step.From, step.Part, step.Pattern
		view.Source = new(versionView(e.Documents[step.Source]))
		if step.Inserted != nil {
			view.Value = new(trailView(e, *step.Inserted))
		}
	}
	return view
}
