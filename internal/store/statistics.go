package store

import (
	"context"
	"sync"
	"time"
)

// statistics count documents until the database has to look anew how many rows its tables have.
//
// Sessions plan a statement once, for the rows that the tables have by their statistics, and again when these change.
// Autovacuum changes them within a minute or two, and from then on as tables grow. Until it does, the plans of a new
// database, or of one whose tables were emptied, are for next to no rows, and large changes make them slow.
type statistics struct {
	sync.Mutex

	added int       // documents since the database has looked
	last  time.Time // when that was
}

const (
	manyAdded    = 200 // documents for which plans for an empty table may be slow
	analyzeEvery = 10 * time.Minute
)

// add counts documents. It returns all that were added if there are so many that the statistics may be of empty tables,
// else 0, and does so once in a while.
func (s *statistics) add(documents int, now time.Time) (added int) {
	s.Lock()
	defer s.Unlock()
	if s.added += documents; s.added < manyAdded || !s.last.IsZero() && now.Sub(s.last) < analyzeEvery {
		return 0
	}
	added, s.added, s.last = s.added, 0, now
	return added
}

// unused takes back the last time, because the statistics were not of empty tables.
func (s *statistics) unused() {
	s.Lock()
	defer s.Unlock()
	s.last = time.Time{}
}

// grown counts documents that were added to any site. If the database knows of fewer than were added lately, it looks
// anew how many rows its tables have, every ten minutes at most. Requests do not wait for that, and errors are ignored:
// autovacuum does it later.
func (d *Database) grown(ctx context.Context, documents int) {
	added := d.statistics.add(documents, time.Now())
	if added == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.deadlines.Append)
	go func() {
		defer cancel()
		_ = d.withConn(ctx, general, func(ctx context.Context) error {
			analyzed, err := d.analyze(ctx, int64(added))
			if !analyzed {
				d.statistics.unused()
			}
			return err
		})
	}()
}

// analyze updates the statistics if the database knows of fewer documents than were added.
func (d *Database) analyze(ctx context.Context, added int64) (analyzed bool, err error) {
	var known float64
	if err := d.pool.QueryRow(ctx, stmt.KnownDocuments, named{}).Scan(&known); err != nil || known >= float64(added) {
		return false, err
	}
	_, err = d.pool.Exec(ctx, analyzeTables)
	return true, err
}

// analyzeTables updates the statistics of the large tables.
const analyzeTables = "ANALYZE documents, contents, texts, buckets, violations, entries, checks, reported, " +
	"results, revisions"
