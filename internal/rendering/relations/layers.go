package relations

import (
	"slices"
	"strings"

	"purser/internal/fault"
	"purser/internal/rendering/declared"
	"purser/internal/rendering/meter"
	"purser/internal/words"
)

// layers are the layers of the LayeringPolicy that have documents, the most general first.
type layers []string

// String lists the layers as messages do.
func (l layers) String() string {
	var shown []string
	for _, layer := range l[:min(maxShown, len(l))] {
		shown = append(shown, words.Excerpt(layer))
	}
	if len(l) > maxShown {
		shown = append(shown, "…")
	}
	return strings.Join(shown, ", ")
}

// layersOf reads the first LayeringPolicy and gives every document its rank (spec/rendering.md §3).
func (s *Set) layersOf(nodes []*Node) (layers, error) {
	at := slices.IndexFunc(nodes, func(n *Node) bool { return strings.HasPrefix(n.Schema, "deckhand/LayeringPolicy") })
	if at < 0 {
		f := fault.New(fault.Conflict, "LayeringPolicyNotFound", "Required LayeringPolicy was not found for layering")
		f.Messages = []fault.Message{{Error: true, Message: f.Message + ": PUT one that lists the layers of the site, the " +
			"most general first, such as {schema: deckhand/LayeringPolicy/v1, metadata: {schema: metadata/Control/v1, name: " +
			"layering-policy}, data: {layerOrder: [global, site]}}"}}
		return nil, f
	}
	declared := s.layerOrder(nodes[at])
	s.Charge(2 * meter.Lookup * (len(declared) + len(nodes)))
	inhabited := make(map[string]bool, len(declared))
	for _, layer := range declared {
		inhabited[layer] = false
	}
	for _, n := range nodes {
		if n.Layer == "" {
			continue
		}
		if _, known := inhabited[n.Layer]; !known {
			return nil, Refuse("InvalidDocumentLayer", []*Node{n},
				"Invalid layer '%s' for document %s was not found in layerOrder: %s for provided LayeringPolicy: %s",
				n.Layer, n.Brief(), declared, nodes[at].Name)
		}
		inhabited[n.Layer] = true
	}
	return rank(nodes, declared, inhabited), nil
}

// rank drops the layers without documents and numbers the others.
func rank(nodes []*Node, declared layers, inhabited map[string]bool) layers {
	var order layers
	ranks := map[string]int{}
	for _, layer := range declared {
		if _, twice := ranks[layer]; inhabited[layer] && !twice {
			ranks[layer] = len(order)
			order = append(order, layer)
		}
	}
	for _, n := range nodes {
		if n.Layer != "" {
			n.rank = ranks[n.Layer]
		}
	}
	return order
}

// layerOrder is the layerOrder of a LayeringPolicy. An invalid policy yields the part that can be read.
func (s *Set) layerOrder(policy *Node) layers {
	if order, known := s.policies[policy]; known {
		return order
	}
	data, size, err := s.Parse(policy.Document.Data)
	s.ReleaseAtEnd(size)
	var order layers
	if err == nil {
		order = declared.LayerOrder(data)
	}
	s.policies[policy] = order
	return order
}
