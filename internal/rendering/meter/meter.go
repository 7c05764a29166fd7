// Package meter counts the cost of one rendering in its request's budget.
//
// Loops charge work and end early once Err is set, and callers ask for the error between two operations. So an error
// needs no way back through code that visits values.
package meter

import (
	"context"
	"fmt"

	"purser/internal/budget"
)

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
	Err   error // of the budget, or the cause of the context's end, or *Exceeded
	Held  int   // bytes that are held in all
	Steps int64 // charged in all

	spent   *budget.Meter
	pending int   // bytes that are held but not yet counted in the budget
	atEnd   int   // bytes that are released when the rendering ends
	own     int64 // steps of the confined work
	most    int64 // that the confined work may take; 0 if no work is confined
}

// Exceeded is the error of confined work that takes more steps than it may.
type Exceeded struct{ Most int64 }

func (e *Exceeded) Error() string {
	return fmt.Sprintf("it takes more than %.2f s of work", float64(e.Most)/budget.Second)
}

// New returns a meter that counts in the context's budget.
func New(ctx context.Context) *Meter { return &Meter{spent: budget.NewMeter(ctx)} }

// Budget returns the meter of the budget in which the cost is counted.
func (m *Meter) Budget() *budget.Meter { return m.spent }

// Charge counts steps of work.
func (m *Meter) Charge(steps int) {
	if m.most > 0 {
		if m.own += int64(steps); m.own > m.most && m.Err == nil {
			m.Err = &Exceeded{m.most}
		}
	}
	m.Steps += int64(steps)
	if err := m.spent.Spend(steps); err != nil && m.Err == nil {
		m.Err = err
	}
}

// Confine bounds the work that follows to a number of steps, until Release. Whether it exceeds them depends on nothing
// that was done before.
func (m *Meter) Confine(steps int64) { m.own, m.most = 0, steps }

// Release ends what Confine began. It returns the number of steps, and whether it was exceeded. The error is not in Err
// any more then.
func (m *Meter) Release() (steps int64, exceeded bool) {
	steps, m.own, m.most = m.own, 0, 0
	if _, exceeded = m.Err.(*Exceeded); exceeded { //nolint:errorlint // it is not wrapped
		m.Err = nil
	}
	return steps, exceeded
}

// Apart does work that other confined work shares, so that it does not count for the one that happens to need it first.
func (m *Meter) Apart(work func()) {
	most := m.most
	m.most = 0
	work()
	m.most = most
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
