package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"purser/internal/queries"
	"purser/internal/revisions"
)

// selectAudit selects the fields of a revisions.AuditEvent, in their order.
const selectAudit = `SELECT id, at, user_id, user_name, project, end_user, rule, method, target, coalesce(revision, 0),
		status, error, remote, request
	FROM audit WHERE site = $1`

// Record implements queries.Audit.
func (s *Store) Record(ctx context.Context, event revisions.AuditEvent) error {
	_, err := s.audits.do(ctx, event, 0, s.recordTogether)
	return err
}

func (s *Store) recordTogether(ctx context.Context, events []revisions.AuditEvent) ([]struct{}, error) {
	err := s.retryTx(ctx, reserved, s.deadlines.Write, func(ctx context.Context) error {
		batch := &pgx.Batch{}
		for _, event := range events {
			s.queueAudit(batch, event)
		}
		return s.pool.SendBatch(ctx, batch).Close() // one transaction
	})
	return make([]struct{}, len(events)), err
}

// queueAudit adds an entry to the audit.
func (s *Store) queueAudit(batch *pgx.Batch, e revisions.AuditEvent) {
	batch.Queue(stmt.InsertAudit, auditEntry(s.site, e))
}

// auditEntry returns the arguments of InsertAudit.
func auditEntry(site string, e revisions.AuditEvent) named {
	return named{
		"site": site, "at": e.At, "user_id": e.UserID, "user_name": e.UserName, "project": e.Project,
		"end_user": e.EndUser, "rule": e.Rule, "method": e.Method, "target": e.Target, "revision": e.Revision,
		"status": e.Status, "error": e.Error, "remote": e.Remote, "request": e.Request,
	}
}

// AuditEvents implements queries.Audit. It asks for one more than is wanted, which shows whether there are more.
func (s *Store) AuditEvents(ctx context.Context, q queries.AuditQuery) (
	events []revisions.AuditEvent, more bool, err error,
) {
	sql, args := s.auditOf(q)
	if events, err = collect(ctx, s.Database, pgx.RowToStructByPos[revisions.AuditEvent], sql, args...); err != nil {
		return nil, false, err
	}
	if more = len(events) > q.Limit; more {
		events = events[:q.Limit]
	}
	return events, more, nil
}

// auditOf returns the statement for a query. Conditions that are not asked for are not in it: plans are made without
// regard to parameters, and would have to allow for them.
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
