package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"purser/internal/document"
	"purser/internal/revisions"
	"purser/internal/validations"
)

const (
	knownContents = `SELECT digest FROM contents WHERE site = $1 AND digest = ANY($2)`

	closeDocuments = `UPDATE documents d SET until = $2, fork = n.fork
		FROM unnest($3::bigint[], $4::bigint[]) AS n (id, fork)
		WHERE d.site = $1 AND d.id = n.id AND d.until IS NULL`

	insertChecks = `INSERT INTO checks (site, pair, findings)
		SELECT $1, * FROM unnest($2::bytea[], $3::text[]) ON CONFLICT DO NOTHING`

	insertFailures = `INSERT INTO failures (site, revision, entry, document, rule, client_versions, notes)
		SELECT $1, $2, * FROM unnest($3::integer[], $4::bigint[], $5::bytea[], $6::bytea[], $7::text[])`

	insertRevision = `INSERT INTO revisions (site, revision, created_at, buckets, entries, kind, author, message, origin,
			client_versions)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`

	changeBuckets = `INSERT INTO buckets (site, bucket, changed) SELECT $1, b, $3 FROM unnest($2::text[]) b
		ON CONFLICT (site, bucket) DO UPDATE SET changed = excluded.changed`

	openBuckets = `INSERT INTO occupancies (site, bucket, since) SELECT $1, b, $3 FROM unnest($2::text[]) b`

	emptyBuckets = `UPDATE occupancies SET until = $3 WHERE site = $1 AND bucket = ANY($2) AND until IS NULL`

	// lockHead comes first, so that no two transactions that change the site wait for each other's rows.
	lockHead = `SELECT true FROM sites WHERE site = $1 AND epoch = $2 AND prunes = $3 AND head = $4 FOR UPDATE`

	advanceHead = `UPDATE sites SET head = head + 1, documents = documents + $2, live = live + $3 WHERE site = $1`
)

// Append implements revisions.Store. Large parts go by COPY, the others in two batches; the site's counter is held from
// the beginning and moves last.
func (s *Store) Append(ctx context.Context, change revisions.Change) error {
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		known, err := s.begin(ctx, tx, change)
		if err != nil {
			return err
		}
		recorded, err := s.copyContents(ctx, tx, change, known)
		if err != nil {
			return err
		}
		if err := s.copyDocuments(ctx, tx, change); err != nil {
			return err
		}
		if err := s.conclude(ctx, tx, change, recorded); err != nil || !outgrows(change) {
			return err
		}
		_, err = tx.Exec(ctx, `ANALYZE documents, contents, buckets`)
		return err //nolint:wrapcheck // explained below
	})
	if hasCode(err, uniqueViolation, serializationFailure, deadlockDetected) {
		return fmt.Errorf("%w: %w", revisions.ErrMoved, err)
	}
	return s.dbFault(err)
}

// outgrows tells whether a change makes the site so much larger that plans which were made for its former size may read
// all of it. Postgres would notice by itself, but only after a minute.
func outgrows(change revisions.Change) bool {
	const many = 4000
	return len(change.Added) >= many && len(change.Added) >= change.Against.Live
}

// begin makes sure that the site still stands where the change was planned, ends the versions that are deleted or
// replaced, before their successors come, and finds which of the contents to add are there already.
func (s *Store) begin(ctx context.Context, tx pgx.Tx, change revisions.Change) (map[document.Digest]bool, error) {
	known := map[document.Digest]bool{}
	against := change.Against
	batch := &pgx.Batch{}
	batch.Queue(lockHead, s.site, against.Epoch, against.Prunes, against.Revision).Query(func(rows pgx.Rows) error {
		found, err := pgx.CollectRows(rows, pgx.RowTo[bool])
		if err == nil && len(found) == 0 {
			err = revisions.ErrMoved
		}
		return err
	})
	if len(change.Removed) > 0 {
		ids, forks := make([]int64, len(change.Removed)), make([]int64, len(change.Removed))
		for i, doc := range change.Removed {
			ids[i], forks[i] = doc.ID, fork(doc.Revision, change.Revision.ID)
		}
		batch.Queue(closeDocuments, s.site, change.Revision.ID, ids, forks)
	}
	if len(change.Added) > 0 {
		digests := make([]document.Digest, len(change.Added))
		for i, doc := range change.Added {
			digests[i] = doc.Digest
		}
		batch.Queue(knownContents, s.site, byteas(digests)).Query(func(rows pgx.Rows) error {
			var digest []byte
			_, err := pgx.ForEachRow(rows, []any{&digest}, func() error {
				known[document.Digest(digest)] = true
				return nil
			})
			return err //nolint:wrapcheck // wrapped by the caller
		})
	}
	return known, tx.SendBatch(ctx, batch).Close() //nolint:wrapcheck // wrapped by the caller
}

