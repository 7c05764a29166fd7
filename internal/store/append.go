package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"purser/internal/document"
	"purser/internal/revisions"
)

const (
	// closeDocument ends a version if the head has the expected stamp ($5). The condition that it is live is written so
	// that no index over live versions matches, which a plan made for few versions might use.
	closeDocument = `UPDATE documents SET until = $2, fork = $4 WHERE site = $1 AND id = $3 AND coalesce(until, 0) = 0
		AND (SELECT s.stamp FROM sites s WHERE s.site = $1) = $5::bigint
		RETURNING 1, encrypted::integer`

	// closeDocuments is closeDocument for many. It counts them.
	closeDocuments = `WITH closed AS (
			UPDATE documents d SET until = $2, fork = n.fork
			FROM unnest($3::bigint[], $4::bigint[]) AS n (id, fork)
			WHERE d.site = $1 AND d.id = n.id AND coalesce(d.until, 0) = 0
				AND (SELECT s.stamp FROM sites s WHERE s.site = $1) = $5::bigint
			RETURNING d.encrypted)
		SELECT count(*), count(*) FILTER (WHERE encrypted) FROM closed`

	insertRevision = `INSERT INTO revisions (site, revision, created_at, buckets, entries, outside, kind, author, message,
			origin, client_versions, stamp, succeeded, secret_fails, secret_outside)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`

	changeBuckets = `INSERT INTO buckets (site, bucket, changed, stamp) SELECT $1, b, $3, $4 FROM unnest($2::text[]) b
		ON CONFLICT (site, bucket) DO UPDATE SET changed = excluded.changed, stamp = excluded.stamp`

	openBuckets = `INSERT INTO occupancies (site, bucket, since) SELECT $1, b, $3 FROM unnest($2::text[]) b`

	emptyBuckets = `UPDATE occupancies SET until = $3 WHERE site = $1 AND bucket = ANY($2) AND until IS NULL`

	// advanceHead also sets settled, from which earlier versions of the server see that they must plan again.
	advanceHead = `UPDATE sites SET head = head + 1, documents = documents + $2, live = live + $3, settled = head + 1,
		stamp = $4 WHERE site = $1`
)

// maxInserted is the number of documents up to which a batch of inserts is faster than COPY, which takes two round
// trips for each table.
const maxInserted = 16

// many is the number of documents above which a change counts as large.
const many = 4000

// isLarge reports whether a change may take a long time in the database.
func isLarge(diff revisions.Diff) bool { return len(diff.Added)+len(diff.Removed) > many }

// Append implements revisions.Store. It takes two round trips, and two for each table that many rows are copied into:
//
//	begin, lock the site's counters, close versions, find known contents ─► (COPY) ─► write the rest, commit
func (s *Store) Append(ctx context.Context, commit revisions.Commit) (stored revisions.Commit, err error) {
	limit := s.deadlines.Write
	if isLarge(commit.Diff) {
		limit = s.deadlines.Append
	}
	err = s.retryTx(ctx, general, limit, func(ctx context.Context) (err error) {
		if stored, err = s.append(ctx, commit); isOvertaken(err) {
			return fmt.Errorf("%w: %w", revisions.ErrStaleSnapshot, err)
		}
		return err
	})
	if err == nil {
		s.wake()
		s.advance(stored)
		if outgrows(stored) {
			go s.analyze(ctx, "documents, contents, buckets, violations")
		}
	}
	return stored, err
}

// isOvertaken reports whether an error says that another change came first. Two live documents with one identity, or
// two LayeringPolicies, come from two changes; all other keys have numbers that only a transaction with the site's
// counters gives.
func isOvertaken(err error) bool {
	return isConflict(err) || violates(err, "documents_live", "documents_live_singleton")
}

func (s *Store) append(ctx context.Context, commit revisions.Commit) (revisions.Commit, error) {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return commit, err
	}
	defer conn.Release()
	commit.Revision.Stamp = revisions.NewStamp()
	a := appending{store: s, conn: conn.Conn(), commit: commit}
	if err := a.run(ctx); err != nil {
		a.rollback(ctx)
		return a.commit, err
	}
	return a.commit, nil
}

// appending is one transaction that appends a commit.
type appending struct {
	store  *Store
	conn   *pgx.Conn
	commit revisions.Commit // with the numbers that it gets

	encrypted int // of the versions that it closes
}

func (a *appending) run(ctx context.Context) error {
	known, err := a.begin(ctx)
	if err != nil {
		return err
	}
	if err := a.checkArchives(known); err != nil {
		return err
	}
	batch := &pgx.Batch{}
	recorded, err := a.addContents(ctx, batch, known)
	if err != nil {
		return err
	}
	a.queueArchives(batch)
	if err := a.addDocuments(ctx, batch); err != nil {
		return err
	}
	if err := a.conclude(batch, recorded); err != nil {
		return err
	}
	return uncancelled(a.conn, func() error { return a.conn.SendBatch(ctx, batch).Close() })
}

// rollback rolls back a failed transaction. If that fails, it closes the connection.
func (a *appending) rollback(ctx context.Context) {
	if a.conn.IsClosed() || a.conn.PgConn().TxStatus() == 'I' {
		return
	}
	ctx = context.WithoutCancel(ctx)
	ctx, cancel := context.WithTimeout(ctx, a.store.deadlines.Ready)
	defer cancel()
	if _, err := a.conn.Exec(ctx, "ROLLBACK"); err != nil {
		_ = a.conn.Close(ctx)
	}
}

