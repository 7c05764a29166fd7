package relations

import (
	"fmt"
	"slices"
	"strings"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/rendering/meter"
)

// Find returns the document with an identity. One without a layer means the document with the schema and name that
// services read, or else the most specific one. Fault: NotFound, which names documents that may have been meant.
func Find(nodes []*Node, id document.Identity) (found *Node, err error) {
	for _, n := range nodes {
		switch {
		case n.Schema != id.Schema || n.Name != id.Name || id.Layer != "" && n.Layer != id.Layer:
		case found == nil, n.Returned() && !found.Returned(), n.Returned() == found.Returned() && n.rank > found.rank:
			found = n
		}
	}
	if found == nil {
		return nil, noDocument(nodes, id)
	}
	return found, nil
}

// maxSimilar is how many documents are named that may have been meant.
const maxSimilar = 10

// noDocument says which documents could have been meant.
func noDocument(nodes []*Node, id document.Identity) error {
	wanted := fmt.Sprintf("[%s] %s", id.Schema, id.Name)
	if id.Layer != "" {
		wanted = id.String()
	}
	var similar []string
	for _, n := range nodes {
		if (n.Name == id.Name || n.Schema == id.Schema) && len(similar) < maxSimilar {
			similar = append(similar, n.Identity.String())
		}
	}
	if similar == nil {
		return fault.New(fault.NotFound, "DocumentNotFound",
			"There is no document %s, and none of that schema or name", wanted)
	}
	return fault.New(fault.NotFound, "DocumentNotFound",
		"There is no document %s; of that schema or name there are, among others: %s", wanted, strings.Join(similar, ", "))
}

// Lineage returns the documents that the data of some documents depends on, and these, in the order of rendering.
func (s *Set) Lineage(order []*Node, of func(*Node) bool) (lineage []*Node) {
	needed := map[*Node]bool{}
	for _, n := range slices.Backward(order) {
		s.Charge(meter.Lookup * (1 + 2*len(n.Substitutions)))
		if !needed[n] && !of(n) {
			continue
		}
		needed[n] = true
		if n.Layered() {
			needed[n.Ancestor()] = true
		}
		for j := range n.Substitutions {
			if source := s.Source(n.Substitutions[j].Source); source != nil {
				needed[source] = true
			}
		}
	}
	for _, n := range order {
		if needed[n] {
			lineage = append(lineage, n)
		}
	}
	return lineage
}
