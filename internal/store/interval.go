package store

import "math/bits"

// Closed versions are found as in a relational interval tree (Kriegel, Pötke, Seidl 2000). Its nodes are the revision
// numbers themselves: the root of a subtree of height k is a multiple of 2^k. A version hangs at its fork, the highest
// node inside its interval. All versions valid in a revision hang at that revision or at one of its ancestors; there
// are as many ancestors as the numbers have bits, and at each, one comparison decides which versions are valid.

// fork returns the node for a version valid from since until before until.
func fork(since, until int64) int64 {
	last := until - 1
	height := bits.Len64(uint64(since ^ last)) //nolint:gosec // revision numbers are positive
	if height == 0 {
		return last
	}
	if lower := since &^ (1<<height - 1); lower == since {
		return since
	}
	return last &^ (1<<(height-1) - 1)
}

// highest is the height of the tree: revision numbers stay below 2^40.
const highest = 40

// ancestors returns the nodes where versions valid in a revision may hang: at or before it, and after it. They do not
// depend on the newest revision, which may be another one by the time they are looked up.
func ancestors(revision int64) (before, after []int64) {
	before = append(before, revision)
	for height := range highest {
		node := revision&^(1<<(height+1)-1) | 1<<height
		switch {
		case node < revision:
			before = append(before, node)
		case node > revision:
			after = append(after, node)
		}
	}
	return before, after
}

// nodesBetween returns the nodes where versions may hang that are valid in the older of two revisions and closed by the
// newer one, and those where versions may hang that began after the older and are valid in the newer one.
func nodesBetween(older, newer int64) (fromOlder, fromNewer []int64) {
	fromOlder, after := ancestors(older)
	for _, node := range after {
		if node < newer {
			fromOlder = append(fromOlder, node)
		}
	}
	before, fromNewer := ancestors(newer)
	for _, node := range before {
		if node > older {
			fromNewer = append(fromNewer, node)
		}
	}
	return fromOlder, fromNewer
}
