package rendering

import (
	"slices"
)

// history lists the changes of one document's data while it is explained, in order. They are noted beside the data,
// which stays the same as without. A position in the data is then followed backwards through the changes, from a
// document to those from which it took values:
//
//	position ──back──► change at it, or above it, and the position before that ──back──► …
type history struct {
	changes []change
	index   *changesAt // built when it is first needed
}

// event is one action, or one destination of a substitution.
type event struct {
	number      int   // of the action or substitution in the document's list
	source      *node // of a substitution, nil for an action
	destination int   // of a substitution
}

// change is one modification that an event made at a place of the data.
type change struct {
	*event

	kind  changeKind
	at    *place // as the data was then
	from  *place // where the value was read: see the kinds
	index int    // of the item that was removed, or the first that was made
}

// changeKind is the kind of a change.
type changeKind uint8

// The kinds of changes.
const (
	changeWritten  changeKind = iota // a value, read in the document's own data or in the source's
	changeSpread                     // the value at another path of the same data
	changeMade                       // an empty container
	changePadded                     // empty mappings at the end of a list
	changeInserted                   // a value into a text; it was read in the source's data, at nil if it is a container
	changeRemoved                    // an item of a list, so that those behind it moved up
)

// changeSize is the memory of a change and its entry in an index, in bytes.
const changeSize = 160

// note adds a change. It must not be called after a position in the data was followed.
func (h *history) note(m *meter, c change) {
	m.charge(lookupCost)
	m.hold(changeSize + 2*placeSize)
	h.changes = append(h.changes, c)
}

// changesAt are the changes at one place, by their position in the history, and those at the places below it.
type changesAt struct {
	changes []int
	below   map[pathStep]*changesAt
}

// indexed returns the index of a history.
func (h *history) indexed(m *meter) *changesAt {
	if h.index != nil {
		return h.index
	}
	h.index = &changesAt{}
	for i := range h.changes {
		if m.err != nil {
			break
		}
		at := h.index
		for _, s := range h.changes[i].at.steps() {
			m.charge(lookupCost + len(s.key)/bytesPerStep)
			below := at.below[s]
			if below == nil {
				if at.below == nil {
					at.below = map[pathStep]*changesAt{}
				}
				below = &changesAt{}
				at.below[s] = below
				m.hold(4 * entrySize)
			}
			at = below
		}
		at.changes = append(at.changes, i)
	}
	return h.index
}

// position is the place of a value at some time.
type position struct {
	node  *node
	steps []pathStep // nothing else holds them
	// How the way back ends here: the value was written in the document's own data, or made by a change.
	own, made bool

	end int // how many changes of the document had been made
}

// at returns the position of a value in a document's data as it is after all changes. It takes the steps over.
func (n *node) at(steps []pathStep) position {
	return position{node: n, steps: steps, end: len(n.history.changes)}
}

// back follows a position one step back, to its origin. It returns the change that wrote it, nil if the document
// inherited it or wrote it. The way ends where the position says so.
func (p *position) back(m *meter) *change {
	for c := p.last(m); c != nil; c = p.last(m) {
		depth := len(c.at.steps())
		switch c.kind {
		case changeWritten:
			if p.made = c.from == nil; p.made {
				return c
			}
			p.steps = append(c.from.steps(), p.steps[depth:]...)
			if p.own = c.source == nil; !p.own {
				*p = c.source.at(p.steps)
			}
			return c
		case changeSpread:
			p.steps = append(c.from.steps(), p.steps[depth:]...)
		case changeMade:
			p.made = true
			return c
		case changeInserted:
			return c
		case changePadded:
			if p.made = len(p.steps) == depth+1 && p.steps[depth].index >= c.index; p.made {
				return c
			}
		case changeRemoved:
			if len(p.steps) > depth && p.steps[depth].index >= c.index {
				p.steps[depth].index++
			}
		}
	}
	if p.own = !p.node.layered(); !p.own {
		*p = p.node.ancestor().at(p.steps)
	}
	return nil
}

// last returns the last change before a position that was made at it or above it, and moves the position before it.
func (p *position) last(m *meter) *change {
	h := p.node.history
	at, last := h.indexed(m), -1
	for i := 0; at != nil; i++ {
		m.charge(lookupCost)
		if before, _ := slices.BinarySearch(at.changes, p.end); before > 0 {
			last = max(last, at.changes[before-1])
		}
		if i == len(p.steps) || m.err != nil {
			break
		}
		at = at.below[p.steps[i]]
	}
	if last < 0 {
		return nil
	}
	p.end = last
	return &h.changes[last]
}

