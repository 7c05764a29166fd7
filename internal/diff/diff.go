// Package diff says how two values of documents, or two texts, differ.
//
// Deep says it as python-deepdiff prints it, Patch as a JSON patch (RFC 6902), Unified as a unified diff of texts. Deep
// and Patch walk two values side by side: mappings by key, lists by position or, where items can be identified,
// aligned.
//
//	before ─┐          ┌─ mappings: pairs ─┐
//	        ├─ compare ┤                   ├─ differences, each with its path
//	after  ─┘          └─ lists:    align ─┘
//
// Invariants:
//   - The order of a mapping's keys is not a difference; the keys of the old mapping come first, in their order.
//   - Applying Patch(a, b) to a gives a value whose canonical text is that of b, down to 1.0 and 1.00; Deep compares
//     numbers of one type as numbers.
//   - Time and memory are linear in the size of the compared values, whatever they are: aligning, comparing lines and
//     writing paths are bounded, and beyond their bounds the outcome is coarser but still correct.
package diff

import "purser/internal/document"

// pair has the values of two mappings at one key.
type pair struct {
	key           string
	before, after any
	was, is       bool // whether each of them has the key
}

// pairs returns the keys of two mappings: those of the first in its order, then those that only the second has.
func (m *meter) pairs(before, after document.Mapping) []pair {
	m.charge(entryCost * (len(before) + len(after)))
	if m.hold(entrySize * (len(before) + len(after))); m.err != nil {
		return nil
	}
	defer m.hold(-entrySize * (len(before) + len(after)))
	all := make([]pair, 0, len(before))
	places := make(map[string]int, len(before))
	for i, member := range before {
		places[member.Key] = i
		all = append(all, pair{key: member.Key, before: member.Value, was: true})
	}
	for _, member := range after {
		i, was := places[member.Key]
		if !was {
			i = len(all)
			all = append(all, pair{key: member.Key})
		}
		all[i].after, all[i].is = member.Value, true
	}
	return all
}

// areScalars reports whether no item of a list is a list or mapping, so that Python can hash all of them.
func areScalars(list []any) bool {
	for _, item := range list {
		switch item.(type) {
		case []any, document.Mapping:
			return false
		}
	}
	return true
}
