package rendering

import (
	"fmt"
)

// namesakes are the documents of one schema and name, in whatever layers.
type namesakes struct {
	last     *node           // the others follow by twin
	original *node           // the first that is not a replacement
	source   *node           // that substitutions read
	layers   map[string]bool // of the documents, if these are many
	count    int
	unknown  *node // fails, so that it is unknown which of them replaces which; nil for none
}

// add adds a document, unless there is one in its layer: of those with one identity the first counts.
func (s *namesakes) add(n *node) (added bool) {
	const few = 16
	if s.count < few {
		for twin := s.last; twin != nil; twin = twin.twin {
			if twin.Layer == n.Layer {
				return false
			}
		}
	} else if !s.addLayer(n.Layer) {
		return false
	}
	n.namesakes, n.twin, s.last = s, s.last, n
	s.count++
	return true
}

// addLayer adds a layer to the set of layers, and reports whether it was not in it.
func (s *namesakes) addLayer(layer string) bool {
	if s.layers == nil {
		s.layers = make(map[string]bool, 2*s.count)
		for twin := s.last; twin != nil; twin = twin.twin {
			s.layers[twin.Layer] = true
		}
	}
	known := s.layers[layer]
	s.layers[layer] = true
	return !known
}

// sources are the documents that substitutions read, by schema and name.
type sources map[Key]*namesakes

// of is the document that a substitution reads, nil if there is none.
func (s sources) of(k Key) *node {
	if found := s[k]; found != nil {
		return found.source
	}
	return nil
}

// details says which documents are abstract, and so cannot be sources; "" if all are encrypted: their names are secret.
func (s *namesakes) details() string {
	if s == nil {
		return ""
	}
	for twin := s.last; twin != nil; twin = twin.twin {
		if twin.abstract && !twin.encrypted {
			return fmt.Sprintf(". Details: document %s is abstract, and only concrete documents are sources", twin.Identity)
		}
	}
	return ""
}

// chooseSources chooses the concrete documents, or their replacements. If two have the same schema and name, the one in
// the more specific layer counts, whatever their order in the input.
func chooseSources(nodes []*node) {
	for _, n := range nodes {
		n.namesakes.source = nil
	}
	for _, n := range nodes {
		if n.abstract {
			continue
		}
		source := n
		if n.replacedBy != nil {
			source = n.replacedBy
		}
		if known := n.namesakes.source; known == nil || known.rank < source.rank {
			n.namesakes.source = source
		}
	}
}
