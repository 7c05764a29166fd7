package budget

import (
	"context"
	"fmt"
)

// Meter counts the work of one goroutine. It adds its counts to the budget in batches, so that counting is cheap. It is
// not safe for concurrent use.
type Meter struct {
	ctx     context.Context //nolint:containedctx // it lives as long as one piece of work
	budget  *Budget
	pending int64

	spent, limit int64 // of this meter alone; without a limit it is 0
	others       bool  // see ForOthers
	joint        bool  // see ForAll
	late         bool  // the request had done its part of the work on documents of others
}

// often is the number of steps after which a meter checks the budget and the context.
const often = 100_000

// NewMeter returns a meter for the budget of a context.
func NewMeter(ctx context.Context) *Meter { return &Meter{ctx: ctx, budget: From(ctx)} }

// ForDocument returns a meter for the work on one document, or a schema, of a size in bytes. It counts in the same
// budget, and also has a limit of its own, which does not depend on the rest of the request: see IsAlone. Call Done at
// the end of the work.
func (m *Meter) ForDocument(bytes int) *Meter { return m.Within(maxSteps + int64(bytes)*StepsPerByte) }

// Within is ForDocument with a limit in steps.
func (m *Meter) Within(steps int64) *Meter {
	late := m.others && m.budget.others.Load() > m.budget.maxOthers.Load()
	return &Meter{ctx: m.ctx, budget: m.budget, limit: steps, others: m.others, late: late}
}

// ForOthers returns a meter for work on documents of others, of a size in bytes. The request does not pay for what is
// counted by ForDocument and Within of that meter. The outcome of each must be kept: once all of them have taken more
// than a request's fixed sum and their sizes allow, Check of those that begin then returns a fault Unavailable, and the
// next request goes on from there.
func (m *Meter) ForOthers(bytes int) *Meter {
	m.budget.maxOthers.Add(int64(bytes) * StepsPerByte)
	return &Meter{ctx: m.ctx, budget: m.budget, others: true}
}

// ForAll is ForDocument for work that all documents of a size in bytes share. If it exceeds its limit, Check returns a
// fault Unavailable: none of the documents is to blame, and the next request goes on from what was kept.
func (m *Meter) ForAll(bytes int) *Meter {
	joint := m.ForDocument(bytes)
	joint.joint = true
	return joint
}

// Steps returns the number of steps that this meter has counted.
func (m *Meter) Steps() int64 { return m.spent + m.pending }

// Charge counts steps. A loop that may be long must also call Check.
func (m *Meter) Charge(steps int) { m.pending += int64(steps) }

// Spend counts steps and calls Check after every batch.
func (m *Meter) Spend(steps int) error {
	if m.pending += int64(steps); m.pending < often {
		return nil
	}
	return m.Check()
}

// Check returns an error if the request has spent more than it may (*Exceeded), or the cause of the context's end
// if it was canceled. It may wait for a permit.
func (m *Meter) Check() error {
	err := m.look()
	if err == ErrLarge { //nolint:errorlint // it is not wrapped
		return m.Admit()
	}
	return err
}

// Done counts the last steps of work that ended with an error, nil for none. It returns that error, unless Check
// returns one.
func (m *Meter) Done(err error) error {
	if spent := m.Check(); spent != nil {
		return spent
	}
	return err
}

func (m *Meter) look() error {
	m.budget.count(m.pending, m.others && m.limit > 0)
	m.spent += m.pending
	m.pending = 0
	if m.ctx.Err() != nil {
		return fmt.Errorf("give up: %w", context.Cause(m.ctx))
	}
	if m.late {
		return m.budget.busy()
	}
	err := m.budget.check(m.ctx)
	if _, spent := err.(*Exceeded); !spent && m.limit > 0 && m.spent > m.limit { //nolint:errorlint // it is not wrapped
		if m.joint {
			return m.budget.busy()
		}
		return exceeded(true, "it takes more than %.2f s of work", float64(m.limit)/Second)
	}
	return err
}

// Admit waits for a permit, even if the request is still small. Fault: Unavailable if there is none for too long.
func (m *Meter) Admit() error { return m.budget.admit(m.ctx) }

// Read counts a row of documents, and grants the steps and the bytes that work on it takes. It
// returns an error as Check does, but ErrLarge where Check would have to wait for a permit: whoever reads keeps others
// waiting.
func (m *Meter) Read(steps, bytes int) error {
	m.pending += int64(steps)
	m.budget.Grant(bytes)
	m.budget.bytes.Add(int64(bytes))
	err := m.look()
	if err == ErrLarge && m.budget.tryAdmit(m.ctx) { //nolint:errorlint // it is not wrapped
		return nil
	}
	return err
}

// Unread reverts Read for rows that are read again.
func (m *Meter) Unread(bytes int) {
	m.budget.Grant(-bytes)
	m.Release(bytes)
}

// Hold counts bytes that are kept in memory until they are released, and returns an error as Check does.
func (m *Meter) Hold(bytes int) error {
	m.budget.bytes.Add(int64(bytes))
	return m.Check()
}

// Release uncounts bytes that are no longer needed.
func (m *Meter) Release(bytes int) { m.budget.bytes.Add(-int64(bytes)) }
