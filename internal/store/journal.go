package store

import (
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"purser/internal/events"
	"purser/internal/revisions"
)

const (
	outboxColumns = `site, type, revision, subject, data, withheld`

	insertEvent = `INSERT INTO outbox (` + outboxColumns + `) VALUES ($1, $2, nullif($3::bigint, 0), $4, $5, $6)`

	tellPurge = `INSERT INTO outbox (` + outboxColumns + `)
		SELECT site, '` + string(events.SitePurged) + `', NULL, 'revisions', json_build_object('epoch', epoch), NULL
		FROM sites WHERE site = $1`
)

// queueEvent adds an event to the outbox.
func (s *Store) queueEvent(batch *pgx.Batch, e events.Event) {
	batch.Queue(insertEvent, s.site, string(e.Type), e.Revision, e.Subject, string(e.Data), jsonText(e.Withheld))
}

// queuePurged adds the event of a purge, with the site's epoch after it, to the outbox.
func (s *Store) queuePurged(batch *pgx.Batch) { batch.Queue(tellPurge, s.site) }

// wake wakes the numbering of events. It is called after a commit.
func (s *Store) wake() {
	select {
	case s.news <- struct{}{}:
	default: // they have not looked since the last time
	}
}

// Committed implements feed.Store. It returns a channel that receives after wake.
func (s *Store) Committed() <-chan struct{} { return s.news }

// These statements change rows and record that at once, which saves round trips.

// journaled are parts of a WITH clause that add the Entry of each row of r: its column event to the outbox, and its
// column audit, unless it is null, to the audit. The other columns of r are site, revision, and n, by which rows are
// ordered.
const journaled = `told AS (INSERT INTO outbox (` + outboxColumns + `)
		SELECT site, e.type, revision, e.subject, e.data, e.withheld FROM r CROSS JOIN LATERAL json_to_record(r.event)
			e (type text, subject text, data text, withheld text) ORDER BY n),
	recorded AS (INSERT INTO audit (` + auditColumns + `)
		SELECT site, a.at, a.user_id, a.user_name, a.project, a.end_user, a.rule, a.method, a.target, revision, a.status,
			a.error, a.remote, a.request
		FROM r CROSS JOIN LATERAL json_to_record(r.audit) a (at timestamptz, user_id text, user_name text, project text,
			end_user text, rule text, method text, target text, status int, error text, remote text, request text)
		WHERE r.audit IS NOT NULL ORDER BY n)`

// Entry is an event and an audit event as JSON, in the form that journaled reads.
type entry struct {
	Event eventRecord  `json:"event"`
	Audit *auditRecord `json:"audit"`
}

type eventRecord struct {
	Type     string  `json:"type"`
	Subject  string  `json:"subject"`
	Data     string  `json:"data"`
	Withheld *string `json:"withheld"`
}

type auditRecord struct {
	At       time.Time `json:"at"`
	UserID   string    `json:"user_id"`
	UserName string    `json:"user_name"`
	Project  string    `json:"project"`
	EndUser  string    `json:"end_user"`
	Rule     string    `json:"rule"`
	Method   string    `json:"method"`
	Target   string    `json:"target"`
	Status   int       `json:"status"`
	Error    string    `json:"error"`
	Remote   string    `json:"remote"`
	Request  string    `json:"request"`
}

// entryOf returns the entry of an event and of an audit event, nil for none.
func entryOf(e events.Event, a *revisions.AuditEvent) entry {
	record := entry{Event: eventRecord{string(e.Type), e.Subject, string(e.Data), jsonText(e.Withheld)}}
	if a != nil {
		record.Audit = &auditRecord{
			a.At, a.UserID, a.UserName, a.Project, a.EndUser, a.Rule, a.Method, a.Target, a.Status, a.Error, a.Remote, a.Request,
		}
	}
	return record
}

// tellTag adds an event of type %s about revision $2 for each tag of the FROM clause that follows.
const tellTag = `INSERT INTO outbox (` + outboxColumns + `)
		SELECT $1, '%s', $2::bigint, 'revisions/' || $2::bigint || '/tags/' || tag,
			json_build_object('revision', $2::bigint, 'tag', tag), NULL FROM done`

// withTags extends a statement that writes tags, and its arguments, of which the first two are the site and a revision.
// It adds an event for each tag that was written, and an audit event, nil for none, if there was one.
func withTags(sql string, args []any, told events.Type, audit *revisions.AuditEvent) (string, []any) {
	sql, tell := "WITH done AS ("+sql+" RETURNING tag)", fmt.Sprintf(tellTag, told)
	if audit == nil {
		return sql + " " + tell, args
	}
	record, args := auditFrom("WHERE EXISTS (SELECT FROM done)", args, *audit)
	return sql + ", told AS (" + tell + ") " + record, args
}

// auditFrom returns a statement that records an audit event for each row of a FROM or WHERE clause, and the arguments
// with those of the event. The first two are the site and a revision.
func auditFrom(rows string, args []any, e revisions.AuditEvent) (string, []any) {
	n := len(args)
	return fmt.Sprintf(`INSERT INTO audit (%s)
		SELECT $1, $%d::timestamptz, $%d::text, $%d::text, $%d::text, $%d::text, $%d::text, $%d::text, $%d::text, $2,
			$%d::integer, $%d::text, $%d::text, $%d::text %s`, auditColumns,
			n+1, n+2, n+3, n+4, n+5, n+6, n+7, n+8, n+9, n+10, n+11, n+12, rows),
		append(args, e.At, e.UserID, e.UserName, e.Project, e.EndUser, e.Rule, e.Method, e.Target, e.Status, e.Error,
			e.Remote, e.Request)
}
