package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"purser/internal/revisions"
	"purser/internal/sites"
)

// A site that is being deleted is marked in its row of sites, which its requests see within a second. Its other rows go
// in steps, each a short transaction of some rows, on whichever server comes first. They refer to nothing but
// themselves, so that a server which is killed leaves nothing to repair: the next one goes on.
//
// The row of sites goes last, in a transaction that has found all tables empty, and only when nobody can write to the
// site any more. Transactions that lock the row see the mark; those that write about a revision need its row; numbering
// needs that of feeds; entries of the audit and webhooks are only added to a site without a mark. What remains are
// transactions that had looked before it was there: they are waited for, and so are calls that knew the site from a
// cache.

// deletionGrace is the time from the mark of a site to the end of its row, at least: longer than caches know a site.
const deletionGrace = 2 * time.Second

// siteTables are the tables of a site but sites itself, in the order in which they are emptied, with the keys of their
// rows besides the site, and the bulk of their data if they have any. Each comes after those that refer to it, and
// after the rows without which nobody adds any.
var siteTables = []struct{ name, key, bulk string }{
	{"feeds", "", ""},
	{"webhooks", "id", ""},
	{"claims", "revision, validation", ""},
	{"waivers", "id", ""},
	{"results", "revision, name, id", ""},
	{"reported", "revision, name", ""},
	{"tags", "revision, tag", ""},
	{"revisions", "revision", ""},
	{"verdicts", "revision", ""},
	{"entries", "revision, entry", ""},
	{"violations", "since, document", ""},
	{"checks", "pair", ""},
	{"documents", "id", ""},
	{"archives", "content", "body"},
	{"contents", "digest", "body"},
	{"texts", "block", "body"},
	{"buckets", "bucket", ""},
	{"occupancies", "bucket, since", ""},
	{"outbox", "id", ""},
	{"events", "number", ""},
	{"audit", "id", ""},
	{"river_job", "id", ""},
}

// deletionOf returns the statement that deletes at most $2 rows of a site, $1, from a table. It selects how many, and
// the bytes of their bulk.
func deletionOf(table, key, bulk string) string {
	of, size := "site = $1", "0"
	if table == "river_job" {
		of = "args @> jsonb_build_object('site', $1::text)"
	}
	if bulk != "" {
		size = "pg_column_size(" + bulk + ")"
	}
	some := " AND $2 > 0" // of one row
	if key != "" {
		some = fmt.Sprintf(" AND (%[1]s) IN (SELECT %[1]s FROM %[2]s WHERE %[3]s LIMIT $2)", key, table, of)
	}
	return "WITH gone AS (DELETE FROM " + table + " WHERE " + of + some + " RETURNING " + size + " AS bytes) " +
		"SELECT count(*), coalesce(sum(bytes), 0)::bigint FROM gone"
}

// byKey makes plans that read the rows of a step by their keys, however many others a table has.
const byKey = "SELECT set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)"

// deletion says how much of a site was deleted so far, and what the entry of the audit will be.
type deletion struct {
	Audit     *auditRecord `json:"audit"`     // nil for none
	Documents int64        `json:"documents"` // live ones, when the site was marked
	Revisions int64        `json:"revisions"`
	Bytes     int64        `json:"bytes"` // of contents, texts and archives, as they are stored
}

// entry returns the entry of the audit for a deletion that ends. Its target has the fragment that no request has: how
// much it was, and since when.
func (d deletion) entry(now time.Time) revisions.AuditEvent {
	event := revisions.AuditEvent(*d.Audit)
	event.Target += "#" + url.Values{
		"documents": {strconv.FormatInt(d.Documents, 10)}, "revisions": {strconv.FormatInt(d.Revisions, 10)},
		"bytes": {strconv.FormatInt(d.Bytes, 10)}, "since": {event.At.UTC().Format(time.RFC3339)},
	}.Encode()
	event.At = now
	return event
}

// Bounds of a step: its rows, and the time after which the next one has fewer.
const (
	firstStep, mostOfStep = 100, 1000
	stepTime              = 20 * time.Millisecond
	// restAfter is how many times as long as a step others have the database for themselves.
	restAfter = 3
)

// siteDeletion is the deletion of a site by this server.
type siteDeletion struct {
	*Database

	site  string
	table int // of siteTables, that is emptied
	limit int // rows of the next step
}

// SweepDeleted deletes the rows of sites that are being deleted, until ctx ends. It returns how many sites are left:
// those that others may still write to, and those that another server deletes.
func (d *Database) SweepDeleted(ctx context.Context) (left int, err error) {
	var names []string
	if _, err := d.query(ctx, into(&names, pgx.RowTo[string]), stmt.MarkedSites, named{}); err != nil {
		return 0, err
	}
	var failed []error
	for _, name := range names {
		done, err := (&siteDeletion{Database: d, site: name, limit: firstStep}).run(ctx)
		if err != nil {
			failed = append(failed, fmt.Errorf("delete the site %s: %w", name, err))
		}
		if !done {
			left++
		}
	}
	return left, errors.Join(failed...)
}

