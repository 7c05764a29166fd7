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
	insertContents = `INSERT INTO contents (site, digest, body)
		SELECT $1, * FROM unnest($2::bytea[], $3::bytea[]) ON CONFLICT DO NOTHING`

	insertDocuments = `INSERT INTO documents
			(site, id, place, since, bucket, schema, layer, name, content, segment, metadata, notes)
		SELECT $1, n.id, n.place, $2, $3, n.schema, n.layer, n.name, n.content, n.segment, n.metadata, n.notes
		FROM unnest($4::bigint[], $5::bigint[], $6::text[], $7::text[], $8::text[], $9::bytea[], $10::bytea[],
			$11::text[], $12::text[]) AS n (id, place, schema, layer, name, content, segment, metadata, notes)`

	closeDocuments = `UPDATE documents d SET until = $2, fork = n.fork
		FROM unnest($3::bigint[], $4::bigint[]) AS n (id, fork)
		WHERE d.site = $1 AND d.id = n.id AND d.until IS NULL`

	insertChecks = `INSERT INTO checks (site, pair, findings)
		SELECT $1, * FROM unnest($2::bytea[], $3::text[]) ON CONFLICT DO NOTHING`

	insertFailures = `INSERT INTO failures (site, revision, entry, document, rule)
		SELECT $1, $2, * FROM unnest($3::integer[], $4::bigint[], $5::bytea[])`

	insertRevision = `INSERT INTO revisions (site, revision, created_at, buckets, entries) VALUES ($1, $2, $3, $4, $5)`

	changeBucket = `INSERT INTO buckets (site, bucket, changed) VALUES ($1, $2, $3)
		ON CONFLICT (site, bucket) DO UPDATE SET changed = excluded.changed`

	advanceHead = `UPDATE sites SET head = head + 1, documents = documents + $4
		WHERE site = $1 AND epoch = $2 AND head = $3`
)

// chunkSize bounds how many bytes of contents one statement carries, and so the memory that sending it takes.
const chunkSize = 4 << 20

// Append implements revisions.Store.
func (s *Store) Append(ctx context.Context, change revisions.Change) error {
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if err := s.sendContents(ctx, tx, change.Added); err != nil {
			return err
		}
		batch, err := s.batch(change)
		if err != nil {
			return err
		}
		results := tx.SendBatch(ctx, batch)
		for range batch.Len() - 1 {
			if _, err := results.Exec(); err != nil {
				return errorsJoinClose(err, results)
			}
		}
		head, err := results.Exec()
		if err != nil {
			return errorsJoinClose(err, results)
		}
		if head.RowsAffected() == 0 {
			return errorsJoinClose(revisions.ErrStale, results)
		}
		return results.Close()
	})
	if hasCode(err, uniqueViolation, serializationFailure, deadlockDetected) {
		return fmt.Errorf("%w: %w", revisions.ErrStale, err)
	}
	return s.dbFault(err)
}

// errorsJoinClose closes a batch whose outcome is decided; what closing says adds nothing.
func errorsJoinClose(err error, results pgx.BatchResults) error {
	_ = results.Close()
	return err
}

// sendContents sends large contents ahead in bounded statements.
func (s *Store) sendContents(ctx context.Context, tx pgx.Tx, added []*revisions.Stored) error {
	var digests, bodies [][]byte
	size := 0
	flush := func() error {
		if len(digests) == 0 {
			return nil
		}
		_, err := tx.Exec(ctx, insertContents, s.site, digests, bodies)
		digests, bodies, size = digests[:0], bodies[:0], 0
		return err //nolint:wrapcheck // wrapped by the caller
	}
	sent := make(map[document.Digest]bool, len(added))
	for _, doc := range added {
		if sent[doc.Digest] {
			continue
		}
		sent[doc.Digest] = true
		body := s.body.pack(doc.Data)
		digests, bodies = append(digests, doc.Digest[:]), append(bodies, body)
		if size += len(body); size >= chunkSize {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// batch holds all statements but those for contents, the site's counter last.
func (s *Store) batch(change revisions.Change) (*pgx.Batch, error) {
	batch := &pgx.Batch{}
	revision := change.Revision.ID
	if len(change.Removed) > 0 {
		s.queueRemoved(batch, change)
	}
	if len(change.Added) > 0 {
		if err := s.queueAdded(batch, change); err != nil {
			return nil, err
		}
	}
	if len(change.Checks) > 0 {
		if err := s.queueChecks(batch, change.Checks); err != nil {
			return nil, err
		}
	}
	if len(change.Failures) > 0 {
		s.queueFailures(batch, change)
	}
	r := change.Revision
	batch.Queue(insertRevision, s.site, revision, r.CreatedAt, r.Buckets, r.Entries)
	batch.Queue(changeBucket, s.site, change.Against.Name, revision)
	batch.Queue(advanceHead, s.site, change.Against.Epoch, change.Against.Revision, len(change.Added))
	return batch, nil
}

func (s *Store) queueRemoved(batch *pgx.Batch, change revisions.Change) {
	ids := make([]int64, len(change.Removed))
	forks := make([]int64, len(change.Removed))
	for i, doc := range change.Removed {
		ids[i], forks[i] = doc.ID, fork(doc.Revision, change.Revision.ID)
	}
	batch.Queue(closeDocuments, s.site, change.Revision.ID, ids, forks)
}

func (s *Store) queueAdded(batch *pgx.Batch, change revisions.Change) error {
	n := len(change.Added)
	ids, places := make([]int64, n), make([]int64, n)
	schemas, layers, names, metadata := make([]string, n), make([]string, n), make([]string, n), make([]string, n)
	contents, segments, notes := make([][]byte, n), make([][]byte, n), make([]*string, n)
	for i, doc := range change.Added {
		ids[i], places[i] = doc.ID, doc.Place
		schemas[i], layers[i], names[i], metadata[i] = doc.Schema, doc.Layer, doc.Name, string(doc.Metadata)
		contents[i] = doc.Digest[:]
		if !doc.Segment.IsZero() {
			segments[i] = doc.Segment[:]
		}
		if len(doc.Notes) > 0 {
			text, err := json.Marshal(doc.Notes)
			if err != nil {
				return fmt.Errorf("write the notes of %s: %w", doc.Identity, err)
			}
			notes[i] = new(string(text))
		}
	}
	batch.Queue(insertDocuments, s.site, change.Revision.ID, change.Against.Name, ids, places, schemas, layers, names,
		contents, segments, metadata, notes)
	return nil
}

func (s *Store) queueChecks(batch *pgx.Batch, checks []revisions.Check) error {
	pairs := make([]validations.Pair, len(checks))
	findings := make([]*string, len(checks))
	for i, check := range checks {
		pairs[i] = check.Pair
		if len(check.Findings) == 0 {
			continue
		}
		text, err := json.Marshal(check.Findings)
		if err != nil {
			return fmt.Errorf("write findings: %w", err)
		}
		findings[i] = new(string(text))
	}
	batch.Queue(insertChecks, s.site, byteas(pairs), findings)
	return nil
}

func (s *Store) queueFailures(batch *pgx.Batch, change revisions.Change) {
	entries := make([]int32, len(change.Failures))
	documents := make([]int64, len(change.Failures))
	rules := make([][]byte, len(change.Failures))
	for i, failure := range change.Failures {
		entries[i], documents[i] = int32(failure.Entry), failure.Document //nolint:gosec // bounded by the documents of a body
		if failure.Rule != (validations.Rule{}) {
			rules[i] = failure.Rule[:]
		}
	}
	batch.Queue(insertFailures, s.site, change.Revision.ID, entries, documents, rules)
}
