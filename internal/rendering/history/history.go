// Package history follows values of rendered data back to where they were written.
//
// While a document is explained, each change that an action or a substitution makes to its data is noted in a History
// beside the data, which stays the same as without. A Position in the data is then followed backwards through the
// changes, from a document to those from which it took values:
//
//	Position ──Back──► Change at it, or above it, and the Position before that ──Back──► …
package history

import (
	"purser/internal/rendering/meter"
	"purser/internal/rendering/paths"
)

// History lists the changes of one document's data, in order.
type History struct {
	Document int      // its number
	Parent   *History // of the document whose data is inherited, nil if none is

	changes []Change
	index   *changesAt // built when it is first needed
}

// Event is one action, or one destination of a substitution.
type Event struct {
	History     *History
	Number      int      // of the action or substitution in the document's list
	Source      *History // of the source of a substitution, nil for an action
	Destination int      // of a substitution
}

// Change is one modification that an event made at a place of the data.
type Change struct {
	*Event

	Kind  Kind
	At    *paths.Place // as the data was then
	From  *paths.Place // where the value was read: see the kinds
	Index int          // of the item that was removed, or the first that was made
}

// Kind is the kind of a Change.
type Kind uint8

// The kinds of changes.
const (
	Written  Kind = iota // a value, read in the document's own data or in the source's
	Spread               // the value at another path of the same data
	Made                 // an empty container
	Padded               // empty mappings at the end of a list
	Inserted             // a value into a text; it was read in the source's data, at nil if it is a container
	Removed              // an item of a list, so that those behind it moved up
)

// changeSize is the memory of a change and its entry in an index, in bytes.
const changeSize = 160

// Note adds a change. It must not be called after a position in the data was followed.
func (h *History) Note(m *meter.Meter, c Change) {
	m.Charge(meter.Lookup)
	m.Hold(changeSize + 2*paths.PlaceSize)
	h.changes = append(h.changes, c)
}

// changesAt are the changes at one place, by their position in the history, and those at the places below it.
type changesAt struct {
	changes []int
	below   map[paths.Step]*changesAt
}

// indexed returns the index of a history.
func (h *History) indexed(m *meter.Meter) *changesAt {
	if h.index != nil {
		return h.index
	}
	h.index = &changesAt{}
	for i := range h.changes {
		if m.Err != nil {
			break
		}
		at := h.index
		for _, s := range h.changes[i].At.Steps() {
			m.Charge(meter.Lookup + len(s.Key)/meter.BytesPerStep)
			below := at.below[s]
			if below == nil {
				if at.below == nil {
					at.below = map[paths.Step]*changesAt{}
				}
				below = &changesAt{}
				at.below[s] = below
				m.Hold(4 * meter.Entry)
			}
			at = below
		}
		at.changes = append(at.changes, i)
	}
	return h.index
}
