package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// InForce implements revisions.Store.
func (s *Store) InForce(ctx context.Context, revision int64) (revisions.Stamp, []validations.Policy, error) {
	evidence, err := s.Evidence(ctx, []int64{revision})
	if err != nil || len(evidence.Revisions) == 0 {
		return 0, nil, err
	}
	about := evidence.Revisions[0]
	return about.Stamp, revisions.PoliciesOf(about, evidence.Policies), nil
}

// Waive implements revisions.Store.
func (s *Store) Waive(ctx context.Context, about revisions.About, wanted validations.WantedWaiver) (
	made revisions.Waiver, err error,
) {
	made = revisions.Waiver{Revision: about.Revision, Waiver: validations.Waiver{
		Validation: wanted.Validation, By: about.Caller.Name, Reason: wanted.Reason,
	}}
	var fits bool
	err = s.retryTx(ctx, general, s.deadlines.Write, func(ctx context.Context) error {
		return s.pool.QueryRow(ctx, stmt.AddWaiver, named{
			"site": s.site, "revision": about.Revision, "stamps": about.Stamps, "validation": wanted.Validation,
			"reason": wanted.Reason, "user_id": about.Caller.ID, "user_name": about.Caller.Name,
			"until": zeronull.Timestamptz(wanted.Until), "lasts": wanted.Lasts, "longest": validations.MaxWaiver,
			"most": revisions.MaxWaivers, "audit": (*auditRecord)(about.Audit),
		}).Scan(&made.CreatedAt, &made.Until, &fits, (*zeronull.Int8)(&made.ID))
	})
	switch {
	case errors.Is(err, pgx.ErrNoRows), HasCode(err, foreignKeyViolation): // the revision does not exist
		return revisions.Waiver{}, nil
	case err != nil:
		return revisions.Waiver{}, err
	case made.ID > 0:
		s.announce()
		return made, nil
	case !fits:
		return revisions.Waiver{}, revisions.TooManyWaivers(about.Revision)
	}
	lasts := made.Until.Sub(made.CreatedAt)
	return revisions.Waiver{}, validations.CheckLasting(lasts, lasts > 0)
}

// EndWaiver implements revisions.Store.
func (s *Store) EndWaiver(ctx context.Context, about revisions.About, id int64) (exists, has, ended bool, err error) {
	err = s.retryTx(ctx, general, s.deadlines.Write, func(ctx context.Context) error {
		return s.pool.QueryRow(ctx, stmt.EndWaiver, named{
			"site": s.site, "revision": about.Revision, "stamps": about.Stamps, "id": id, "ended_by": about.Caller.Name,
			"audit": (*auditRecord)(about.Audit),
		}).Scan(&has, &ended)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return false, false, false, nil
	}
	if ended {
		s.announce()
	}
	return err == nil, has, ended, err
}

// WaiversOf implements queries.Store.
func (s *Store) WaiversOf(ctx context.Context, revision int64) (queries.Waivers, error) {
	return s.waivers(ctx, stmt.WaiversOf, named{"site": s.site, "revision": revision})
}

// Waivers implements queries.Store. It asks for one more than is wanted, which shows whether there are more.
func (s *Store) Waivers(ctx context.Context, page queries.Page, active bool) (found queries.Waivers, err error) {
	sql := stmt.AllWaivers
	if active {
		sql = stmt.ActiveWaivers
	}
	found, err = s.waivers(ctx, sql, named{"site": s.site, "offset": page.Offset, "limit": page.Limit + 1})
	if found.More = len(found.Waivers) > page.Limit; found.More {
		found.Waivers = found.Waivers[:page.Limit]
	}
	return found, err
}

// CountWaivers implements queries.Store.
func (s *Store) CountWaivers(ctx context.Context) (int64, error) {
	return collectFirst(ctx, s.Database, pgx.RowTo[int64], stmt.CountWaivers, named{"site": s.site})
}

// waivers returns the waivers that a statement selects, with their site if that is a further column.
func (d *Database) waivers(ctx context.Context, sql string, args named) (found queries.Waivers, err error) {
	found.Waivers, err = collect(ctx, d, func(row pgx.CollectableRow) (w revisions.Waiver, err error) {
		into := []any{
			&found.Now, &w.ID, &w.Revision, &w.Validation, &w.By, &w.Reason, &w.CreatedAt, &w.Until,
			(*zeronull.Timestamptz)(&w.EndedAt), &w.EndedBy, &w.CarriedFrom, &w.Site,
		}
		err = row.Scan(into[:len(row.FieldDescriptions())]...)
		return w, err
	}, sql, args)
	return found, err
}

// queueCarriedWaivers copies the active waivers of the revision that a rollback restores.
func (s *Store) queueCarriedWaivers(batch *pgx.Batch, revision, from int64) {
	if !s.compat {
		batch.Queue(stmt.CarryWaivers, named{"site": s.site, "revision": revision, "from": from})
	}
}
