package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"purser/internal/revisions"
)

const (
	insertDeed = `INSERT INTO audit (site, at, user_id, user_name, project, end_user, rule, method, target, revision,
			status, error, remote, request)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, nullif($10::bigint, 0), $11, $12, $13, $14)`

	selectDeeds = `SELECT id, at, user_id, user_name, project, end_user, rule, method, target, coalesce(revision, 0),
			status, error, remote, request
		FROM audit
		WHERE site = $1 AND ($2::bigint = 0 OR revision = $2) AND ($3 = '' OR user_id = $3 OR user_name = $3)
			AND ($4::timestamptz IS NULL OR at >= $4) AND ($5::timestamptz IS NULL OR at < $5)
		ORDER BY id DESC OFFSET $6 LIMIT $7`
)

var _ revisions.Audit = (*Store)(nil)

// Record implements revisions.Audit.
func (s *Store) Record(ctx context.Context, d revisions.Deed) error {
	return s.retry(ctx, func() error {
		_, err := s.pool.Exec(ctx, insertDeed, s.site, d.At, d.UserID, d.UserName, d.Project, d.EndUser, d.Rule, d.Method,
			d.Target, d.Revision, d.Status, d.Error, d.Remote, d.Request)
		return err //nolint:wrapcheck // explained by the caller
	})
}

// Deeds implements revisions.Audit. It asks for one more than is wanted, which tells whether there are more.
func (s *Store) Deeds(ctx context.Context, q revisions.DeedQuery) (deeds []revisions.Deed, more bool, err error) {
	deeds, err = collect(ctx, s, scanDeed, selectDeeds, s.site, q.Revision, q.User, given(q.Since), given(q.Until),
		q.Offset, q.Limit+1)
	if more = len(deeds) > q.Limit; more {
		deeds = deeds[:q.Limit]
	}
	return deeds, more, err
}

func scanDeed(row pgx.CollectableRow) (d revisions.Deed, err error) {
	err = row.Scan(&d.ID, &d.At, &d.UserID, &d.UserName, &d.Project, &d.EndUser, &d.Rule, &d.Method, &d.Target,
		&d.Revision, &d.Status, &d.Error, &d.Remote, &d.Request)
	d.At = d.At.UTC()
	return d, err //nolint:wrapcheck // explained by collect
}

// given is null for a time that was not given.
func given(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
