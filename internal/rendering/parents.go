package rendering

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"

	"purser/internal/document"
	"purser/internal/fault"
)

// family finds the parents of documents by an index of their labels, so that no document is compared with all others.
type family struct {
	*run

	layers      layers
	clearLayers layers            // those that messages list: where there are documents in the clear
	children    []*node           // those with a selector, in the order of the input
	labelled    map[label][]*node // from the top layer down, then in the order of the input
	entered     map[string]int    // when a layer of clearLayers first appears in the input
	digests     map[label]document.Digest
}

// newFamily returns the family of all documents. With Compat, encrypted documents affect what faults say of layers, as
// in Deckhand.
func (r *run) newFamily(layers layers) *family {
	r.charge(2 * lookupCost * len(r.nodes))
	f := &family{
		run: r, layers: layers, digests: map[label]document.Digest{}, labelled: map[label][]*node{},
		entered: map[string]int{},
	}
	var members []*node
	for _, n := range r.nodes {
		if n.rank < 0 {
			continue
		}
		members = append(members, n)
		if _, known := f.entered[n.Layer]; !known && (r.options.Compat || !n.encrypted) {
			f.entered[n.Layer] = len(f.entered)
		}
		if len(n.selector) > 0 {
			f.children = append(f.children, n)
		}
	}
	for _, layer := range layers {
		if _, entered := f.entered[layer]; entered {
			f.clearLayers = append(f.clearLayers, layer)
		}
	}
	slices.SortStableFunc(members, func(a, b *node) int { return cmp.Compare(a.rank, b.rank) })
	for i, n := range members {
		n.position = i
		for _, pair := range n.labels {
			r.charge(lookupCost + pair.length()/bytesPerStep)
			f.labelled[pair] = append(f.labelled[pair], n)
		}
	}
	return f
}

// selectParents sets the parent of every document, and marks those that select none.
func (r *run) selectParents(f *family) error {
	var doubts []doubt
	for _, child := range f.children {
		if err := r.stopped(child, ""); err != nil {
			return err
		}
		if child.cause != nil {
			continue
		}
		candidates := f.candidates(child)
		switch c := f.choice(child, candidates); {
		case c.doubtful:
			doubts = append(doubts, doubt{child, candidates.at(c.misfit), c.found, c.secret})
		case c.unknown > none:
			child.cause = candidates.at(c.unknown).cause
		default:
			child.parent = candidates.at(c.parent)
		}
	}
	slices.SortStableFunc(doubts, f.compare)
	for _, d := range doubts {
		r.fail(d.child, d.child.secret || d.secret || d.misfit != nil && d.misfit.secret, func() *fault.Fault {
			return f.faultOf(d)
		})
	}
	for _, child := range f.children {
		child.orphan = child.cause == nil && child.parent == nil
	}
	return nil
}

// choice is what a selector selects among candidates, by their positions.
type choice struct {
	parent   int  // none if it selects nothing
	unknown  int  // in an unknown layer, so that the parent is unknown; none if there is no such candidate
	doubtful bool // there cannot be one parent, see doubt
	misfit   int
	found    int
	secret   bool
}

// none is the position of no candidate.
const none = -1

// candidates are lists of the documents that may be selected.
type candidates struct {
	lists [][]*node
	by    document.Digest // of these; zero if they are so few that a choice among them is not kept
}

