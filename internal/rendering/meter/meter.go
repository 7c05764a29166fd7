// Package meter counts the cost of one rendering in its request's budget.
//
// Loops charge work and end early once Err is set, and callers ask for the error between two operations. So an error
// needs no way back through code that visits values.
package meter

import "purser/internal/budget"

// Costs of work in steps of about a nanosecond.
const (
	Visit        = 10  // to visit, measure or compare a member or an item
	Copy         = 5   // to copy a member or an item
	Place        = 50  // to note where a member or an item is
	Lookup       = 100 // to find or enter a key in a map
	Rune         = 30  // to read or write a character of a text
	ParseByte    = 25  // to parse a byte of JSON text
	BytesPerStep = 8   // of a text that are searched, copied or compared
)

// Sizes of values in bytes of memory.
const (
	Word   = 16 // an interface, or the header of a string
	List   = 24 // the header of a list
	Member = 32
	Entry  = 64 // an entry of a map, besides its value
)

// Meter counts the cost of one rendering. It keeps the first error.
type Meter struct {
	Err   error // of the budget, or the cause of the context's end
	Held  int   // bytes that are held in all
	Steps int64 // charged in all

	shared  *budget.Meter // of work that all documents share
	spent   *budget.Meter // of the current work
	pending int           // bytes that are held but not yet counted in the budget
	atEnd   int           // bytes that are released when the rendering ends
}

// New returns a meter that counts work that documents share in another one.
func New(shared *budget.Meter) *Meter { return &Meter{shared: shared, spent: shared} }

// Budget returns the meter of the budget in which the cost is counted.
func (m *Meter) Budget() *budget.Meter { return m.spent }

// Charge counts steps of work.
func (m *Meter) Charge(steps int) {
	m.Steps += int64(steps)
	if err := m.spent.Spend(steps); err != nil && m.Err == nil {
		m.Err = err
	}
}

// Confine counts work on one document in a meter of its own. It reports whether the limit of that one was exceeded,
// which depends on nothing that was done before. The error is not in Err any more then.
func (m *Meter) Confine(own *budget.Meter, work func() error) (exceeded bool, err error) {
	m.spent = own
	err = work()
	m.spent = m.shared
	if exceeded = budget.IsAlone(own.Check()); exceeded {
		m.Err = nil
	}
	return exceeded, err
}

// IsConfined reports whether the current work is that on one document.
func (m *Meter) IsConfined() bool { return m.spent != m.shared }

// Apart does work that other confined work shares, so that it does not count for the one that happens to need it first.
func (m *Meter) Apart(work func()) {
	own := m.spent
	m.spent = m.shared
	work()
	m.spent = own
}

// maxPending is how many bytes may be held before they are counted in the budget.
const maxPending = 1 << 16

// Hold counts bytes that are kept in memory; a negative number releases them. Before a large allocation call Hold and
// look at Err. Allocating and collecting a byte costs about one step.
func (m *Meter) Hold(bytes int) {
	m.Charge(max(0, bytes))
	m.Held += bytes
	if m.pending += bytes; m.pending >= maxPending {
		m.flush()
	}
}

// HoldBriefly counts bytes that are kept only until the current operation ends.
func (m *Meter) HoldBriefly(bytes int) {
	m.Hold(bytes)
	m.Hold(-bytes)
}

// ReleaseAtEnd lets End release bytes that are held.
func (m *Meter) ReleaseAtEnd(bytes int) { m.atEnd += bytes }

// End counts pending bytes, and releases the memory that only the rendering needed.
func (m *Meter) End() {
	m.Hold(-m.atEnd)
	m.flush()
	m.atEnd = 0
}

func (m *Meter) flush() {
	if err := m.spent.Hold(m.pending); err != nil && m.Err == nil {
		m.Err = err
	}
	m.pending = 0
}

// Stopped returns the error that stops the work, nil if it may go on.
func (m *Meter) Stopped() error {
	if m.Err == nil {
		m.Err = m.spent.Check()
	}
	return m.Err
}
