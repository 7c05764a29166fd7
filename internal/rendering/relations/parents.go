package relations

import (
	"cmp"
	"slices"

	"purser/internal/fault"
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

// selectParents sets the parent of every document, and marks those that select none.
func (s *Set) selectParents(f *family) error {
	var doubts []doubt
	for _, child := range f.children {
		if err := Stopped(f.Meter, child, ""); err != nil {
			return err
		}
		if child.Cause == nil && !f.selectParent(child) {
			doubts = append(doubts, f.doubt(child))
		}
	}
	slices.SortStableFunc(doubts, f.compare)
	for _, d := range doubts {
		d.child.parent = nil
		s.Refuse(d.child, d.child.Secret || d.secret || d.misfit != nil && d.misfit.Secret, func() *fault.Fault {
			return f.faultOf(d)
		})
	}
	for _, child := range f.children {
		child.Orphan = child.Cause == nil && child.parent == nil
	}
	return nil
}

// selectParent chooses the candidate in the nearest layer above, and reports whether the candidates are valid. With a
// candidate in an unknown layer, which comes last, the parent is unknown.
func (f *family) selectParent(child *Node) bool {
	for _, candidate := range f.candidates(child) {
		switch {
		case !f.matches(child, candidate):
		case candidate.rank == len(f.layers):
			child.parent, child.Cause = nil, candidate.Cause
			return true
		case !fits(child, candidate) || child.parent != nil && child.parent.rank == candidate.rank:
			return false
		default:
			child.parent = candidate
		}
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

// doubt is what keeps a child from having a parent: a candidate that cannot be one, or several candidates in a layer.
type doubt struct {
	child  *Node
	misfit *Node // the first from the top layer down; nil if there is none
	found  int   // candidates, as the reference counts them
	secret bool  // one of these is secret
}

// doubt looks at all candidates in known layers of a child.
func (f *family) doubt(child *Node) doubt {
	d, inhabited := doubt{child: child, found: 1}, map[int]bool{}
	for _, candidate := range f.candidates(child) {
		if candidate.rank == len(f.layers) || !f.matches(child, candidate) {
			continue
		}
		if !fits(child, candidate) {
			d.misfit = candidate
			break
		}
		d.found++
		inhabited[candidate.rank] = true
		d.secret = d.secret || candidate.Secret
	}
	d.found -= len(inhabited)
	return d
}

// compare orders doubts as the reference finds them: first misfits, from the top layer down, then children with several
// candidates (R3), by the order in which layers appear in the input.
func (f *family) compare(a, b doubt) int {
	switch {
	case a.misfit != nil && b.misfit != nil:
		return cmp.Compare(a.misfit.position, b.misfit.position)
	case a.misfit != nil:
		return -1
	case b.misfit != nil:
		return 1
	}
	return cmp.Or(cmp.Compare(f.entered[a.child.Layer], f.entered[b.child.Layer]),
		cmp.Compare(a.child.Index, b.child.Index))
}

func (f *family) faultOf(d doubt) *fault.Fault {
	child, parent := d.child, d.misfit
	if parent == nil {
		ambiguous := Refuse("IndeterminateDocumentParent", []*Node{child},
			"Too many parent documents found for document %s. Found: %d. Expected: 1", child.Identity, d.found)
		ambiguous.Secret = ambiguous.Secret || d.secret
		ambiguous.Messages[0].Secret = ambiguous.Secret
		return ambiguous
	}
	reason := "Child has parentSelector which references parent, but their `schema`s do not match."
	if parent.Schema == child.Schema {
		reason = "Child has parentSelector which references parent, but the child layer " + child.Layer +
			" must be lower than the parent layer " + parent.Layer + " for layerOrder " + f.layers.String() + "."
	}
	return refuseReason("InvalidDocumentParent", reason, []*Node{child, parent},
		"The document parent %s is invalid for document %s.", parent.Brief(), child.Brief())
}
