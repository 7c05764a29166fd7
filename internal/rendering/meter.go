package rendering

import (
	"fmt"

	"purser/internal/budget"
	"purser/internal/document"
)

// Costs of work in steps of about a nanosecond.
const (
	visitCost     = 10  // to visit, measure or compare a member or an item
	copyCost      = 5   // to copy a member or an item
	placeCost     = 50  // to note where a member or an item is
	lookupCost    = 100 // to find or enter a key in a map
	runeCost      = 30  // to read or write a character of a text
	parseByteCost = 25  // to parse a byte of JSON text
	bytesPerStep  = 8   // of a text that are searched, copied or compared
)

// Sizes of values in bytes of memory.
const (
	wordSize   = 16 // an interface, or the header of a string
	listSize   = 24 // the header of a list
	memberSize = 32
	entrySize  = 64 // an entry of a map, besides its value
)

// meter counts the cost of one rendering. It keeps the first error.
type meter struct {
	err   error // of the budget, or the cause of the context's end
	held  int   // bytes that are held in all
	steps int64 // charged in all

	shared  *budget.Meter // of work that all documents share
	spent   *budget.Meter // of the current work
	pending int           // bytes that are held but not yet counted in the budget
	atEnd   int           // bytes that are released when the rendering ends
}

// newMeter returns a meter that counts work that documents share in another one.
func newMeter(shared *budget.Meter) *meter { return &meter{shared: shared, spent: shared} }

// budget returns the meter of the budget in which the cost is counted.
func (m *meter) budget() *budget.Meter { return m.spent }

// charge counts steps of work.
func (m *meter) charge(steps int) {
	m.steps += int64(steps)
	if err := m.spent.Spend(steps); err != nil && m.err == nil {
		m.err = err
	}
}

// confine counts work on one document in a meter of its own. It reports whether the limit of that one was exceeded,
// which depends on nothing that was done before. The error is not in err any more then.
func (m *meter) confine(own *budget.Meter, work func() error) (exceeded bool, err error) {
	m.spent = own
	err = work()
	m.spent = m.shared
	if exceeded = budget.IsAlone(own.Check()); exceeded {
		m.err = nil
	}
	return exceeded, err
}

// apart does work that other confined work shares, so that it does not count for the one that happens to need it first.
func (m *meter) apart(work func()) {
	own := m.spent
	m.spent = m.shared
	work()
	m.spent = own
}

// maxPending is how many bytes may be held before they are counted in the budget.
const maxPending = 1 << 16

// hold counts bytes that are kept in memory; a negative number releases them. Before a large allocation call hold and
// look at err. Allocating and collecting a byte costs about one step.
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

// releaseAtEnd lets End release bytes that are held.
func (m *meter) releaseAtEnd(bytes int) { m.atEnd += bytes }

// end counts pending bytes, and releases the memory that only the rendering needed.
func (m *meter) end() {
	m.hold(-m.atEnd)
	m.flush()
	m.atEnd = 0
}

func (m *meter) flush() {
	if err := m.spent.Hold(m.pending); err != nil && m.err == nil {
		m.err = err
	}
	m.pending = 0
}

// check returns the error that stops the work, nil if it may go on.
func (m *meter) check() error {
	if m.err == nil {
		m.err = m.spent.Check()
	}
	return m.err
}

// parseJSON parses JSON text, and returns the bytes that the value takes.
func (m *meter) parseJSON(text []byte) (value any, size int, err error) {
	m.charge(parseByteCost * len(text))
	if value, err = document.ParseJSON(text); err != nil {
		return nil, 0, fmt.Errorf("parse JSON: %w", err)
	}
	size = len(text) + m.memoryOf(value)
	m.hold(size)
	return value, size, nil
}

// memoryOf returns the bytes that a value takes besides its texts.
func (m *meter) memoryOf(value any) int {
	switch value.(type) {
	case document.Mapping, []any:
	case string, document.Number:
		return wordSize
	default:
		return 0
	}
	members, items := contents(value)
	m.charge(visitCost * (len(members) + len(items)))
	size := listSize + memberSize*cap(members) + wordSize*cap(items)
	for i := range members {
		size += m.memoryOf(members[i].Value)
	}
	for _, item := range items {
		size += m.memoryOf(item)
	}
	return size
}
