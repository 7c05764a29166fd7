package rendering

import (
	"context"
	"errors"
	"fmt"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
)

// Costs of work in steps of about a nanosecond, and of values in bytes of memory.
const (
	parseCost   = 25  // to parse a byte of JSON text
	visitCost   = 10  // to visit, measure or compare a member or an item
	copyCost    = 5   // to copy a member or an item
	lookupCost  = 100 // to find or enter a key in a map
	changeCost  = 500 // to begin an action, or to write to a destination
	runeCost    = 30  // to read or write a character of a text
	bytesPerRun = 8   // of a text that are searched, copied or compared within a step

	wordSize   = 16 // an interface, or the header of a string
	listSize   = 24 // the header of a list
	memberSize = 32
	objectSize = 96  // an object or array of a tree, and its interface
	entrySize  = 64  // an entry of a map, besides its value
	nodeSize   = 512 // a node, and its entries in maps
)

// maxPending is how many bytes may be held before they are counted in the budget.
const maxPending = 1 << 16

// maxDepth bounds the nesting of rendered data, far above the bound for submitted documents: code that walks it
// later may recurse.
const maxDepth = 1000

// meter counts the cost of one rendering in its request's budget. It keeps the first error: loops charge work and end
// early once err is set, and check returns the error between two operations.
type meter struct {
	spent    *budget.Meter
	err      error // of the budget, or the cause of the context's end
	pending  int   // bytes that are held but not yet counted in the budget
	metadata int   // bytes that are held until the rendering ends
	held     int   // bytes that are held in all

	limit int64 // bytes that all rendered data may take, as JSON text
	room  int64 // bytes of limit that are left
}

func newMeter(ctx context.Context, limit int64) *meter {
	return &meter{spent: budget.NewMeter(ctx), limit: limit, room: limit}
}

// charge counts steps of work.
func (m *meter) charge(steps int) {
	if err := m.spent.Spend(steps); err != nil && m.err == nil {
		m.err = err
	}
}

// hold counts bytes that are kept in memory; a negative number releases them. Before a large allocation call hold and
// check err. Allocating and collecting a byte costs about one step.
func (m *meter) hold(bytes int) {
	m.charge(max(0, bytes))
	m.held += bytes
	if m.pending += bytes; m.pending >= maxPending {
		m.flush()
	}
}

// holdBriefly counts bytes that are kept only until the current operation ends.
func (m *meter) holdBriefly(bytes int) {
	m.hold(bytes)
	m.hold(-bytes)
}

func (m *meter) flush() {
	if err := m.spent.Hold(m.pending); err != nil && m.err == nil {
		m.err = err
	}
	m.pending = 0
}

// end counts pending bytes, and releases the memory that only the rendering needed.
func (m *meter) end() {
	m.hold(-m.metadata)
	m.flush()
	m.metadata = 0
}

// check returns the error that stops the work on a document; doing names the part that was worked on.
func (m *meter) check(n *node, doing string) error {
	if m.err == nil {
		m.err = m.spent.Check()
	}
	if m.err == nil {
		return nil
	}
	err := budget.About(m.err, "render document %s%s", n.Identity, doing)
	if f, ok := errors.AsType[*fault.Fault](err); ok && f.Kind == fault.TooLarge {
		return about(f, n)
	}
	return fmt.Errorf("render documents: %w", err)
}

// reserve reserves the room for a document's data.
func (m *meter) reserve(n *node, size int64) error {
	if m.room -= size; m.room < 0 {
		return m.tooLarge(n)
	}
	return nil
}

func (m *meter) tooLarge(n *node) error {
	return about(document.TooLarge("With document %s the rendered data takes more than %d bytes, the limit for all "+
		"documents of a revision together", n.Identity, m.limit), n)
}
