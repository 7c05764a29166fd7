package store

import (
	"context"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"

	"purser/internal/queries"
	"purser/internal/revisions"
)

const (
	auditColumns = `site, at, user_id, user_name, project, end_user, rule, method, target, revision, status, error, remote,
		request`

	insertAudit = `INSERT INTO audit (` + auditColumns + `)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, nullif($10::bigint, 0), $11, $12, $13, $14)`

	selectAudit = `SELECT id, at, user_id, user_name, project, end_user, rule, method, target, coalesce(revision, 0),
			status, error, remote, request
		FROM audit WHERE site = $1`
)

// recorder collects events while others are being written, so that concurrent events share a commit.
type recorder struct {
	writing sync.Mutex // held while a page is written

	mutex sync.Mutex
	page  *page // that events can be added to; nil until the next event begins one
}

// page is a group of events that are written together.
type page struct {
	events  []revisions.AuditEvent
	written chan struct{} // closed when they are written, or could not be
	err     error         // to be read after that
}

// Record implements queries.Audit. The caller of the first event of a page writes it, after the page before.
func (s *Store) Record(ctx context.Context, event revisions.AuditEvent) error {
	p, isFirst := s.recorder.add(event)
	if isFirst {
		go s.writePage(context.WithoutCancel(ctx), p) // the others do not depend on this request
	}
	select {
	case <-p.written:
		return p.err
	case <-ctx.Done():
		return fmt.Errorf("wait for the audit: %w", context.Cause(ctx))
	}
}

func (s *Store) writePage(ctx context.Context, p *page) {
	s.recorder.writing.Lock()
	defer s.recorder.writing.Unlock()
	defer close(p.written)
	events := s.recorder.close(p)
	p.err = s.within(ctx, s.deadlines.Write, func(ctx context.Context) error {
		return s.attempt(ctx, func(ctx context.Context) error {
			batch := &pgx.Batch{}
			for _, event := range events {
				s.queueAudit(batch, event)
			}
			return s.pool.SendBatch(ctx, batch).Close() // one transaction
		})
	})
}

func (r *recorder) add(event revisions.AuditEvent) (p *page, isFirst bool) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if isFirst = r.page == nil; isFirst {
		r.page = &page{written: make(chan struct{})}
	}
	r.page.events = append(r.page.events, event)
	return r.page, isFirst
}

// close closes a page to further events and returns those that it has.
func (r *recorder) close(p *page) []revisions.AuditEvent {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.page = nil
	return p.events
}

func (s *Store) queueAudit(batch *pgx.Batch, e revisions.AuditEvent) {
	batch.Queue(insertAudit, s.site, e.At, e.UserID, e.UserName, e.Project, e.EndUser, e.Rule, e.Method, e.Target,
		e.Revision, e.Status, e.Error, e.Remote, e.Request)
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

// AuditEvents implements queries.Audit. It reads one event more than the limit, to know whether there are more.
func (s *Store) AuditEvents(ctx context.Context, q queries.AuditQuery) (
	events []revisions.AuditEvent, more bool, err error,
) {
	sql, args := s.auditOf(q)
	if events, err = collect(ctx, s, scanAudit, sql, args...); err != nil {
		return nil, false, err
	}
	if more = len(events) > q.Limit; more {
		events = events[:q.Limit]
	}
	return events, more, nil
}

// auditOf returns the statement for a query, with only the conditions that the query sets: generic plans would have to
// allow for the others.
func (s *Store) auditOf(q queries.AuditQuery) (sql string, args []any) {
	sql, args = selectAudit, []any{s.site}
	for _, condition := range []struct {
		wanted bool
		sql    string // with %[1]d for the number of its parameter
		value  any
	}{
		{q.Revision != 0, " AND revision = $%[1]d", q.Revision},
		{q.User != "", " AND (user_id = $%[1]d OR user_name = $%[1]d AND user_name <> '')", q.User},
		{!q.Since.IsZero(), " AND at >= $%[1]d", q.Since},
		{!q.Until.IsZero(), " AND at < $%[1]d", q.Until},
		{true, " ORDER BY id DESC OFFSET $%[1]d", q.Offset},
		{true, " LIMIT $%[1]d", q.Limit + 1},
	} {
		if condition.wanted {
			args = append(args, condition.value)
			sql += fmt.Sprintf(condition.sql, len(args))
		}
	}
	return sql, args
}

func scanAudit(row pgx.CollectableRow) (e revisions.AuditEvent, err error) {
	err = row.Scan(&e.ID, &e.At, &e.UserID, &e.UserName, &e.Project, &e.EndUser, &e.Rule, &e.Method, &e.Target,
		&e.Revision, &e.Status, &e.Error, &e.Remote, &e.Request)
	e.At = e.At.UTC()
	return e, err //nolint:wrapcheck // explained by collect
}
