package rendering

// sources are the documents that substitutions read, by schema and name (spec/rendering.md §6).
type sources map[key]*node

// sourcesOf lists the concrete documents, or what replaces them. Where two have one schema and name, that in the more
// specific layer counts, whatever their order in the input (R1).
func sourcesOf(nodes []*node) sources {
	s := make(sources, len(nodes))
	for _, n := range nodes {
		if n.abstract {
			continue
		}
		source := n
		if n.replacedBy != nil {
			source = n.replacedBy
		}
		if known := s[n.key()]; known == nil || known.rank < source.rank {
			s[n.key()] = source
		}
	}
	return s
}
