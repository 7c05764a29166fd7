package api

import (
	"purser/internal/queries"
	"purser/internal/rendering"
	"purser/internal/wire"
)

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
