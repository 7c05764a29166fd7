package store

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"purser/internal/document"
	"purser/internal/revisions"
	"purser/internal/validations"
)

const (
	insertReported = `INSERT INTO reported (site, revision, name) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`

	insertResult = `INSERT INTO results (site, revision, name, status, validator, errors, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7)`

	resultsOf = `SELECT name, status, validator, errors, created_at FROM results
		WHERE site = $1 AND revision = $2 AND ($3 = '' OR name = $3) ORDER BY id`

	// latestResults takes the newest of each name; errors are read of failures only, for their first message.
	latestResults = `SELECT n.revision, n.name, r.status, r.created_at, CASE WHEN r.status <> 'success' THEN r.errors END
		FROM reported n CROSS JOIN LATERAL (
			SELECT status, created_at, errors FROM results
			WHERE site = n.site AND revision = n.revision AND name = n.name ORDER BY id DESC LIMIT 1) r
		WHERE n.site = $1 AND n.revision = ANY($2)`

	worstResults = `SELECT name, min(status) FROM results WHERE site = $1 AND revision = $2 GROUP BY name`

	policiesOf = `SELECT d.place, d.since, coalesce(d.until, 0), d.schema, d.layer, d.name, c.body
		FROM documents d JOIN contents c ON c.site = d.site AND c.digest = d.content
		WHERE d.site = $1 AND d.schema LIKE 'deckhand/ValidationPolicy/%' AND EXISTS (
			SELECT FROM unnest($2::bigint[]) r WHERE d.since <= r AND (d.until IS NULL OR d.until > r))
		ORDER BY d.place`
)

// AddResult implements revisions.Store.
func (s *Store) AddResult(ctx context.Context, revision int64, r validations.Result) error {
	err := s.retry(ctx, func() error {
		batch := &pgx.Batch{} // one transaction, one round trip
		s.queueResult(batch, revision, r)
		return s.pool.SendBatch(ctx, batch).Close()
	})
	if hasCode(err, foreignKeyViolation) {
		return revisions.UnknownRevision(strconv.FormatInt(revision, 10))
	}
	return err
}

func (s *Store) queueResult(batch *pgx.Batch, revision int64, r validations.Result) {
	batch.Queue(insertReported, s.site, revision, r.Name)
	batch.Queue(insertResult, s.site, revision, r.Name, r.Status, string(r.Validator), string(r.Errors), r.CreatedAt)
}

// Results implements revisions.Store.
func (s *Store) Results(ctx context.Context, revision int64, name string) ([]validations.Result, error) {
	return collect(ctx, s, func(row pgx.CollectableRow) (r validations.Result, err error) {
		err = row.Scan(&r.Name, &r.Status, &r.Validator, &r.Errors, &r.CreatedAt)
		r.CreatedAt = r.CreatedAt.UTC()
		return r, err //nolint:wrapcheck // explained by collect
	}, resultsOf, s.site, revision, name)
}

// Standing implements revisions.Store.
func (s *Store) Standing(ctx context.Context, numbers []int64) (revisions.Standing, error) {
	var standing revisions.Standing
	tags := map[int64][]string{}
	err := s.snapshot(ctx, func(batch *pgx.Batch) {
		standing.Outcomes = map[int64][]validations.Outcome{}
		batch.Queue(siteEpoch, s.site).QueryRow(func(row pgx.Row) error { return row.Scan(&standing.Epoch) })
		batch.Queue(revisionsByNumber, s.site, numbers).Query(into(&standing.Revisions, scanRevision))
		batch.Queue(policiesOf, s.site, numbers).Query(into(&standing.Policies, s.scanPolicy))
		batch.Queue(latestResults, s.site, numbers).Query(func(rows pgx.Rows) error {
			return scanOutcomes(rows, standing.Outcomes)
		})
		clear(tags)
		batch.Queue(tagNames, s.site, numbers).Query(func(rows pgx.Rows) error { return scanTagNames(rows, tags) })
	})
	for i := range standing.Revisions {
		standing.Revisions[i].Tags = tags[standing.Revisions[i].ID]
	}
	return standing, err
}

func scanOutcomes(rows pgx.Rows, outcomes map[int64][]validations.Outcome) error {
	var revision int64
	var name, status string
	var at time.Time
	var errs []byte
	_, err := pgx.ForEachRow(rows, []any{&revision, &name, &status, &at, &errs}, func() error {
		result := validations.Result{Name: name, Status: status, Errors: errs, CreatedAt: at.UTC()}
		outcomes[revision] = append(outcomes[revision], validations.OutcomeOf(result))
		return nil
	})
	return err //nolint:wrapcheck // explained by the caller
}

// WorstResults implements revisions.Store.
func (s *Store) WorstResults(ctx context.Context, revision int64) (map[string]string, error) {
	found, err := collect(ctx, s, pgx.RowToStructByPos[validations.Summary], worstResults, s.site, revision)
	worst := make(map[string]string, len(found))
	for _, summary := range found {
		worst[summary.Name] = summary.Status
	}
	return worst, err
}

func (s *Store) scanPolicy(row pgx.CollectableRow) (p revisions.PolicyVersion, err error) {
	var id document.Identity
	var body []byte
	if err := row.Scan(&p.Place, &p.Since, &p.Until, &id.Schema, &id.Layer, &id.Name, &body); err != nil {
		return p, fmt.Errorf("read a validation policy: %w", err)
	}
	data, err := s.body.unpack(body)
	p.Policy = validations.ParsePolicy(id, data)
	return p, err
}
