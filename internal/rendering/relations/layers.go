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

// rankAll reads the first LayeringPolicy, refuses documents in layers that it does not list, and gives the others their
// rank (spec/rendering.md §3). Without a policy no parent is known.
func (s *Set) rankAll() layers {
	at := slices.IndexFunc(s.Nodes, func(n *Node) bool { return strings.HasPrefix(n.Schema, "deckhand/LayeringPolicy/") })
	if at < 0 {
		missing := s.note(noPolicy())
		for _, n := range s.Nodes {
			if n.Layer != "" && len(n.Selector) > 0 {
				n.Cause = missing
			}
		}
		return nil
	}
	declared := s.layerOrder(s.Nodes[at])
	s.Charge(2 * meter.Lookup * (len(declared) + len(s.Nodes)))
	inhabited, listed := make(map[string]bool, len(declared)), declared.String()
	for _, layer := range declared {
		inhabited[layer] = false
	}
	for _, n := range s.Nodes {
		if n.Layer == "" {
			continue
		}
		if _, known := inhabited[n.Layer]; known {
			inhabited[n.Layer] = true
			continue
		}
		s.Refuse(n, n.Secret, func() *fault.Fault {
			return Refuse("InvalidDocumentLayer", []*Node{n},
				"Invalid layer '%s' for document %s was not found in layerOrder: %s for provided LayeringPolicy: %s",
				n.Layer, n.Brief(), listed, s.Nodes[at].Name)
		})
	}
	return rank(s.Nodes, declared, inhabited)
}

// noPolicy returns the fault of documents without a LayeringPolicy.
func noPolicy() *fault.Fault {
	f := fault.New(fault.Conflict, "LayeringPolicyNotFound", "Required LayeringPolicy was not found for layering")
	f.Messages = []fault.Message{{Error: true, Message: f.Message + ": PUT one that lists the layers of the site, the " +
		"most general first, such as {schema: deckhand/LayeringPolicy/v1, metadata: {schema: metadata/Control/v1, name: " +
		"layering-policy}, data: {layerOrder: [global, site]}}"}}
	return f
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
		switch {
		case n.Failed:
			n.rank = len(order)
		case n.Layer != "":
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
