package rendering

import (
	"slices"
	"strings"

	"purser/internal/fault"
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
// rank. Without a policy no parent is known.
func (r *run) rankAll() layers {
	policy := r.policy()
	if policy == nil {
		missing := r.keep(&r.faults, false, noPolicy)
		for _, n := range r.nodes {
			if n.Layer != "" && len(n.selector) > 0 {
				n.cause = missing
			}
		}
		return nil
	}
	declared := layers(policy.layers)
	r.charge(2 * lookupCost * (len(declared) + len(r.nodes)))
	order, listed := r.rank(declared), declared.String()
	for _, n := range r.nodes {
		if n.Layer == "" || n.rank < len(order) {
			continue
		}
		r.fail(n, n.secret, func() *fault.Fault {
			return invalid("InvalidDocumentLayer", []*node{n},
				"Invalid layer '%s' for document %s was not found in layerOrder: %s for provided LayeringPolicy: %s",
				n.Layer, n.brief(), listed, policy.Name)
		})
	}
	return order
}

// policy returns the first LayeringPolicy, nil if there is none.
func (r *run) policy() *node {
	if at := slices.IndexFunc(r.nodes, func(n *node) bool { return isPolicy(n.Schema) }); at >= 0 {
		return r.nodes[at]
	}
	return nil
}

func isPolicy(schema string) bool { return strings.HasPrefix(schema, "deckhand/LayeringPolicy/") }

// noPolicy returns the fault of documents without a LayeringPolicy.
func noPolicy() *fault.Fault {
	f := fault.New(fault.Conflict, "LayeringPolicyNotFound", "Required LayeringPolicy was not found for layering")
	f.Messages = []fault.Message{{Error: true, Message: f.Message + ": PUT one that lists the layers of the site, the " +
		"most general first, such as {schema: deckhand/LayeringPolicy/v1, metadata: {schema: metadata/Control/v1, name: " +
		"layering-policy}, data: {layerOrder: [global, site]}}"}}
	return f
}

// rank numbers the layers that have documents, in their declared order, and gives documents in others the next number.
func (r *run) rank(declared layers) (order layers) {
	const unknown = -1
	ranks := map[string]int{}
	for _, n := range r.nodes {
		ranks[n.Layer] = unknown
	}
	delete(ranks, "")
	for _, layer := range declared {
		if rank, inhabited := ranks[layer]; inhabited && rank == unknown {
			ranks[layer] = len(order)
			order = append(order, layer)
		}
	}
	for _, n := range r.nodes {
		switch rank := ranks[n.Layer]; {
		case n.Layer == "":
		case rank == unknown:
			n.rank = len(order)
		default:
			n.rank = rank
		}
	}
	return order
}
