package rendering

import (
	"slices"
	"strings"

	"purser/internal/document"
	"purser/internal/fault"
)

// layers are those of the LayeringPolicy that have documents, from the most general to the most specific.
type layers []string

// String lists the layers as messages do.
func (l layers) String() string {
	if len(l) > mostShown {
		return strings.Join(l[:mostShown], ", ") + ", …"
	}
	return strings.Join(l, ", ")
}

// layersOf reads the first LayeringPolicy and gives every document its rank (spec/rendering.md §3).
func layersOf(nodes []*node) (layers, error) {
	at := slices.IndexFunc(nodes, func(n *node) bool { return strings.HasPrefix(n.Schema, "deckhand/LayeringPolicy") })
	if at < 0 {
		return nil, fault.New(fault.Conflict, "LayeringPolicyNotFound",
			"Required LayeringPolicy was not found for layering")
	}
	declared := layerOrder(nodes[at].document)
	inhabited := make(map[string]bool, len(declared))
	for _, layer := range declared {
		inhabited[layer] = false
	}
	for _, n := range nodes {
		if n.Layer == "" {
			continue
		}
		if _, known := inhabited[n.Layer]; !known {
			return nil, refuse("InvalidDocumentLayer", []*node{n},
				"Invalid layer '%s' for document %s was not found in layerOrder: %s for provided LayeringPolicy: %s",
				n.Layer, n.brief(), declared, nodes[at].Name)
		}
		inhabited[n.Layer] = true
	}
	return rank(nodes, declared, inhabited), nil
}

// rank drops the layers that nobody is in and numbers the others.
func rank(nodes []*node, declared layers, inhabited map[string]bool) layers {
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

// layerOrder is what a LayeringPolicy declares; a broken one declares what can be read of it.
func layerOrder(policy *document.Document) (declared layers) {
	data, err := document.ParseJSON(policy.Data)
	if err != nil {
		return nil
	}
	for _, layer := range list(mapping(data).At("layerOrder")) {
		declared = append(declared, text(layer))
	}
	return declared
}
