package diff

import (
	"context"

	"purser/internal/budget"
)

// The cost of comparing, in steps of about a nanosecond, and the memory of results, in bytes.
const (
	valueCost   = 100 // to compare two values
	entryCost   = 300 // to enter a key or an item in an index
	matchCost   = 5   // to compare an item with one of its places
	lineCost    = 60  // to compare a line
	byteCost    = 10  // to write, cut or encode a byte of a text
	bytesPerRun = 8   // of two texts that are compared within a step

	entrySize  = 128 // an entry of an index, or a pair of members
	changeSize = 512 // a change that is reported
)

// meter counts the cost of one comparison. It keeps the first error: loops end early once err is set.
type meter struct {
	spent *budget.Meter
	err   error
}

func newMeter(ctx context.Context) *meter { return &meter{spent: budget.NewMeter(ctx)} }

// charge counts steps of work.
func (m *meter) charge(steps int) {
	if err := m.spent.Spend(steps); err != nil && m.err == nil {
		m.err = err
	}
}

// hold counts bytes that are kept, or no longer are if there are less than none.
func (m *meter) hold(bytes int) {
	m.charge(max(0, bytes))
	if err := m.spent.Hold(bytes); err != nil && m.err == nil {
		m.err = err
	}
}

// end returns the error that ended a comparison.
func (m *meter) end() error {
	if err := m.spent.Check(); err != nil && m.err == nil {
		m.err = err
	}
	return m.err
}

// compareTexts counts that two texts are compared.
func (m *meter) compareTexts(before, after any) {
	if text, ok := before.(string); ok {
		m.charge(len(text) / bytesPerRun)
	}
	if text, ok := after.(string); ok {
		m.charge(len(text) / bytesPerRun)
	}
}
