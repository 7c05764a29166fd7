package rendering

import "slices"

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
