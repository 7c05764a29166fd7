package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"purser/internal/revisions"
)

// sourcesOf returns upstreams as an argument for a column, whose name is that in the API; NULL for none.
func sourcesOf(u revisions.Upstreams) any {
	if len(u) == 0 {
		return nil
	}
	return u
}

func scanUpstreams(row pgx.CollectableRow) (u revisions.Upstreams, err error) {
	err = row.Scan(&u)
	return u, err
}

// Facts implements queries.Store.
func (s *Store) Facts(ctx context.Context, revision int64) (
	stamp revisions.Stamp, facts revisions.FactsMark, err error,
) {
	_, err = collect(ctx, s.Database, func(row pgx.CollectableRow) (none struct{}, err error) {
		stamp, facts, _, err = scanFacts(row)
		return none, err
	}, stmt.FactsOf, named{"site": s.site, "revision": revision})
	return stamp, facts, err
}

// Upstreams implements queries.Store.
func (s *Store) Upstreams(ctx context.Context) (revisions.Upstreams, error) {
	return collectFirst(ctx, s.Database, scanUpstreams, stmt.UpstreamsNow, named{"site": s.site})
}

// Behind implements queries.Store.
func (s *Store) Behind(ctx context.Context, of revisions.Upstream, most int) (n int, known bool, err error) {
	stamp, err := revisions.ParseStamp(of.Stamp)
	if err != nil {
		return 0, false, err
	}
	found, err := collectFirst(ctx, s.Database, pgx.RowTo[*int], stmt.BehindOf, named{
		"site": s.site, "revision": of.Revision, "stamp": stamp, "bucket": of.Bucket, "most": most,
	})
	if found == nil {
		return 0, false, err
	}
	return *found, true, err
}

func scanFacts(row pgx.Row) (stamp revisions.Stamp, facts revisions.FactsMark, now time.Time, err error) {
	err = row.Scan(&stamp, &facts.Results, &facts.Waivers, &facts.Ended, &now)
	return stamp, facts, now, err
}

// queuePromotion checks in a batch whether a promotion holds; holds reports it once the batch was sent. The statement
// reads one site, as all do, which is not that of the transaction.
func queuePromotion(batch *pgx.Batch, p *revisions.Promotion) (holds func() bool) {
	if p == nil {
		return func() bool { return true }
	}
	held := false
	batch.Queue(stmt.FactsOf, named{"site": p.Site, "revision": p.Revision}).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			stamp, facts, now, err := scanFacts(rows)
			if err != nil {
				return err
			}
			held = stamp == p.Stamp && facts == p.Facts && (p.Until.IsZero() || now.Before(p.Until))
		}
		return rows.Err()
	})
	return func() bool { return held }
}