// conclude writes all that is small, and moves the site's counter.
func (s *Store) conclude(ctx context.Context, tx pgx.Tx, change revisions.Change,
	recorded map[revisions.Pair]bool,
) error {
	batch := &pgx.Batch{}
	if err := s.queueChecks(batch, change.Checks, recorded); err != nil {
		return err
	}
	if len(change.Failures) > 0 {
		if err := s.queueFailures(batch, change); err != nil {
			return err
		}
	}
	s.queueRevision(batch, change)
	for _, result := range change.Results {
		s.queueResult(batch, change.Revision.ID, result)
	}
	added := len(change.Added)
	batch.Queue(advanceHead, s.site, added, added-len(change.Removed))
	return tx.SendBatch(ctx, batch).Close() //nolint:wrapcheck // wrapped by the caller
}

func (s *Store) queueRevision(batch *pgx.Batch, change revisions.Change) {
	r := change.Revision
	var origin *int64
	if r.Kind == revisions.Rollback {
		origin = &r.Origin
	}
	batch.Queue(insertRevision, s.site, r.ID, r.CreatedAt, orEmpty(r.Buckets), r.Entries, r.Kind.String(), r.User,
		r.Message, origin, orNull(r.ClientVersions))
	if len(r.Buckets) > 0 {
		batch.Queue(changeBuckets, s.site, r.Buckets, r.ID)
	}
	if len(change.Opened) > 0 {
		batch.Queue(openBuckets, s.site, change.Opened, r.ID)
	}
	if len(change.Emptied) > 0 {
		batch.Queue(emptyBuckets, s.site, change.Emptied, r.ID)
	}
}

// orEmpty makes no list an empty one, which is not null in the database.
func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// queueChecks keeps the outcomes that are not recorded with their content.
func (s *Store) queueChecks(batch *pgx.Batch, checks []revisions.Check, recorded map[revisions.Pair]bool) error {
	var pairs []validations.Pair
	var findings []*string
	for _, check := range checks {
		if recorded[check.Pair] {
			continue
		}
		var text *string
		if len(check.Findings) > 0 {
			json, err := json.Marshal(check.Findings)
			if err != nil {
				return fmt.Errorf("write findings: %w", err)
			}
			text = new(string(json))
		}
		pairs, findings = append(pairs, check.Name()), append(findings, text)
	}
	if len(pairs) > 0 {
		batch.Queue(insertChecks, s.site, byteas(pairs), findings)
	}
	return nil
}

func (s *Store) queueFailures(batch *pgx.Batch, change revisions.Change) error {
	entries := make([]int32, len(change.Failures))
	documents := make([]int64, len(change.Failures))
	rules, versions := make([][]byte, len(change.Failures)), make([][]byte, len(change.Failures))
	notes := make([]*string, len(change.Failures))
	for i, failure := range change.Failures {
		entries[i], documents[i] = int32(failure.Entry), failure.Document //nolint:gosec // bounded by the documents of a body
		rules[i], versions[i] = orNull(failure.Rule.Schema), orNull(failure.Rule.Versions)
		if len(failure.Notes) > 0 {
			text, err := json.Marshal(failure.Notes)
			if err != nil {
				return fmt.Errorf("write notes: %w", err)
			}
			notes[i] = new(string(text))
		}
	}
	batch.Queue(insertFailures, s.site, change.Revision.ID, entries, documents, rules, versions, notes)
	return nil
}
