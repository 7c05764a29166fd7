package store

import (
	"context"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"

	"purser/internal/revisions"
)

const (
	insertDeed = `INSERT INTO audit (site, at, user_id, user_name, project, end_user, rule, method, target, revision,
			status, error, remote, request)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, nullif($10::bigint, 0), $11, $12, $13, $14)`

	selectDeeds = `SELECT id, at, user_id, user_name, project, end_user, rule, method, target, coalesce(revision, 0),
			status, error, remote, request
		FROM audit WHERE site = $1`
)

var _ revisions.Audit = (*Store)(nil)

// recorder gathers deeds while others are being written, so that many at once cost one commit.
type recorder struct {
	writing sync.Mutex // held by whoever writes a page

	mutex sync.Mutex
	page  *page // that deeds can be added to; nil: whoever comes begins one
}

// page is what is written at once.
type page struct {
	deeds   []revisions.Deed
	written chan struct{} // closed when it is, or could not be
	err     error         // to be read after that
}

// Record implements revisions.Audit. Who begins a page writes it, once the one before is written.
func (s *Store) Record(ctx context.Context, deed revisions.Deed) error {
	p, isFirst := s.recorder.add(deed)
	if isFirst {
		s.writePage(ctx, p)
	}
	select {
	case <-p.written:
		return p.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Store) writePage(ctx context.Context, p *page) {
	s.recorder.writing.Lock()
	defer s.recorder.writing.Unlock()
	defer close(p.written)
	p.err = s.write(ctx, s.recorder.take(p))
}

func (r *recorder) add(deed revisions.Deed) (p *page, isFirst bool) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if isFirst = r.page == nil; isFirst {
		r.page = &page{written: make(chan struct{})}
	}
	r.page.deeds = append(r.page.deeds, deed)
	return r.page, isFirst
}

// take ends a page: nothing is added to it any more.
func (r *recorder) take(p *page) []revisions.Deed {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.page = nil
	return p.deeds
}

func (s *Store) write(ctx context.Context, deeds []revisions.Deed) error {
	return s.retry(ctx, func() error {
		batch := &pgx.Batch{}
		for _, d := range deeds {
			batch.Queue(insertDeed, s.site, d.At, d.UserID, d.UserName, d.Project, d.EndUser, d.Rule, d.Method, d.Target,
				d.Revision, d.Status, d.Error, d.Remote, d.Request)
		}
		return s.pool.SendBatch(ctx, batch).Close() // one transaction
	})
}

// Deeds implements revisions.Audit. It asks for one more than is wanted, which tells whether there are more.
func (s *Store) Deeds(ctx context.Context, q revisions.DeedQuery) (deeds []revisions.Deed, more bool, err error) {
	sql, args := s.deedsWanted(q)
	if deeds, err = collect(ctx, s, scanDeed, sql, args...); err != nil {
		return nil, false, err
	}
	if more = len(deeds) > q.Limit; more {
		deeds = deeds[:q.Limit]
	}
	return deeds, more, nil
}

// deedsWanted is the statement for a query. Conditions that are not asked for are not in it: plans are made without
// regard to parameters, and would have to allow for them.
func (s *Store) deedsWanted(q revisions.DeedQuery) (sql string, args []any) {
	sql, args = selectDeeds, []any{s.site}
	for _, condition := range []struct {
		wanted bool
		sql    string // with %[1]d for the number of its parameter
		value  any
	}{
		{q.Revision != 0, " AND revision = $%[1]d", q.Revision},
		{q.User != "", " AND (user_id = $%[1]d OR user_name = $%[1]d)", q.User},
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

func scanDeed(row pgx.CollectableRow) (d revisions.Deed, err error) {
	err = row.Scan(&d.ID, &d.At, &d.UserID, &d.UserName, &d.Project, &d.EndUser, &d.Rule, &d.Method, &d.Target,
		&d.Revision, &d.Status, &d.Error, &d.Remote, &d.Request)
	d.At = d.At.UTC()
	return d, err //nolint:wrapcheck // explained by collect
}
