package api

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"purser/internal/picture"
	"purser/internal/queries"
	"purser/internal/rendering"
	"purser/internal/revisions"
	"purser/internal/wire"
)

// GET /api/v1.0/revisions/{revision}/graph
func (s *server) graph(w http.ResponseWriter, r *http.Request) error {
	q := paramsOf(r)
	kind := graphType(r, q)
	focus := queries.Focus{Name: q.text("focus"), Depth: q.count("depth", defaultDepth)}
	if err := q.err(); err != nil {
		return err
	}
	id, err := s.revision(r)
	if err != nil {
		return err
	}
	found, err := s.questions(r).Graph(r.Context(), id, focus)
	if err != nil {
		return err
	}
	switch kind {
	case typeDot:
		text, err := graphText(r.Context(), id, focus, found)
		if err != nil {
			return err
		}
		s.answers.writeText(w, r, kind, []byte(text))
	case typeSVG:
		return s.writeSVG(w, r, id, focus, found)
	default:
		return s.answers.writeWithin(w, r, kind, graphView(id, found), revisions.TextSize(found.Documents),
			"ask for what is around one document: ?focus=example/Kind/v1/name&depth=1")
	}
	return nil
}

// defaultDepth is the distance that a graph extends from the document in focus if the parameter depth is absent.
const defaultDepth = 2

// graphType returns the media type that the parameter format or, without it, Accept asks for.
func graphType(r *http.Request, q *params) string {
	switch q.text("format") {
	case "json":
		return typeJSON
	case "yaml":
		return typeXYAML
	case "dot":
		return typeDot
	case formSVG:
		return typeSVG
	case "":
	default:
		q.fail("format", "It can be json, yaml, dot or svg.")
	}
	return negotiate(r, typeDot, typeSVG)
}

const formSVG = "svg"

func graphText(ctx context.Context, revision int64, focus queries.Focus, found queries.Graph) (string, error) {
	title := fmt.Sprintf("Revision %d", revision)
	if focus.Name != "" {
		title += fmt.Sprintf(": %s, depth %d", revisions.Truncate(focus.Name), focus.Depth)
	}
	return picture.Text(ctx, found.Graph, title, func(name string) string {
		return "?" + url.Values{"focus": {name}, "format": {formSVG}}.Encode()
	})
}

// writeSVG answers with a picture. Its ETag is computed from the source text, so no layout is needed for a client that
// already has the picture.
func (s *server) writeSVG(w http.ResponseWriter, r *http.Request, revision int64, focus queries.Focus,
	found queries.Graph,
) error {
	if err := picture.Fits(found.Graph); err != nil {
		return err
	}
	text, err := graphText(r.Context(), revision, focus, found)
	if err != nil {
		return err
	}
	tag := textTag("", typeSVG, []byte(text))
	if matchesTag(r, tag) && notModified(w, r, tag) {
		return nil
	}
	svg, err := s.Layout.SVG(r.Context(), text)
	if err != nil {
		return err
	}
	if notModified(w, r, tag) {
		return nil
	}
	s.answers.deliver(w, r, http.StatusOK, typeSVG, svg)
	return nil
}

// graphView returns the view of a graph.
func graphView(revision int64, found queries.Graph) wire.Graph {
	view := wire.Graph{
		Revision: revision, Layers: nonNil(found.Layers), Unordered: nonNil(found.Unordered),
		Nodes: []wire.Node{}, Edges: []wire.Edge{}, Problems: nonNil(found.Problems),
	}
	for id, v := range found.Vertices {
		shown := nodeView(id, v)
		if v.Index >= 0 {
			shown.Bucket = wire.Optional(found.Documents[v.Index].Bucket)
		}
		view.Nodes = append(view.Nodes, shown)
	}
	for _, e := range found.Edges {
		edge := wire.Edge{From: e.From, To: e.To, Kind: e.Kind.String(), Cyclic: e.Cyclic, Doubtful: e.Doubtful}
		for _, c := range e.Copies {
			edge.Copies = append(edge.Copies, wire.Copy{From: c.From, To: nonNil(c.To)})
		}
		view.Edges = append(view.Edges, edge)
	}
	return view
}

func nodeView(id int, v rendering.Vertex) wire.Node {
	node := wire.Node{
		ID: id, Schema: v.Schema, Layer: wire.Optional(v.Layer), Name: wire.Optional(v.Name),
		Missing:  wire.Optional(v.Missing.String()),
		Abstract: v.Abstract, Control: v.Control, Encrypted: v.Encrypted, Replacement: v.Replacement, Replaced: v.Replaced,
	}
	if v.ReplacedBy >= 0 {
		node.ReplacedBy = &v.ReplacedBy
	}
	for _, pair := range v.Selector {
		if node.Selector == nil {
			node.Selector = map[string]string{}
		}
		node.Selector[pair.Key] = pair.Value
	}
	return node
}