// at returns the candidate at a position in all lists together, nil for none.
func (c candidates) at(position int) *node {
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
func (c candidates) position(n *node) (position int) {
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
func (f *family) choice(child *node, candidates candidates) choice {
	if candidates.by.IsZero() {
		return f.choose(child, candidates)
	}
	own := f.digestOf(child)
	key := document.Digest(sha256.Sum256(slices.Concat([]byte("parent"), own[:], candidates.by[:])))
	f.charge(2 * lookupCost)
	if known := f.options.Cache.find(key).choice; known != nil {
		return *known
	}
	begun := f.steps
	chosen := f.choose(child, candidates)
	if f.err == nil {
		f.options.Cache.keep(key, fact{choice: &chosen}, 0, f.steps-begun)
	}
	return chosen
}

// choose chooses the candidate in the nearest layer above. With a candidate in an unknown layer, which comes last, the
// parent is unknown.
func (f *family) choose(child *node, candidates candidates) choice {
	var parent *node
	all := f.sorted(candidates)
	for _, candidate := range all {
		switch {
		case !f.matches(child, candidate):
		case candidate.rank == len(f.layers):
			return choice{parent: none, unknown: candidates.position(candidate)}
		case !fits(child, candidate) || parent != nil && parent.rank == candidate.rank:
			d := f.doubt(child, all)
			return choice{
				doubtful: true, misfit: candidates.position(d.misfit), found: d.found, secret: d.secret,
			}
		default:
			parent = candidate
		}
	}
	return choice{parent: candidates.position(parent), unknown: none}
}

// candidates returns the documents that may match a child's selector: those with its rarest label, or, if it wants only
// nulls, those with any of them, because at least one must match.
func (f *family) candidates(child *node) (c candidates) {
	var labels []label // with each of which candidates are listed
	for _, wanted := range child.selector {
		f.charge(lookupCost + wanted.length()/bytesPerStep)
		if wanted.value != nullLabel && (labels == nil || len(f.labelled[wanted]) < len(f.labelled[labels[0]])) {
			labels = []label{wanted}
		}
	}
	if labels == nil {
		labels = child.selector
	}
	count := 0
	for _, label := range labels {
		c.lists = append(c.lists, f.labelled[label])
		count += len(f.labelled[label])
	}
	if f.options.Cache != nil && count >= many {
		h := sha256.New()
		for _, label := range labels {
			by := f.labelDigest(label)
			h.Write(by[:])
		}
		h.Sum(c.by[:0])
	}
	return c
}

// sorted returns candidates from the top layer down, then in the order of the input.
func (f *family) sorted(c candidates) (all []*node) {
	if len(c.lists) == 1 {
		return c.lists[0]
	}
	all = slices.Concat(c.lists...)
	f.charge(lookupCost * len(all))
	f.holdBriefly(2 * wordSize * len(all))
	slices.SortFunc(all, func(a, b *node) int { return cmp.Compare(a.position, b.position) })
	return slices.Compact(all)
}

// many is the number of candidates from which on choices among them are kept.
const many = 32

// labelDigest returns a digest of the documents with a label and of the layers.
func (f *family) labelDigest(label label) (digest document.Digest) {
	with := f.labelled[label]
	if digest, known := f.digests[label]; known {
		return digest
	}
	h := sha256.New()
	for _, layer := range f.layers {
		fmt.Fprintf(h, "%d %s", len(layer), layer)
	}
	f.charge(lookupCost * (len(f.layers) + 2*len(with)))
	for _, n := range with {
		of := f.digestOf(n)
		h.Write(of[:])
	}
	h.Sum(digest[:0])
	f.digests[label] = digest
	return digest
}

// matches reports whether a candidate has all labels of a child's selector.
func (f *family) matches(child, candidate *node) bool {
	for _, wanted := range child.selector {
		f.charge(4*visitCost + wanted.length()/bytesPerStep)
		at, labelled := slices.BinarySearchFunc(candidate.labels, wanted.key, func(l label, key string) int {
			return cmp.Compare(l.key, key)
		})
		if labelled && candidate.labels[at].value != wanted.value || !labelled && wanted.value != nullLabel {
			return false
		}
	}
	return child != candidate
}

func fits(child, parent *node) bool { return parent.Schema == child.Schema && parent.rank < child.rank }

// doubt is what keeps a child from having a parent: a candidate that cannot be one, or several candidates in a layer.
type doubt struct {
	child  *node
	misfit *node // the first from the top layer down; nil if there is none
	found  int   // candidates, as Deckhand counts them
	secret bool  // one of these is secret
}

// doubt looks at all candidates in known layers of a child.
func (f *family) doubt(child *node, candidates []*node) doubt {
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
		d.secret = d.secret || candidate.secret
	}
	d.found -= len(inhabited)
	return d
}

// compare orders doubts as Deckhand finds them: first misfits, from the top layer down, then children with several
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
		cmp.Compare(a.child.index, b.child.index))
}

func (f *family) faultOf(d doubt) *fault.Fault {
	child, parent := d.child, d.misfit
	if parent == nil {
		ambiguous := invalid("IndeterminateDocumentParent", []*node{child},
			"Too many parent documents found for document %s. Found: %d. Expected: 1", child.Identity, d.found)
		return setSecret(ambiguous, ambiguous.Secret || d.secret)
	}
	reason := "Child has parentSelector which references parent, but their `schema`s do not match."
	if parent.Schema == child.Schema {
		reason = "Child has parentSelector which references parent, but the child layer " + child.Layer +
			" must be lower than the parent layer " + parent.Layer + " for layerOrder " + f.clearLayers.String() + "."
	}
	return invalidBecause("InvalidDocumentParent", reason, []*node{child, parent},
		"The document parent %s is invalid for document %s.", parent.brief(), child.brief())
}
