package rendering

import (
	"slices"
	"strings"

	"purser/internal/fault"
)

// layers are the layers of the LayeringPolicy that have documents, the most general first.
type layers []string

// String lists the layers as messages do.
func (l layers) String() string {
	var shown []string
	for _, layer := range l[:min(maxShown, len(l))] {
		shown = append(shown, shorten(layer))
	}
	if len(l) > maxShown {
		shown = append(shown, "…")
	}
	return strings.Join(shown, ", ")
}

// layersOf reads the first LayeringPolicy and gives every document its rank (spec/rendering.md §3).
func (r *run) layersOf(nodes []*node) (layers, error) {
	at := slices.IndexFunc(nodes, func(n *node) bool { return strings.HasPrefix(n.Schema, "deckhand/LayeringPolicy") })
	if at < 0 {
		f := fault.New(fault.Conflict, "LayeringPolicyNotFound", "Required LayeringPolicy was not found for layering")
		f.Messages = []fault.Message{{Error: true, Message: f.Message + ": PUT one that lists the layers of the site, the " +
			"most general first, such as {schema: deckhand/LayeringPolicy/v1, metadata: {schema: metadata/Control/v1, name: " +
			"layering-policy}, data: {layerOrder: [global, site]}}"}}
		return nil, f
	}
	declared := r.layerOrder(nodes[at])
	r.charge(2 * lookupCost * (len(declared) + len(nodes)))
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

// rank drops the layers without documents and numbers the others.
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

// layerOrder is the layerOrder of a LayeringPolicy. An invalid policy yields the part that can be read.
func (r *run) layerOrder(policy *node) layers {
	if declared, known := r.policies[policy]; known {
		return declared
	}
	data, size, err := r.parse(policy.document.Data)
	r.metadata += size
	var declared layers
	if err == nil {
		for _, layer := range list(mapping(data).At("layerOrder")) {
			declared = append(declared, text(layer))
		}
	}
	r.policies[policy] = declared
	return declared
}
