package rendering

// history lists the changes of one document's data, in order.
type history struct {
	document int      // its number
	parent   *history // of the document whose data is inherited, nil if none is

	changes []change
	index   *changesAt // built when it is first needed
}

// event is one action, or one destination of a substitution.
type event struct {
	history     *history
	number      int      // of the action or substitution in the document's list
	source      *history // of the source of a substitution, nil for an action
	destination int      // of a substitution
}

// change is one modification that an event made at a place of the data.
type change struct {
	*event

	kind  changeKind
	at    *place // as the data was then
	from  *place // where the value was read: see the kinds
	index int    // of the item that was removed, or the first that was made
}

// changeKind is the kind of a Change.
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
