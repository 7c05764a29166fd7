package rendering

import (
	"slices"

	"purser/internal/fault"
)

// Why a replacement is refused, in Deckhand's words.
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
func (r *run) markReplaced() {
	for _, n := range r.nodes {
		n.namesakes.original, n.namesakes.unknown = nil, nil
	}
	for _, n := range r.nodes {
		if n.cause == nil && n.namesakes.unknown == nil {
			r.replace(n)
		}
		if n.cause != nil && n.replacement {
			n.namesakes.unknown = n
		}
	}
	for _, n := range r.nodes {
		if n.replacedBy != nil && n.replacement && !n.abstract && n.namesakes.unknown == nil {
			r.notReplacing(n, replacedTwice, n.replacedBy)
		}
	}
	for _, n := range r.nodes {
		if unknown := n.namesakes.unknown; unknown != nil && n.cause == nil {
			n.cause, n.secret = unknown.cause, n.secret || unknown.secret
		}
	}
}

// replace marks the parent of a replacement, and checks other documents against theirs.
func (r *run) replace(n *node) {
	first := n.namesakes.original
	switch {
	case n.replacement && n.parent == nil:
		r.notReplacing(n, needsParent)
	case n.replacement && !n.isNamesake():
		r.notReplacing(n, needsName, n.parent)
	case n.replacement:
		if n.parent.replacedBy == nil || n.parent.replacedBy.rank < n.rank {
			n.parent.replacedBy = n
		}
	case n.isNamesake():
		r.notReplacing(n, namesake, n.parent)
	case n.control:
	case first != nil:
		r.notReplacing(n, twice, first)
	default:
		n.namesakes.original = n
	}
}

func (r *run) notReplacing(n *node, reason string, others ...*node) {
	about := append([]*node{n}, others...)
	r.fail(n, slices.ContainsFunc(about, func(n *node) bool { return n.secret }), func() *fault.Fault {
		return invalidBecause("InvalidDocumentReplacement", reason, about, "Replacement document %s is invalid.", n.Identity)
	})
	n.namesakes.unknown = n
}