// hop is one step of the way of a value back to where it was written: a change in a document, nil if the document
// inherited the value.
type hop struct {
	in *node
	*change
}

// way follows a position back to where its value was written.
func (x *explainer) way(p position) (hops []hop, origin position) {
	for !p.own && !p.made && x.err == nil {
		in := p.node
		if c := p.back(x.meter); c != nil || !p.own {
			hops = append(hops, hop{in, c})
		}
	}
	x.holdBriefly(2 * wordSize * len(hops))
	return hops, p
}

// maxSteps is how many steps of a trail are shown.
const maxSteps = 100

// trail describes the way of a value.
func (x *explainer) trail(hops []hop, origin position) Trail {
	shown := hops[:min(maxSteps, len(hops))]
	t := Trail{Document: origin.node.index, Omitted: len(hops) - len(shown)}
	for _, h := range shown {
		t.Steps = append(t.Steps, x.step(h))
	}
	slices.Reverse(t.Steps)
	if origin.own {
		if t.Path = "."; !origin.node.encrypted {
			t.Path = x.text(origin.steps)
		}
	}
	return t
}

// stepTextSize is the memory of a step of a trail besides its texts, in bytes.
const stepTextSize = 128

// step returns the step that a hop is, with the trail of a value that it inserted, and counts its texts.
func (x *explainer) step(h hop) Step {
	s := Step{Kind: Inherited, Document: h.in.index}
	switch {
	case h.change == nil:
	case h.source == nil:
		a := h.in.actions[h.number]
		s.Kind, s.Number, s.To = methodStep(a.method), h.number, x.textOf(a.path)
		s.From = s.To
	default:
		by := &h.in.substitutions[h.number]
		to := by.destinations[h.destination]
		s.Kind, s.Number, s.Source = Substituted, h.number, h.source.index
		s.From, s.Part, s.To, s.Pattern = by.written, by.pattern, to.written, to.pattern
		if h.kind == changeInserted {
			s.Kind, s.Inserted = Inserted, x.inserted(h)
		}
	}
	texts := stepTextSize + len(s.From) + len(s.Part) + len(s.To) + len(s.Pattern)
	x.charge(visitCost)
	x.hold(texts) // as often as they are shown
	x.size += texts + len(h.in.Name)
	return s
}

// inserted returns the trail of a value that was inserted into a text, nil if it is a container or there are too many.
func (x *explainer) inserted(h hop) *Trail {
	if h.from == nil || x.nested >= maxNested {
		return nil
	}
	x.nested++
	t := x.trail(x.way(h.source.at(h.from.steps())))
	x.nested += len(t.Steps)
	return &t
}

func methodStep(method string) StepKind {
	switch method {
	case "replace":
		return Replaced
	case "delete":
		return Deleted
	}
	return Merged
}

// text formats steps as a path.
func (x *explainer) text(steps []pathStep) string {
	size := 0
	for _, s := range steps {
		size += wordSize + len(s.key)
	}
	x.charge(runeCost * size)
	if x.hold(2 * size); x.err != nil {
		return ""
	}
	return pathText(steps)
}

// textOf is text for a path of an action, which many leaves may share.
func (x *explainer) textOf(p *dataPath) string {
	known, ok := x.texts[p]
	if !ok {
		known = x.text(p.steps)
		x.texts[p] = known
	}
	return known
}

// secrecy reports whether any document on the way of a leaf is encrypted. depth is how many steps lead to the whole
// secret that the leaf is a part of, where the last substitution wrote it; otherwise it is that of the leaf.
func (x *explainer) secrecy(hops []hop, origin position, depth int) (bool, int) {
	secret, whole := origin.own && origin.node.encrypted, -1
	for _, h := range hops {
		if h.change == nil {
			continue
		}
		secret = secret || h.in.encrypted || h.source != nil && h.source.encrypted || x.insertsSecret(h.change)
		if whole < 0 && h.kind == changeWritten && h.source != nil && h.source.secret {
			whole = len(h.in.substitutions[h.number].destinations[h.destination].path.steps)
		}
	}
	if secret && whole >= 0 {
		depth = min(whole, depth)
	}
	return secret, depth
}

// insertsSecret reports whether a change inserts a value into a text that is secret where it was read.
func (x *explainer) insertsSecret(c *change) bool {
	if c.kind != changeInserted || c.from == nil {
		return false
	}
	secret, known := x.inserts[c]
	if !known {
		hops, origin := x.way(c.source.at(c.from.steps()))
		secret, _ = x.secrecy(hops, origin, 0)
		x.inserts[c] = secret
	}
	return secret
}
