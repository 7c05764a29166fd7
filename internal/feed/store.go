package feed

import (
	"context"
	"time"

	"purser/internal/events"
	"purser/internal/queries"
	"purser/internal/revisions"
)

// Store keeps the feeds of all sites. Fault: Unavailable if the database does not answer.
type Store interface {
	// News returns the sites with events that are not numbered yet, and those of which some were numbered lately.
	News(ctx context.Context) ([]News, error)
	// Due returns sites with verdicts that are due, at most a number of them.
	Due(ctx context.Context, most int) ([]string, error)
	// Committed returns a channel that receives after Changed has more to return.
	Committed() <-chan struct{}
	// Changed returns the sites with events that wait to be numbered since the last call: of changes that this server has
	// committed, or that it has found.
	Changed() []string
	// Feed returns the store of the feed of a site.
	Feed(site string) SiteStore
}

// News is what is new about a site: unnumbered events, or the position after some were numbered.
type News struct {
	Site   string
	Behind bool
	At     Position // if it is not behind
}

// SiteStore keeps the feed of one site. Fault: Unavailable if the database does not answer.
type SiteStore interface {
	// Position returns the position of the feed, and whether there are unnumbered events or verdicts that are due.
	Position(ctx context.Context) (at Position, behind bool, err error)
	// Number numbers events of the outbox and those that derive returns for them, in one transaction. It returns the
	// position of the feed afterwards, and whether events remain in the outbox.
	Number(ctx context.Context, derive func(Batch) Derived) (at Position, more bool, err error)
	// Events returns the events that a query selects, from one snapshot.
	Events(ctx context.Context, query Query) (Found, error)
	// DeleteOldEvents deletes some of the events that are older than age, but none of the newest keep events. It returns
	// the number of deleted events.
	DeleteOldEvents(ctx context.Context, age time.Duration, keep int) (int, error)
}

// Position identifies the newest event of a feed. In a restored database another event may have its number.
type Position struct {
	Newest int64     // its number; 0 if there is none
	At     time.Time // in UTC; zero if there is none
}

// Batch is a batch of events to be numbered, and the state that derive needs for them.
type Batch struct {
	Events []events.Event // in order, not yet numbered
	// Verdicts holds the verdicts reported last about revisions of the events or with verdicts that are due.
	Verdicts map[int64]Verdict
	// Evidence is about the existing ones of these revisions.
	Evidence queries.Evidence
	Head     int64 // the newest revision after the last of the events
}

// Derived is the result of deriving from a batch.
type Derived struct {
	Events   []events.Event // to be numbered after those of the batch
	Verdicts []Verdict      // to be stored as reported last
}

// Verdict is the verdict on a revision that was reported last.
type Verdict struct {
	Revision int64
	Stamp    revisions.Stamp
	Status   string
	Due      time.Time // when it changes next because a result expires or a waiver ends; zero if that does not happen
	Open     []string  // names of the validations whose results are open work
	Judged   time.Time // when that was decided
}

// Query selects events after a number, in order.
type Query struct {
	After int64
	Types []events.Type // nil for all
	Limit int
	Scan  int // the most numbers that are examined
	Bytes int // of data, after which the page ends
}

// Found is the result of a Query.
type Found struct {
	Events []events.Event
	Oldest int64 // number of the oldest stored event
	Newest int64 // number of the newest event; 0 if there is none
}
