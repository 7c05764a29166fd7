package feed

import (
	"context"
	"time"

	"purser/internal/events"
	"purser/internal/queries"
	"purser/internal/revisions"
)

// Store keeps the feed. Fault: Unavailable if the database does not answer.
type Store interface {
	// Position returns the number of the newest event, and whether there are others without a number, or verdicts to look
	// at.
	Position(ctx context.Context) (newest int64, behind bool, err error)
	// Number numbers events of the outbox, with those that derive makes of them, in one transaction. It returns the number
	// of the newest event then, and whether it has left some in the outbox.
	Number(ctx context.Context, derive func(Batch) Derived) (newest int64, more bool, err error)
	// Events returns the events that a query asks for, on the state of one moment.
	Events(ctx context.Context, query Query) (Found, error)
	// Forget deletes old events, some at a time, and returns how many: those from before a moment that are not among the
	// newest of a number.
	Forget(ctx context.Context, age time.Duration, keep int) (int, error)
	// Committed receives after changes that this server has committed.
	Committed() <-chan struct{}
}

// Batch is what is numbered at a time, and what is known at that moment.
type Batch struct {
	Events []events.Event // that have no number yet, in order
	// Told are the verdicts that were told last about revisions that the events are about, or whose verdict is due.
	Told map[int64]Verdict
	// Evidence is about these revisions, as far as they exist.
	Evidence queries.Evidence
	Head     int64 // the newest revision when the last of the events happened
}

// Derived is what follows from a batch.
type Derived struct {
	Events   []events.Event // to be told after those of the batch
	Verdicts []Verdict      // that are told with them
}

// Verdict is a verdict that was told.
type Verdict struct {
	Revision int64
	Stamp    revisions.Stamp
	Status   string
	Due      time.Time // when a result expires that it rests on; zero if none does
}

// Query asks for events after a number, in order.
type Query struct {
	After int64
	Types []events.Type // of these types; nil for all
	Limit int
	Scan  int // how many numbers are looked at, at most
	Bytes int // of data, after which a page ends
}

// Found are events.
type Found struct {
	Events []events.Event
	Oldest int64 // number of the oldest event that is kept
	Newest int64 // number of the newest event; 0 if there is none
}
