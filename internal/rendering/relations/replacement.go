package relations

// Why a replacement is refused, in the reference's words (spec/rendering.md §5).
const (
	needsParent = "Document replacement requires that the document with `replacement: true` have a parent."
	needsName   = "Document replacement requires that both documents have the same `schema` and `metadata.name`."
	namesake    = "Non-replacement documents cannot have the same `schema` and `metadata.name` as their parent. Either " +
		"add `replacement: true` to the document or give the document a different name."
	twice = "More than one document with the same name and schema was found, but none has `replacement: true`. Ensure " +
		"that only 2 documents exist for each replacement and that one has `replacement: true` and the other " +
		"`replacement: false`."
	replacedTwice = "A replacement document cannot itself be replaced by another document."
)

// markReplaced checks the rules of spec/rendering.md §5 and sets the replacement of every document. Of two replacements
// in different layers the more specific one counts, in whatever order they are given (R1).
func markReplaced(nodes []*Node) error {
	for _, n := range nodes {
		n.namesakes.original = nil
	}
	for _, n := range nodes {
		if n.Replacement {
			if err := replace(n); err != nil {
				return err
			}
			continue
		}
		if n.parent != nil && n.parent.Key() == n.Key() {
			return notReplacing(n, namesake, n.parent)
		}
		if n.Control {
			continue
		}
		if first := n.namesakes.original; first != nil {
			return notReplacing(n, twice, first)
		}
		n.namesakes.original = n
	}
	for _, n := range nodes {
		if n.replacedBy != nil && n.Replacement && !n.Abstract {
			return notReplacing(n, replacedTwice, n.replacedBy)
		}
	}
	return nil
}

func replace(n *Node) error {
	switch {
	case n.parent == nil:
		return notReplacing(n, needsParent)
	case n.parent.Key() != n.Key():
		return notReplacing(n, needsName, n.parent)
	case n.parent.replacedBy == nil || n.parent.replacedBy.rank < n.rank:
		n.parent.replacedBy = n
	}
	return nil
}

func notReplacing(n *Node, reason string, others ...*Node) error {
	return refuseReason("InvalidDocumentReplacement", reason, append([]*Node{n}, others...),
		"Replacement document %s is invalid.", n.Identity)
}
