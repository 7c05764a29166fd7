package relations

import (
	"slices"

	"purser/internal/fault"
)

// Why a replacement is refused, in the reference's words.
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

// markReplaced checks the rules of replacements and sets the replacement of every document. Of two replacements
// in different layers the more specific one counts, in whatever order they are given. A replacement that fails
// leaves it unknown what the documents of its schema and name are.
func (s *Set) markReplaced() {
	for _, n := range s.Nodes {
		n.namesakes.original, n.namesakes.unknown = nil, nil
	}
	for _, n := range s.Nodes {
		if n.Cause == nil && n.namesakes.unknown == nil {
			s.replace(n)
		}
		if n.Cause != nil && n.Replacement {
			n.namesakes.unknown = n
		}
	}
	for _, n := range s.Nodes {
		if n.replacedBy != nil && n.Replacement && !n.Abstract && n.namesakes.unknown == nil {
			s.notReplacing(n, replacedTwice, n.replacedBy)
		}
	}
	for _, n := range s.Nodes {
		if unknown := n.namesakes.unknown; unknown != nil && n.Cause == nil {
			n.Cause, n.Secret = unknown.Cause, n.Secret || unknown.Secret
		}
	}
}

// replace marks the parent of a replacement, and checks other documents against theirs.
func (s *Set) replace(n *Node) {
	first := n.namesakes.original
	switch isNamesake := n.parent != nil && n.parent.Key() == n.Key(); {
	case n.Replacement && n.parent == nil:
		s.notReplacing(n, needsParent)
	case n.Replacement && !isNamesake:
		s.notReplacing(n, needsName, n.parent)
	case n.Replacement:
		if n.parent.replacedBy == nil || n.parent.replacedBy.rank < n.rank {
			n.parent.replacedBy = n
		}
	case isNamesake:
		s.notReplacing(n, namesake, n.parent)
	case n.Control:
	case first != nil:
		s.notReplacing(n, twice, first)
	default:
		n.namesakes.original = n
	}
}

func (s *Set) notReplacing(n *Node, reason string, others ...*Node) {
	about := append([]*Node{n}, others...)
	s.Refuse(n, slices.ContainsFunc(about, func(n *Node) bool { return n.Secret }), func() *fault.Fault {
		return refuseReason("InvalidDocumentReplacement", reason, about, "Replacement document %s is invalid.", n.Identity)
	})
	n.namesakes.unknown = n
}
