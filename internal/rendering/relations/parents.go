package relations

import (
	"cmp"
	"slices"

	"purser/internal/rendering/declared"
	"purser/internal/rendering/meter"
)

// family finds the parents of documents by an index of their labels, so that no document is compared with all others
// (spec/rendering.md §4).
type family struct {
	*meter.Meter

	layers   layers
	children []*Node                    // those with a selector, in the order of the input
	labelled map[declared.Label][]*Node // from the top layer down, then in the order of the input
	entered  map[string]int             // when a layer first appears in the input
}

func newFamily(m *meter.Meter, layers layers, nodes []*Node) *family {
	m.Charge(2 * meter.Lookup * len(nodes))
	f := &family{
		Meter: m, layers: layers,
		labelled: map[declared.Label][]*Node{}, entered: map[string]int{},
	}
	var members []*Node
	for _, n := range nodes {
		if n.rank < 0 {
			continue
		}
		members = append(members, n)
		if _, known := f.entered[n.Layer]; !known {
			f.entered[n.Layer] = len(f.entered)
		}
		if len(n.Selector) > 0 {
			f.children = append(f.children, n)
		}
	}
	slices.SortStableFunc(members, func(a, b *Node) int { return cmp.Compare(a.rank, b.rank) })
	for i, n := range members {
		n.position = i
		for _, pair := range n.Labels {
			m.Charge(meter.Lookup + pair.Length()/meter.BytesPerStep)
			f.labelled[pair] = append(f.labelled[pair], n)
		}
	}
	return f
}

// selectParents sets the parent of every document.
func (f *family) selectParents() error {
	var doubtful []*Node
	for _, child := range f.children {
		if err := Stopped(f.Meter, child, ""); err != nil {
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
func (f *family) selectParent(child *Node) bool {
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
func (f *family) candidates(child *Node) []*Node {
	var rarest []*Node
	found := false
	for _, wanted := range child.Selector {
		f.Charge(meter.Lookup + wanted.Length()/meter.BytesPerStep)
		if with := f.labelled[wanted]; wanted.Value != declared.Null && (!found || len(with) < len(rarest)) {
			rarest, found = with, true
		}
	}
	if !found { // only nulls, at least one of which must match
		for _, wanted := range child.Selector {
			rarest = append(rarest, f.labelled[wanted]...)
		}
		f.Charge(meter.Lookup * len(rarest))
		f.HoldBriefly(2 * meter.Word * len(rarest))
		slices.SortFunc(rarest, func(a, b *Node) int { return cmp.Compare(a.position, b.position) })
		rarest = slices.Compact(rarest)
	}
	return rarest
}

// matches reports whether a candidate has all labels of a child's selector.
func (f *family) matches(child, candidate *Node) bool {
	for _, wanted := range child.Selector {
		f.Charge(4*meter.Visit + wanted.Length()/meter.BytesPerStep)
		at, labelled := slices.BinarySearchFunc(candidate.Labels, wanted.Key, func(l declared.Label, key string) int {
			return cmp.Compare(l.Key, key)
		})
		if labelled && candidate.Labels[at].Value != wanted.Value || !labelled && wanted.Value != declared.Null {
			return false
		}
	}
	return child != candidate
}

func fits(child, parent *Node) bool { return parent.Schema == child.Schema && parent.rank < child.rank }

// mismatch reports the first candidate, from the top layer down, that cannot be its child's parent.
func (f *family) mismatch(doubtful []*Node) error {
	var child, parent *Node
	for _, c := range doubtful {
		if err := Stopped(f.Meter, c, ""); err != nil {
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
	return refuseReason("InvalidDocumentParent", reason, []*Node{child, parent},
		"The document parent %s is invalid for document %s.", parent.Brief(), child.Brief())
}

// ambiguity reports the first document that has more than one candidate in a layer (R3), by the order in which layers
// appear in the input.
func (f *family) ambiguity(doubtful []*Node) error {
	child := slices.MinFunc(doubtful, func(a, b *Node) int {
		return cmp.Or(cmp.Compare(f.entered[a.Layer], f.entered[b.Layer]), cmp.Compare(a.Index, b.Index))
	})
	found, inhabited, secret := 1, map[int]bool{}, false
	for _, candidate := range f.candidates(child) {
		if f.matches(child, candidate) {
			found++
			inhabited[candidate.rank] = true
			secret = secret || candidate.Secret
		}
	}
	ambiguous := Refuse("IndeterminateDocumentParent", []*Node{child},
		"Too many parent documents found for document %s. Found: %d. Expected: 1", child.Identity, found-len(inhabited))
	ambiguous.Secret = ambiguous.Secret || secret
	ambiguous.Messages[0].Secret = ambiguous.Secret
	return ambiguous
}
