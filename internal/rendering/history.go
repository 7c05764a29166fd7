package rendering

import "slices"

// history lists the changes that actions and substitutions made to one document's data, in order. It is recorded beside
// the data while a document is explained, and read backwards.
type history struct {
	changes []change
	index   *changesAt // built when it is first needed
}

// event is one action, or one destination of a substitution.
type event struct {
	node        *node
	number      int   // of the action or substitution in the document's list
	source      *node // of a substitution, nil of an action
	destination int   // of a substitution
}

// change is one modification that an event made at a place of the data.
type change struct {
	*event

	kind  changeKind
	at    *place // as the data was then
	from  *place // where the value was read: see the kinds
	index int    // of the item that was removed, or the first that was made
	// For an inserted text: whether the inserted value contains a secret, once that has been determined.
	secret, followed bool
}

type changeKind uint8

const (
	valueWritten  changeKind = iota // a value, read in the document's own data or in the source's
	valueSpread                     // the value at another path of the same data
	containerMade                   // an empty container
	itemsMade                       // empty mappings at the end of a list
	textInserted                    // a value into a text; it was read in the source's data, at nil if it is a container
	itemRemoved                     // an item of a list, so that those behind it moved up
)

// changeSize is the memory of a change and its entry in an index, in bytes.
const changeSize = 160

// changesAt are the changes at one place, by their position in the history, and those at the places below it.
type changesAt struct {
	changes []int
	below   map[step]*changesAt
}

// begin sets the event that the following changes belong to.
func (t *tree) begin(e event) {
	if t.history != nil {
		t.event = &e
	}
}

// note adds a change to the history.
func (t *tree) note(kind changeKind, at, from *place) {
	t.noteChange(change{kind: kind, at: at, from: from})
}

func (t *tree) noteChange(c change) {
	if t.history == nil {
		return
	}
	t.charge(lookupCost)
	t.hold(changeSize + 2*placeSize)
	c.event = t.event
	t.history.changes = append(t.history.changes, c)
}

// noteRemoval records a removal from a container.
func (t *tree) noteRemoval(s spot, emptied bool) {
	if t.history == nil {
		return
	}
	if _, isList := s.in.(*array); isList {
		t.noteChange(change{kind: itemRemoved, at: s.place.in, index: s.at})
	}
	if emptied {
		t.note(containerMade, s.place.in, nil)
	}
}

// indexed returns the index of a history.
func (m *meter) indexed(h *history) *changesAt {
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
			m.charge(lookupCost + len(s.key)/bytesPerRun)
			below := at.below[s]
			if below == nil {
				if at.below == nil {
					at.below = map[step]*changesAt{}
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

// position is the place of a leaf at some time.
type position struct {
	node  *node
	steps []step // nothing else holds them
	end   int    // how many changes of the node's history had been made
	// How the way back ends here: the leaf was written in the node's own data, or made by a change.
	own, made bool
}

func (n *node) at(steps []step) position {
	return position{node: n, steps: steps, end: len(n.history.changes)}
}

// back follows a leaf one step back, to its origin. It returns the change that wrote it, nil if the document
// inherited it or wrote it. The way ends where the position says so.
func (m *meter) back(p *position) *change {
	if p.own || p.made {
		return nil
	}
	for c := m.last(p); c != nil; c = m.last(p) {
		depth := len(c.at.steps())
		switch c.kind {
		case valueWritten:
			if p.made = c.from == nil; p.made {
				return c
			}
			p.steps = append(c.from.steps(), p.steps[depth:]...)
			if p.own = c.source == nil; !p.own {
				*p = c.source.at(p.steps)
			}
			return c
		case valueSpread:
			p.steps = append(c.from.steps(), p.steps[depth:]...)
		case containerMade:
			p.made = true
			return c
		case textInserted:
			return c
		case itemsMade:
			if p.made = len(p.steps) == depth+1 && p.steps[depth].index >= c.index; p.made {
				return c
			}
		case itemRemoved:
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
func (m *meter) last(p *position) *change {
	at, last := m.indexed(p.node.history), -1
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
	return &p.node.history.changes[last]
}
