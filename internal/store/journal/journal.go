package journal

import (
	"github.com/jackc/pgx/v5"

	"purser/internal/events"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/store/postgres"
	"purser/internal/store/site"
)

// Journal records what happens to a site. It is safe for concurrent use.
type Journal struct {
	site     *site.Site
	news     chan struct{} // holds a token after changes not yet processed
	recorder postgres.Gatherer[revisions.AuditEvent, struct{}]
}

var _ queries.Audit = (*Journal)(nil)

// New returns the journal of a site.
func New(s *site.Site) *Journal { return &Journal{site: s, news: make(chan struct{}, 1)} }

const (
	outboxColumns = `site, type, revision, subject, data, withheld`

	insertEvent = `INSERT INTO outbox (` + outboxColumns + `) VALUES ($1, $2, nullif($3::bigint, 0), $4, $5, $6)`

	tellPurge = `INSERT INTO outbox (` + outboxColumns + `)
		SELECT site, '` + string(events.SitePurged) + `', NULL, 'revisions', json_build_object('epoch', epoch), NULL
		FROM sites WHERE site = $1`
)

// QueueEvent adds an event to the outbox.
func (j *Journal) QueueEvent(batch *pgx.Batch, e events.Event) {
	batch.Queue(insertEvent, j.site.Name, string(e.Type), e.Revision, e.Subject, string(e.Data), postgres.Text(e.Withheld))
}

// QueuePurged adds the event of a purge, with the site's epoch after it, to the outbox.
func (j *Journal) QueuePurged(batch *pgx.Batch) { batch.Queue(tellPurge, j.site.Name) }

// Wake wakes the numbering of events. It is called after a commit.
func (j *Journal) Wake() {
	select {
	case j.news <- struct{}{}:
	default: // they have not looked since the last time
	}
}

// Committed returns a channel that receives after Wake.
func (j *Journal) Committed() <-chan struct{} { return j.news }
