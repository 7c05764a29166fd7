package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"purser/internal/document"
	"purser/internal/revisions"
	"purser/internal/validations"
)

const (
	insertResult = `INSERT INTO results (site, revision, name, status, validator, errors, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7)`

	resultsOf = `SELECT name, status, validator, errors, created_at FROM results
		WHERE site = $1 AND revision = $2 AND ($3 = '' OR name = $3) ORDER BY id`

	// latestResults takes the newest of each name; errors are read of failures only, for their first message.
	latestResults = `SELECT DISTINCT ON (revision, name)
			revision, name, status, created_at, CASE WHEN status <> 'success' THEN errors END
		FROM results WHERE site = $1 AND revision BETWEEN $2 AND $3 ORDER BY revision, name, id DESC`

	worstResults = `SELECT name, min(status) FROM results WHERE site = $1 AND revision = $2 GROUP BY name`

	policiesOf = `SELECT d.since, coalesce(d.until, 0), d.schema, d.layer, d.name, c.body
		FROM documents d JOIN contents c ON c.site = d.site AND c.digest = d.content
		WHERE d.site = $1 AND d.schema LIKE 'deckhand/ValidationPolicy/%'
			AND d.since <= $3 AND (d.until IS NULL OR d.until > $2) ORDER BY d.place`
)

// AddResult implements revisions.Store.
func (s *Store) AddResult(ctx context.Context, revision int64, r validations.Result) error {
	_, err := s.pool.Exec(ctx, insertResult, s.site, revision, r.Name, r.Status, string(r.Validator), string(r.Errors),
		r.CreatedAt)
	if hasCode(err, foreignKeyViolation) {
		return revisions.UnknownRevision(strconv.FormatInt(revision, 10))
	}
	return s.dbFault(err)
}

// Results implements revisions.Store.
func (s *Store) Results(ctx context.Context, revision int64, name string) ([]validations.Result, error) {
	return collect(ctx, s, func(row pgx.CollectableRow) (r validations.Result, err error) {
		err = row.Scan(&r.Name, &r.Status, &r.Validator, &r.Errors, &r.CreatedAt)
		r.CreatedAt = r.CreatedAt.UTC()
		return r, err //nolint:wrapcheck // explained by collect
	}, resultsOf, s.site, revision, name)
}

// Outcomes implements revisions.Store.
func (s *Store) Outcomes(ctx context.Context, first, last int64) (map[int64][]validations.Outcome, error) {
	rows, err := s.pool.Query(ctx, latestResults, s.site, first, last)
	if err != nil {
		return nil, s.dbFault(err)
	}
	outcomes := map[int64][]validations.Outcome{}
	var revision int64
	var name, status string
	var at time.Time
	var errs []byte
	_, err = pgx.ForEachRow(rows, []any{&revision, &name, &status, &at, &errs}, func() error {
		outcome := validations.Outcome{Name: name, At: at.UTC()}
		if status != validations.Success.String() {
			outcome.Status, outcome.Message = validations.Failure, firstMessage(errs)
		}
		outcomes[revision] = append(outcomes[revision], outcome)
		return nil
	})
	return outcomes, s.dbFault(err)
}

// firstMessage is what the first of a posted list of errors says, "" if it says nothing.
func firstMessage(errs []byte) string {
	var items []json.RawMessage
	var item struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(errs, &items) == nil && len(items) > 0 && json.Unmarshal(items[0], &item) == nil {
		return item.Message
	}
	return ""
}

// WorstResults implements revisions.Store.
func (s *Store) WorstResults(ctx context.Context, revision int64) (map[string]string, error) {
	rows, err := s.pool.Query(ctx, worstResults, s.site, revision)
	if err != nil {
		return nil, s.dbFault(err)
	}
	worst := map[string]string{}
	var name, status string
	_, err = pgx.ForEachRow(rows, []any{&name, &status}, func() error {
		worst[name] = status
		return nil
	})
	return worst, s.dbFault(err)
}

// Policies implements revisions.Store.
func (s *Store) Policies(ctx context.Context, first, last int64) ([]revisions.PolicyVersion, error) {
	return collect(ctx, s, func(row pgx.CollectableRow) (p revisions.PolicyVersion, err error) {
		var id document.Identity
		var body []byte
		if err := row.Scan(&p.Since, &p.Until, &id.Schema, &id.Layer, &id.Name, &body); err != nil {
			return p, fmt.Errorf("read a validation policy: %w", err)
		}
		data, err := s.body.unpack(body)
		p.Policy = validations.ParsePolicy(id, data)
		return p, err
	}, policiesOf, s.site, first, last)
}
