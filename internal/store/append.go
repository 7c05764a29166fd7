package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"purser/internal/document"
	"purser/internal/revisions"
	"purser/internal/sites"
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
	try := func(limit time.Duration, starts bool) error {
		return s.retryTx(ctx, general, limit, func(ctx context.Context) (err error) {
			if stored, err = s.append(ctx, commit, starts); isOvertaken(err) {
				return fmt.Errorf("%w: %w", revisions.ErrStaleSnapshot, err)
			}
			return err
		})
	}
	limit := s.deadlines.Write
	if isLarge(commit.Diff) {
		limit = s.deadlines.Append
	}
	if err = try(limit, false); errors.Is(err, errUnchained) { // once for a site
		err = try(s.deadlines.Append, true)
	}
	if err == nil {
		s.announce()
		s.advance(stored)
		s.grown(ctx, len(stored.Diff.Added))
	}
	return stored, err
}

// isOvertaken reports whether an error says that another change came first. Two live documents with one identity, or
// two LayeringPolicies, come from two changes; all other keys have numbers that only a transaction with the site's
// counters gives.
func isOvertaken(err error) bool {
	return isConflict(err) || violates(err, "documents_live", "documents_live_singleton")
}

// errUnchained says that the newest revision has no chain value, because an earlier version of the server made it. The
// chain then starts with all its documents, which takes long for many.
var errUnchained = errors.New("the newest revision has no chain value")

// append appends a commit. If starts is set, the chain may start with it.
func (s *Store) append(ctx context.Context, commit revisions.Commit, starts bool) (revisions.Commit, error) {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return commit, err
	}
	defer conn.Release()
	commit.Revision.Stamp = revisions.NewStamp()
	a := appending{store: s, conn: conn.Conn(), commit: commit, starts: starts}
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
	commit revisions.Commit // with the numbers and the chain value that it gets
	starts bool             // the chain may start with it

	encrypted int // of the versions that it closes
	texts     numbered
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
	a.store.queueTexts(batch, a.texts, a.commit.Diff.Reread)
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

// begin starts the transaction, locks the site's counters and checks that they are those of the commit's snapshot. It
// ends the deleted or replaced versions before their successors are added, and returns the contents to add that are
// already stored.
func (a *appending) begin(ctx context.Context) (map[document.Digest]revisions.Content, error) {
	name, diff := a.store.site, a.commit.Diff
	var head revisions.Head
	var version int
	var archived bool
	known := map[document.Digest]revisions.Content{}
	batch := &pgx.Batch{}
	batch.Queue("BEGIN")
	if isLarge(diff) || a.starts {
		batch.Queue(noStatementTimeout)
	}
	batch.Queue(stmt.LockBase, named{"site": name, "revision": a.commit.Base.Revision}).QueryRow(func(row pgx.Row) error {
		return row.Scan(append(headFields(&head), new(revisions.Stamp), &version, &archived)...)
	})
	var held []revisions.HeldResult
	if len(a.commit.Holds) > 0 {
		arguments := a.store.heldArguments(a.commit.Holds, a.commit.Revision.AuthorID)
		batch.Queue(stmt.HeldResults, arguments).Query(heldInto(&held))
	}
	promoted := queuePromotion(batch, a.commit.Promotion)
	var previous document.Digest
	batch.Queue(stmt.ChainOf, named{"site": name, "revision": a.commit.Base.Revision}).Query(func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, []any{(*nullDigest)(&previous)}, func() error { return nil })
		return err
	})
	closed := a.queueClose(batch)
	if len(diff.Added) > 0 {
		digests := column(diff.Added, func(doc *revisions.Stored) nullDigest { return nullDigest(doc.Digest) })
		batch.Queue(stmt.KnownContents, named{"site": name, "digests": digests}).Query(func(rows pgx.Rows) error {
			return scanContents(rows, known)
		})
	}
	if err := a.conn.SendBatch(ctx, batch).Close(); err != nil {
		return nil, err
	}
	if err := a.store.checkVersion(version); err != nil {
		return nil, err
	}
	if archived {
		return nil, sites.Archived(name)
	}
	if !promoted() || head != a.commit.Base || closed.all != len(diff.Removed) || !sameHeld(held, a.commit.Held) {
		return nil, revisions.ErrStaleSnapshot
	}
	a.encrypted, a.texts = closed.encrypted, numberTexts(a.commit.Texts, head.Texts)
	return known, a.chain(ctx, previous)
}

