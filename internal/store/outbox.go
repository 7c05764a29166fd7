package store

import (
	"github.com/jackc/pgx/v5"

	"purser/internal/events"
)

const (
	outboxColumns = `site, type, revision, subject, data, withheld`

	insertEvent = `INSERT INTO outbox (` + outboxColumns + `) VALUES ($1, $2, nullif($3::bigint, 0), $4, $5, $6)`

	// tellTag adds an event of type %s about revision $2 for each tag of the FROM clause that follows.
	tellTag = `INSERT INTO outbox (` + outboxColumns + `)
		SELECT $1, '%s', $2::bigint, 'revisions/' || $2::bigint || '/tags/' || tag,
			json_build_object('revision', $2::bigint, 'tag', tag), NULL FROM done`

	tellPurge = `INSERT INTO outbox (` + outboxColumns + `)
		SELECT site, '` + string(events.SitePurged) + `', NULL, 'revisions', json_build_object('epoch', epoch), NULL
		FROM sites WHERE site = $1`
)

// queueEvent adds an event to the outbox. It is queued after all statements that wait for locks, so that the ids of the
// outbox are in the order of changes that wait for each other.
func (s *Store) queueEvent(batch *pgx.Batch, e events.Event) {
	batch.Queue(insertEvent, s.site, string(e.Type), e.Revision, e.Subject, string(e.Data), text(e.Withheld))
}

// committed wakes the numbering of events.
func (s *Store) committed() {
	select {
	case s.news <- struct{}{}:
	default: // they have not looked since the last time
	}
}

// Committed implements feed.Store.
func (s *Store) Committed() <-chan struct{} { return s.news }
