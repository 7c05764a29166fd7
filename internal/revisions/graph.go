package revisions

import (
	"context"
	"fmt"

	"purser/internal/fault"
	"purser/internal/rendering"
)

// Graph is how the documents of a revision depend on each other, with the documents that the Index of a vertex names.
type Graph struct {
	*rendering.Graph

	Documents []*Stored
	Problems  []fault.Message // what keeps the documents from fitting together
}

// Focus is a part of a graph: that around the document with this name, up to so many edges away.
type Focus struct {
	Name  string // schema/name or schema/name/layer; "" is the whole graph
	Depth int
}

// Graph returns how the documents of a revision depend on each other, whether it renders or not. Faults: NotFound for
// the revision (RevisionNotFound) or the document in focus (DocumentNotFound), Gone, TooLarge.
func (s *Service) Graph(ctx context.Context, id int64, focus Focus) (Graph, error) {
	documents, _, err := s.unrendered(ctx, id, false)
	if err != nil {
		return Graph{}, err
	}
	graph, err := rendering.Dependencies(ctx, contentsOf(documents))
	if err != nil {
		return Graph{}, fmt.Errorf("find the dependencies of revision %d: %w", id, err)
	}
	if focus.Name != "" {
		if graph, err = graph.Focus(focus.Name, focus.Depth); err != nil {
			return Graph{}, fmt.Errorf("focus: %w", err)
		}
	}
	var problems []fault.Message
	for _, problem := range graph.Problems {
		problems = append(problems, messagesOf(problem)...)
	}
	return Graph{graph, documents, problems}, nil
}
