package api

import (
	"net/http"

	"purser/internal/document"
	"purser/internal/queries"
	"purser/internal/rendering"
	"purser/internal/revisions"
	"purser/internal/wire"
)

// GET /api/v1.0/revisions/{revision}/rendered-documents/explain
func (s *server) explain(w http.ResponseWriter, r *http.Request) error {
	q := paramsOf(r)
	identity := document.Identity{Schema: q.text("schema"), Layer: q.text("layer"), Name: q.text("name")}
	path := q.text("path")
	if identity.Schema == "" || identity.Name == "" {
		q.fail("name", "Name the document to be explained: ?schema=example/Kind/v1&name=...")
	}
	if err := q.err(); err != nil {
		return err
	}
	if path == "" {
		path = "."
	}
	id, err := s.revision(r)
	if err != nil {
		return asHTTPNotFound(err)
	}
	explained, err := s.questions(r).Explain(r.Context(), id, identity, path)
	if err != nil {
		return asHTTPNotFound(err)
	}
	if negotiate(r, typeText) == typeText {
		s.answers.writeText(w, r, typeText, []byte(explanationText(explained)))
		return nil
	}
	s.answers.write(w, r, http.StatusOK, explanationView(explained))
	return nil
}

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
