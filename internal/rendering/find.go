package rendering

import (
	"fmt"
	"slices"
	"strings"

	"purser/internal/document"
	"purser/internal/fault"
)

// findDocument returns the document with an identity. One without a layer means the document with the schema and name
// that services read, or else the most specific one. Fault: NotFound, which names documents that may have been meant.
func findDocument(nodes []*node, id document.Identity) (found *node, err error) {
	for _, n := range nodes {
		switch {
		case n.Schema != id.Schema || n.Name != id.Name || id.Layer != "" && n.Layer != id.Layer:
		case found == nil, n.returned() && !found.returned(), n.returned() == found.returned() && n.rank > found.rank:
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
func noDocument(nodes []*node, id document.Identity) error {
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

// lineage returns the documents that the data of some documents depends on, and these, in the order of rendering.
func (r *run) lineage(order []*node, of func(*node) bool) (lineage []*node) {
	needed := map[*node]bool{}
	for _, n := range slices.Backward(order) {
		r.charge(lookupCost * (1 + len(n.substitutions)))
		if !needed[n] && !of(n) {
			continue
		}
		needed[n] = true
		for source := range r.takenFrom(n) {
			needed[source] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(order), func(n *node) bool { return !needed[n] })
}
