package rendering

import (
	"cmp"
	"slices"
)

// family finds the parents of documents by an index of their labels, so that no document is compared with all others
// (spec/rendering.md §4).
type family struct {
	*meter

	layers   layers
	children []*node           // those with a selector, in the order of the input
	labelled map[label][]*node // from the top layer down, then in the order of the input
	entered  map[string]int    // when a layer first appears in the input
}

func newFamily(m *meter, layers layers, nodes []*node) *family {
	m.charge(2 * lookupCost * len(nodes))
	f := &family{
		meter: m, layers: layers,
		labelled: map[label][]*node{}, entered: map[string]int{},
	}
	var members []*node
	for _, n := range nodes {
		if n.rank < 0 {
			continue
		}
		members = append(members, n)
		if _, known := f.entered[n.Layer]; !known {
			f.entered[n.Layer] = len(f.entered)
		}
		if len(n.selector) > 0 {
			f.children = append(f.children, n)
		}
	}
	slices.SortStableFunc(members, func(a, b *node) int { return cmp.Compare(a.rank, b.rank) })
	for i, n := range members {
		n.position = i
		for _, pair := range n.labels {
			m.charge(lookupCost + pair.length()/bytesPerRun)
			f.labelled[pair] = append(f.labelled[pair], n)
		}
	}
	return f
}

// selectParents sets the parent of every document.
func (f *family) selectParents() error {
	var doubtful []*node
	for _, child := range f.children {
		if err := f.check(child, ""); err != nil {
			return err
		}
		if !f.selectParent(child) {
			doubtful = append(doubtful, child)
		}
	}
	if len(doubtful) == 0 {
		return nil
	}
	if err := f.mismatch(doubtful); err != nil {
		return err
	}
	return f.ambiguity(doubtful)
}

// selectParent chooses the candidate in the nearest layer above, and reports whether the candidates are valid.
func (f *family) selectParent(child *node) bool {
	for _, candidate := range f.candidates(child) {
		if !f.matches(child, candidate) {
			continue
		}
		if !fits(child, candidate) || child.parent != nil && child.parent.rank == candidate.rank {
			return false
		}
		child.parent = candidate
	}
	return true
}

// candidates are the documents that may match a child's selector: those with its rarest label.
func (f *family) candidates(child *node) []*node {
	var rarest []*node
	found := false
	for _, wanted := range child.selector {
		f.charge(lookupCost + wanted.length()/bytesPerRun)
		if with := f.labelled[wanted]; wanted.value != null && (!found || len(with) < len(rarest)) {
			rarest, found = with, true
		}
	}
	if !found { // only nulls, at least one of which must match
		for _, wanted := range child.selector {
			rarest = append(rarest, f.labelled[wanted]...)
		}
		f.charge(lookupCost * len(rarest))
		f.holdBriefly(2 * wordSize * len(rarest))
		slices.SortFunc(rarest, func(a, b *node) int { return cmp.Compare(a.position, b.position) })
		rarest = slices.Compact(rarest)
	}
	return rarest
}

// matches reports whether a candidate has all labels of a child's selector.
func (f *family) matches(child, candidate *node) bool {
	for _, wanted := range child.selector {
		f.charge(4*visitCost + wanted.length()/bytesPerRun)
		at, labelled := slices.BinarySearchFunc(candidate.labels, wanted.key, func(l label, key string) int {
			return cmp.Compare(l.key, key)
		})
		if labelled && candidate.labels[at].value != wanted.value || !labelled && wanted.value != null {
			return false
		}
	}
	return child != candidate
}

func fits(child, parent *node) bool { return parent.Schema == child.Schema && parent.rank < child.rank }

// mismatch reports the first candidate, from the top layer down, that cannot be its child's parent.
func (f *family) mismatch(doubtful []*node) error {
	var child, parent *node
	for _, c := range doubtful {
		if err := f.check(c, ""); err != nil {
			return err
		}
		for _, candidate := range f.candidates(c) {
			if parent != nil && candidate.position >= parent.position {
				break
			}
			if !fits(c, candidate) && f.matches(c, candidate) {
				child, parent = c, candidate
				break
			}
		}
	}
	if parent == nil {
		return nil
	}
	reason := "Child has parentSelector which references parent, but their `schema`s do not match."
	if parent.Schema == child.Schema {
		reason = "Child has parentSelector which references parent, but the child layer " + child.Layer +
			" must be lower than the parent layer " + parent.Layer + " for layerOrder " + f.layers.String() + "."
	}
	return refuseReason("InvalidDocumentParent", reason, []*node{child, parent},
		"The document parent %s is invalid for document %s.", parent.brief(), child.brief())
}

// ambiguity reports the first document that has more than one candidate in a layer (R3), by the order in which layers
// appear in the input.
func (f *family) ambiguity(doubtful []*node) error {
	child := slices.MinFunc(doubtful, func(a, b *node) int {
		return cmp.Or(cmp.Compare(f.entered[a.Layer], f.entered[b.Layer]), cmp.Compare(a.index, b.index))
	})
	found, inhabited, secret := 1, map[int]bool{}, false
	for _, candidate := range f.candidates(child) {
		if f.matches(child, candidate) {
			found++
			inhabited[candidate.rank] = true
			secret = secret || candidate.secret
		}
	}
	ambiguous := refuse("IndeterminateDocumentParent", []*node{child},
		"Too many parent documents found for document %s. Found: %d. Expected: 1", child.Identity, found-len(inhabited))
	ambiguous.Secret = ambiguous.Secret || secret
	ambiguous.Messages[0].Secret = ambiguous.Secret
	return ambiguous
}
