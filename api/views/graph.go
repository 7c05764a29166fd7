package views

import (
	"purser/internal/fault"
	"purser/internal/queries"
	"purser/internal/rendering/graph"
)

// Graph shows how the documents of a revision depend on each other.
type Graph struct {
	Revision  int64           `json:"revision"`
	Layers    []string        `json:"layers"`
	Unordered []string        `json:"unorderedLayers"`
	Nodes     []nodeView      `json:"nodes"`
	Edges     []edgeView      `json:"edges"`
	Problems  []fault.Message `json:"problems"`
}

type nodeView struct {
	ID          int               `json:"id"` // within this answer
	Schema      string            `json:"schema"`
	Layer       *string           `json:"layer"`
	Name        *string           `json:"name"`
	Bucket      *string           `json:"bucket"`
	Missing     *string           `json:"missing"`
	Selector    map[string]string `json:"parentSelector,omitempty"`
	Abstract    bool              `json:"abstract"`
	Control     bool              `json:"control"`
	Encrypted   bool              `json:"encrypted"`
	Replacement bool              `json:"replacement"`
	Replaced    bool              `json:"replaced"`
	ReplacedBy  *int              `json:"replacedBy"`
}

type edgeView struct {
	From     int        `json:"from"`
	To       int        `json:"to"`
	Kind     string     `json:"kind"`
	Cyclic   bool       `json:"cyclic"`
	Doubtful bool       `json:"doubtful"`
	Copies   []copyView `json:"substitutions,omitempty"`
}

type copyView struct {
	From string   `json:"src"`
	To   []string `json:"dest"`
}

// GraphOf returns the view of a graph.
func GraphOf(revision int64, found queries.Graph) Graph {
	view := Graph{
		Revision: revision, Layers: NonNil(found.Layers), Unordered: NonNil(found.Unordered),
		Nodes: []nodeView{}, Edges: []edgeView{}, Problems: NonNil(found.Problems),
	}
	for id, v := range found.Vertices {
		node := nodeViewOf(id, v)
		if v.Index >= 0 {
			node.Bucket = &found.Documents[v.Index].Bucket
		}
		view.Nodes = append(view.Nodes, node)
	}
	for _, e := range found.Edges {
		edge := edgeView{From: e.From, To: e.To, Kind: e.Kind.String(), Cyclic: e.Cyclic, Doubtful: e.Doubtful}
		for _, c := range e.Copies {
			edge.Copies = append(edge.Copies, copyView{c.From, NonNil(c.To)})
		}
		view.Edges = append(view.Edges, edge)
	}
	return view
}

func nodeViewOf(id int, v graph.Vertex) nodeView {
	node := nodeView{
		ID: id, Schema: v.Schema, Layer: Optional(v.Layer), Name: Optional(v.Name), Missing: Optional(v.Missing.String()),
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
