package relations

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/rendering/declared"
	"purser/internal/rendering/meter"
)

// family finds the parents of documents by an index of their labels, so that no document is compared with all others.
type family struct {
	*meter.Meter

	layers   layers
	told     layers // those that messages list: where there are documents in the clear
	kept     Choices
	children []*Node                    // those with a selector, in the order of the input
	labelled map[declared.Label][]*Node // from the top layer down, then in the order of the input
	entered  map[string]int             // when a layer that is told first appears in the input
	digests  map[declared.Label]document.Digest
}

// newFamily returns the family of documents. With compat, encrypted documents affect what faults say of layers, as in
// the reference.
func newFamily(m *meter.Meter, layers layers, nodes []*Node, kept Choices, compat bool) *family {
	m.Charge(2 * meter.Lookup * len(nodes))
	f := &family{
		Meter: m, layers: layers, kept: kept, digests: map[declared.Label]document.Digest{},
		labelled: map[declared.Label][]*Node{}, entered: map[string]int{},
	}
	var members []*Node
	for _, n := range nodes {
		if n.rank < 0 {
			continue
		}
		members = append(members, n)
		if _, known := f.entered[n.Layer]; !known && (compat || !n.Encrypted) {
			f.entered[n.Layer] = len(f.entered)
		}
		if len(n.Selector) > 0 {
			f.children = append(f.children, n)
		}
	}
	for _, layer := range layers {
		if _, told := f.entered[layer]; told {
			f.told = append(f.told, layer)
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
		if child.Cause != nil {
			continue
		}
		candidates := f.candidates(child)
		switch c := f.choice(child, candidates); {
		case c.Doubtful:
			doubts = append(doubts, doubt{child, candidates.at(c.Misfit), c.Found, c.Secret})
		case c.Unknown > none:
			child.Cause = candidates.at(c.Unknown).Cause
		default:
			child.parent = candidates.at(c.Parent)
		}
	}
	slices.SortStableFunc(doubts, f.compare)
	for _, d := range doubts {
		s.Refuse(d.child, d.child.Secret || d.secret || d.misfit != nil && d.misfit.Secret, func() *fault.Fault {
			return f.faultOf(d)
		})
	}
	for _, child := range f.children {
		child.Orphan = child.Cause == nil && child.parent == nil
	}
	return nil
}

// Choice is what a selector selects among candidates, by their positions.
type Choice struct {
	Parent   int  // none if it selects nothing
	Unknown  int  // in an unknown layer, so that the parent is unknown; none if there is no such candidate
	Doubtful bool // there cannot be one parent, see doubt
	Misfit   int
	Found    int
	Secret   bool
}

// none is the position of no candidate.
const none = -1

// candidates are lists of the documents that may be selected.
type candidates struct {
	lists [][]*Node
	by    document.Digest // of these; zero if they are so few that a choice among them is not kept
}

// at returns the candidate at a position in all lists together, nil for none.
func (c candidates) at(position int) *Node {
	if position == none {
		return nil
	}
	for _, list := range c.lists {
		if position < len(list) {
			return list[position]
		}
		position -= len(list)
	}
	return nil
}

// position is the reverse of at.
func (c candidates) position(n *Node) (position int) {
	if n == nil {
		return none
	}
	for _, list := range c.lists {
		if i := slices.Index(list, n); i >= 0 {
			return position + i
		}
		position += len(list)
	}
	return none
}

// choice returns what the selector of a child selects among candidates.
func (f *family) choice(child *Node, candidates candidates) Choice {
	if candidates.by.IsZero() {
		return f.choose(child, candidates)
	}
	own := f.kept.DigestOf(child)
	key := document.Digest(sha256.Sum256(slices.Concat([]byte("parent"), own[:], candidates.by[:])))
	f.Charge(2 * meter.Lookup)
	known, ok := f.kept.Choice(key)
	if !ok {
		begun := f.Steps
		known = f.choose(child, candidates)
		if f.Err == nil {
			f.kept.KeepChoice(key, known, f.Steps-begun)
		}
	}
	return known
}

// choose chooses the candidate in the nearest layer above. With a candidate in an unknown layer, which comes last, the
// parent is unknown.
func (f *family) choose(child *Node, candidates candidates) Choice {
	var parent *Node
	all := f.sorted(candidates)
	for _, candidate := range all {
		switch {
		case !f.matches(child, candidate):
		case candidate.rank == len(f.layers):
			return Choice{Parent: none, Unknown: candidates.position(candidate)}
		case !fits(child, candidate) || parent != nil && parent.rank == candidate.rank:
			d := f.doubt(child, all)
			return Choice{
				Doubtful: true, Misfit: candidates.position(d.misfit), Found: d.found, Secret: d.secret,
			}
		default:
			parent = candidate
		}
	}
	return Choice{Parent: candidates.position(parent), Unknown: none}
}

// candidates returns the documents that may match a child's selector: those with its rarest label, or, if it wants only
// nulls, those with any of them, because at least one must match.
func (f *family) candidates(child *Node) (c candidates) {
	var labels []declared.Label // with each of which candidates are listed
	for _, wanted := range child.Selector {
		f.Charge(meter.Lookup + wanted.Length()/meter.BytesPerStep)
		if wanted.Value != declared.Null && (labels == nil || len(f.labelled[wanted]) < len(f.labelled[labels[0]])) {
			labels = []declared.Label{wanted}
		}
	}
	if labels == nil {
		labels = child.Selector
	}
	count := 0
	for _, label := range labels {
		c.lists = append(c.lists, f.labelled[label])
		count += len(f.labelled[label])
	}
	if f.kept != nil && count >= many {
		h := sha256.New()
		for _, label := range labels {
			by := f.digestOf(label)
			h.Write(by[:])
		}
		h.Sum(c.by[:0])
	}
	return c
}

// sorted returns candidates from the top layer down, then in the order of the input.
func (f *family) sorted(c candidates) (all []*Node) {
	if len(c.lists) == 1 {
		return c.lists[0]
	}
	all = slices.Concat(c.lists...)
	f.Charge(meter.Lookup * len(all))
	f.HoldBriefly(2 * meter.Word * len(all))
	slices.SortFunc(all, func(a, b *Node) int { return cmp.Compare(a.position, b.position) })
	return slices.Compact(all)
}

// many is the number of candidates from which on choices among them are kept.
const many = 32

// digestOf returns a digest of the documents with a label and of the layers.
func (f *family) digestOf(label declared.Label) (digest document.Digest) {
	with := f.labelled[label]
	if digest, known := f.digests[label]; known {
		return digest
	}
	h := sha256.New()
	for _, layer := range f.layers {
		fmt.Fprintf(h, "%d %s", len(layer), layer)
	}
	f.Charge(meter.Lookup * (len(f.layers) + 2*len(with)))
	for _, n := range with {
		of := f.kept.DigestOf(n)
		h.Write(of[:])
	}
	h.Sum(digest[:0])
	f.digests[label] = digest
	return digest
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
func (f *family) doubt(child *Node, candidates []*Node) doubt {
	d, inhabited := doubt{child: child, found: 1}, map[int]bool{}
	for _, candidate := range candidates {
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
// candidates, by the order in which layers appear in the input.
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
			" must be lower than the parent layer " + parent.Layer + " for layerOrder " + f.told.String() + "."
	}
	return refuseReason("InvalidDocumentParent", reason, []*Node{child, parent},
		"The document parent %s is invalid for document %s.", parent.Brief(), child.Brief())
}
