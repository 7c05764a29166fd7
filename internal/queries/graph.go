package queries

import (
	"context"
	"fmt"

	"purser/internal/changes"
	"purser/internal/fault"
	"purser/internal/rendering"
	"purser/internal/revisions"
)

// Graph is the dependencies between the documents of a revision. The Index of a vertex is a position in Documents.
type Graph struct {
	*rendering.Graph

	Documents []*revisions.Stored
	Problems  []fault.Message // conflicts between the documents
}

// Focus selects the part of a graph within a number of edges from a document.
type Focus struct {
	Name  string // schema/name or schema/name/layer; "" is the whole graph
	Depth int
}

// Graph returns the dependencies between the documents of a revision, even if it does not render. Faults: NotFound for
// the revision (RevisionNotFound) or the document in focus (DocumentNotFound), Gone, TooLarge.
func (v View) Graph(ctx context.Context, id int64, focus Focus) (Graph, error) {
	stamp, err := v.Stamp(ctx, id)
	if err != nil {
		return Graph{}, err
	}
	key := graphKey{
		changes.RenderKey{Site: v.renderer.Site, Revision: id, Stamp: stamp, Cleartext: !v.viewer.Encrypted}, focus,
	}
	return shareAnswer(ctx, v.Service, key, func(ctx context.Context) (Graph, int, error) {
		g, err := v.graph(ctx, key)
		return g, -1, err
	})
}

// graphKey identifies a graph in the cache.
type graphKey struct {
	changes.RenderKey

	focus Focus
}

func (s *Service) graph(ctx context.Context, key graphKey) (Graph, error) {
	documents, err := s.unrendered(ctx, key.RenderKey)
	if err != nil {
		return Graph{}, err
	}
	g, err := rendering.Dependencies(ctx, revisions.Contents(documents))
	if err != nil {
		return Graph{}, fmt.Errorf("find the dependencies of revision %d: %w", key.Revision, err)
	}
	if focus := key.focus; focus.Name != "" {
		if g, err = g.Focus(focus.Name, focus.Depth); err != nil {
			return Graph{}, fmt.Errorf("focus: %w", err)
		}
	}
	var problems []fault.Message
	for _, problem := range g.Problems {
		for _, message := range changes.MessagesOf(problem) {
			message.Secret = false // it is about documents in the graph
			problems = append(problems, message)
		}
	}
	return Graph{g, documents, problems}, nil
}