// progress is what a step leaves.
type progress uint8

const (
	moreRows progress = iota // there is another step to do
	waiting                  // somebody may still write to the site, or another server deletes it
	ended                    // the row of sites is deleted
)

// run deletes the site; done is false if it has to be tried again later.
func (s *siteDeletion) run(ctx context.Context) (done bool, err error) {
	for {
		began := time.Now()
		table, left := s.table, moreRows
		err := s.withTx(ctx, s.deadlines.Write, func(ctx context.Context, tx pgx.Tx) (err error) {
			s.table = table // which an attempt that failed has moved
			left, err = s.step(ctx, tx)
			return err
		})
		if err != nil || left != moreRows {
			return left == ended, err
		}
		took := time.Since(began)
		if s.limit *= 2; took > stepTime {
			s.limit /= 4
		}
		s.limit = min(max(s.limit, 1), mostOfStep)
		select {
		case <-time.After(restAfter * took):
		case <-ctx.Done():
			return false, fmt.Errorf("wait for the next step: %w", context.Cause(ctx))
		}
	}
}

// step deletes some rows. If there are none in any table, it deletes the row of the site.
func (s *siteDeletion) step(ctx context.Context, tx pgx.Tx) (progress, error) {
	if err := s.checkSchema(ctx, tx); err != nil { // it may have tables that are not known here
		return waiting, err
	}
	if _, err := tx.Exec(ctx, byKey); err != nil {
		return waiting, err
	}
	var text []byte
	var ripe bool
	err := tx.QueryRow(ctx, stmt.LockMarked, named{"site": s.site, "grace": s.grace}).Scan(&text, &ripe)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return waiting, nil
	case err != nil:
		return waiting, err
	}
	var all deletion
	if err := json.Unmarshal(text, &all); err != nil {
		return waiting, fmt.Errorf("read what was deleted: %w", err)
	}
	last := s.table == len(siteTables)
	if last {
		if !ripe {
			return waiting, nil
		}
		s.table = 0
	}
	rows, err := s.deleteRows(ctx, tx, &all)
	switch {
	case err != nil:
		return waiting, err
	case rows == 0 && last:
		return ended, s.end(ctx, tx, all)
	case rows == 0:
		return moreRows, nil
	}
	_, err = tx.Exec(ctx, stmt.CountDeleted, named{"site": s.site, "audit": all})
	return moreRows, err
}

// deleteRows deletes the rows of a step, from s.table on, and adds them to all.
func (s *siteDeletion) deleteRows(ctx context.Context, tx pgx.Tx, all *deletion) (total int, err error) {
	for ; s.table < len(siteTables); s.table++ {
		table, limit := siteTables[s.table], s.limit-total
		var rows int
		var bytes int64
		sql := deletionOf(table.name, table.key, table.bulk)
		if err := tx.QueryRow(ctx, sql, s.site, limit).Scan(&rows, &bytes); err != nil {
			return total, fmt.Errorf("delete from %s: %w", table.name, err)
		}
		total, all.Bytes = total+rows, all.Bytes+bytes
		if table.name == "revisions" {
			all.Revisions += int64(rows)
		}
		if total >= s.limit {
			break
		}
	}
	return total, nil
}

// end deletes the row of the site and adds the entry to the audit.
func (s *siteDeletion) end(ctx context.Context, tx pgx.Tx, all deletion) error {
	batch := &pgx.Batch{}
	batch.Queue(stmt.DeleteSite, named{"site": s.site})
	if all.Audit != nil {
		batch.Queue(stmt.InsertAudit, auditEntry(sites.Default, all.entry(time.Now())))
	}
	return tx.SendBatch(ctx, batch).Close()
}

const (
	// deleteAgain is the time after which sites that are left are tried again.
	deleteAgain = 2 * time.Second
	// lookForDeleted is how often a server that is in use looks for sites that others have marked and left.
	lookForDeleted = 5 * time.Minute
)

// RunDeletions deletes sites that are marked, at the start those that were left, until ctx ends. It makes no queries
// while no site is being deleted and nobody uses the database.
func (d *Database) RunDeletions(ctx context.Context, log *slog.Logger) {
	for failing := false; ctx.Err() == nil; {
		left, err := d.SweepDeleted(ctx)
		if err != nil && !failing && ctx.Err() == nil {
			log.WarnContext(ctx, "a site that is being deleted remains for now", "error", err.Error())
		}
		failing = err != nil
		if left > 0 || failing {
			d.untilDeleted(ctx, deleteAgain)
			continue
		}
		for used := d.pool.Stat().AcquireCount(); ctx.Err() == nil; {
			if marked := d.untilDeleted(ctx, lookForDeleted); marked || d.pool.Stat().AcquireCount() != used {
				break
			}
		}
	}
}

// untilDeleted waits until a site is marked on this server, for a time or until ctx ends. It reports whether one is.
func (d *Database) untilDeleted(ctx context.Context, most time.Duration) (marked bool) {
	select {
	case <-ctx.Done():
	case <-d.deleted:
		return true
	case <-time.After(most):
	}
	return false
}