// begin starts the transaction, locks the site's counters and checks that they are those of the commit's snapshot. It ends
// the deleted or replaced versions before their successors are added, and returns the contents to add that are
// already stored.
func (a *appending) begin(ctx context.Context) (map[document.Digest]revisions.Content, error) {
	name, diff := a.store.site, a.commit.Diff
	var head revisions.Head
	var version int
	known := map[document.Digest]revisions.Content{}
	batch := &pgx.Batch{}
	batch.Queue("BEGIN")
	if isLarge(diff) {
		batch.Queue(noStatementTimeout)
	}
	batch.Queue(lockBase, name, a.commit.Base.Revision).QueryRow(func(row pgx.Row) error {
		return row.Scan(append(headFields(&head), new(revisions.Stamp), &version)...)
	})
	closed := a.queueClose(batch)
	if len(diff.Added) > 0 {
		batch.Queue(knownContents, name, digestArray(digestsOf(diff.Added))).Query(func(rows pgx.Rows) error {
			return scanContents(rows, known)
		})
	}
	if err := a.conn.SendBatch(ctx, batch).Close(); err != nil {
		return nil, err
	}
	if err := a.store.checkVersion(version); err != nil {
		return nil, err
	}
	if head != a.commit.Base || closed.all != len(diff.Removed) {
		return nil, revisions.ErrStaleSnapshot
	}
	a.encrypted = closed.encrypted
	return known, nil
}

// closed counts the versions that were closed.
type closed struct{ all, encrypted int }

// queueClose ends the versions that the commit removes; they are counted once the batch was sent.
func (a *appending) queueClose(batch *pgx.Batch) *closed {
	removed, base, name := a.commit.Diff.Removed, a.commit.Base, a.store.site
	ids, forks := make([]int64, len(removed)), make([]int64, len(removed))
	for i, doc := range removed {
		ids[i], forks[i] = doc.ID, fork(doc.Revision, base.Revision+1)
	}
	total := &closed{}
	count := func(rows pgx.Rows) error {
		var some closed
		_, err := pgx.ForEachRow(rows, []any{&some.all, &some.encrypted}, func() error {
			total.all, total.encrypted = total.all+some.all, total.encrypted+some.encrypted
			return nil
		})
		return err
	}
	if len(removed) > maxInserted {
		batch.Queue(closeDocuments, name, base.Revision+1, ids, forks, base.Stamp).Query(count)
		return total
	}
	for i := range removed {
		batch.Queue(closeDocument, name, base.Revision+1, ids[i], forks[i], base.Stamp).Query(count)
	}
	return total
}

func digestsOf(documents []*revisions.Stored) []document.Digest {
	digests := make([]document.Digest, len(documents))
	for i, doc := range documents {
		digests[i] = doc.Digest
	}
	return digests
}

// conclude sends the remaining small statements, updates the site's counters and commits.
func (a *appending) conclude(batch *pgx.Batch, recorded map[revisions.Pair]bool) error {
	s, commit := a.store, a.commit
	if err := s.queueChecks(batch, commit.Checks, recorded); err != nil {
		return err
	}
	if len(commit.Failures) > 0 {
		if err := s.queueFailures(batch, commit); err != nil {
			return err
		}
	}
	s.queueViolations(batch, commit)
	succeeded, results := splitSuccesses(commit.Results)
	s.queueRevision(batch, commit, succeeded)
	for _, result := range results {
		queueResult(batch, s.site, commit.Revision.ID, result)
	}
	if from := commit.Diff.CarriedFrom; from > 0 {
		queueCarried(batch, s.site, commit.Revision.ID, from)
	}
	if commit.Audit != nil {
		event := *commit.Audit
		event.Revision = commit.Revision.ID
		s.queueAudit(batch, event)
	}
	s.queueEvent(batch, commit.Event(a.encrypted))
	added := len(commit.Diff.Added)
	batch.Queue(advanceHead, s.site, added, added-len(commit.Diff.Removed), commit.Revision.Stamp)
	batch.Queue("COMMIT").Exec(func(tag pgconn.CommandTag) error {
		if tag.String() != "COMMIT" {
			return errNotCommitted
		}
		return nil
	})
	return nil
}

var errNotCommitted = errors.New("the transaction was rolled back")

func (s *Store) queueRevision(batch *pgx.Batch, commit revisions.Commit, succeeded int16) {
	r, diff := commit.Revision, commit.Diff
	var origin *int64
	if r.Kind == revisions.Rollback {
		origin = &r.Origin
	}
	batch.Queue(insertRevision, s.site, r.ID, r.CreatedAt, orEmpty(r.Buckets), r.Entries, commit.Outside,
		r.Kind.String(), r.User, r.Message, origin, orNull(r.ClientVersions), r.Stamp, succeeded, r.SecretFails,
		r.SecretOutside)
	if len(r.Buckets) > 0 {
		batch.Queue(changeBuckets, s.site, r.Buckets, r.ID, r.Stamp)
	}
	if len(diff.Opened) > 0 {
		batch.Queue(openBuckets, s.site, diff.Opened, r.ID)
	}
	if len(diff.Emptied) > 0 {
		batch.Queue(emptyBuckets, s.site, diff.Emptied, r.ID)
	}
}

// orEmpty returns an empty list for nil, which would be NULL in the database.
func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// manyAdded is the number of documents above which a change may be followed by analyze.
const manyAdded = 200

// outgrows reports whether a change makes the site so much larger that plans which were made for its former size may
// read all of it.
func outgrows(commit revisions.Commit) bool {
	return len(commit.Diff.Added) >= max(manyAdded, commit.Base.Live)
}