// chain gives the revision its chain value after that of the revision before, which is zero if there is none.
func (a *appending) chain(ctx context.Context, previous document.Digest) (err error) {
	if base := a.commit.Base.Revision; base > 0 && previous.IsZero() {
		if !a.starts {
			return errUnchained
		}
		if previous, err = a.store.versionsDigest(ctx, a.conn, base); err != nil {
			return err
		}
	}
	diff := a.commit.Diff
	a.commit.Revision = a.commit.Revision.Chained(revisions.ChainParts{
		Previous: previous, Added: revisions.DigestOfAll(diff.Added), Removed: revisions.DigestOfAll(diff.Removed),
	})
	return nil
}

// closed counts the versions that were closed.
type closed struct{ all, encrypted int }

// queueClose ends the versions that the commit removes; they are counted once the batch was sent.
func (a *appending) queueClose(batch *pgx.Batch) *closed {
	removed, base, site := a.commit.Diff.Removed, a.commit.Base, a.store.site
	until := base.Revision + 1
	ids := column(removed, func(doc *revisions.Stored) int64 { return doc.ID })
	forks := column(removed, func(doc *revisions.Stored) int64 { return fork(doc.Revision, until) })
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
		batch.Queue(stmt.CloseDocuments, named{
			"site": site, "until": until, "ids": ids, "forks": forks, "stamp": base.Stamp,
		}).Query(count)
		return total
	}
	for i := range removed {
		batch.Queue(stmt.CloseDocument, named{
			"site": site, "until": until, "id": ids[i], "fork": forks[i], "stamp": base.Stamp,
		}).Query(count)
	}
	return total
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
		batch.Queue(stmt.CarryResults, named{
			"site": s.site, "revision": commit.Revision.ID, "from": from,
			"voted": orEmpty(slices.Collect(maps.Keys(commit.Diff.Carried.Votes))),
		})
		s.queueCarriedWaivers(batch, commit.Revision.ID, from)
	}
	s.queueHeld(batch, commit)
	if commit.Audit != nil {
		event := *commit.Audit
		event.Revision = commit.Revision.ID
		s.queueAudit(batch, event)
	}
	s.queueEvent(batch, commit.Event(a.encrypted))
	added := len(commit.Diff.Added)
	batch.Queue(stmt.AdvanceHead, named{
		"site": s.site, "added": added, "more": added - len(commit.Diff.Removed), "stamp": commit.Revision.Stamp,
		"sources": sourcesOf(commit.Diff.Upstreams),
	})
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
	batch.Queue(stmt.InsertRevision, named{
		"site": s.site, "revision": r.ID, "created_at": r.CreatedAt, "buckets": orEmpty(r.Buckets), "entries": r.Entries,
		"outside": commit.Outside, "kind": r.Kind.String(), "author": r.User, "message": r.Message,
		"source": r.Source, "source_commit": zeronull.Text(r.Source.Commit()),
		"origin": zeronull.Int8(r.Origin), "client_versions": nullDigest(r.ClientVersions), "stamp": r.Stamp,
		"succeeded": succeeded, "secret_fails": r.SecretFails, "secret_outside": r.SecretOutside,
		"inapplicable": r.Inapplicable, "author_id": r.AuthorID, "sources": sourcesOf(r.Upstreams),
		"chain": nullDigest(r.Chain), "chain_previous": nullDigest(r.ChainParts.Previous),
		"chain_removed": nullDigest(r.ChainParts.Removed),
	})
	if len(r.Buckets) > 0 {
		batch.Queue(stmt.ChangeBuckets, named{
			"site": s.site, "buckets": r.Buckets, "changed": r.ID, "stamp": r.Stamp,
		})
	}
	if len(diff.Opened) > 0 {
		batch.Queue(stmt.OpenBuckets, named{"site": s.site, "buckets": diff.Opened, "since": r.ID})
	}
	if len(diff.Emptied) > 0 {
		batch.Queue(stmt.EmptyBuckets, named{"site": s.site, "buckets": diff.Emptied, "until": r.ID})
	}
}
