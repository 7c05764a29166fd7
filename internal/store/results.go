package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/validations"
)

const (
	insertReported = `INSERT INTO reported (site, revision, name) SELECT r.site, r.revision, $4` + stamped + `
		ON CONFLICT DO NOTHING`

	insertResult = `INSERT INTO results (site, revision, name, status, validator, errors, created_at, message)
		SELECT r.site, r.revision, $4, $5, $6, $7, coalesce($8, now()), $9` + stamped

	reportedOf = `SELECT id, name, status, created_at, length(errors) FROM results
		WHERE site = $1 AND revision = $2 AND ($3 = '' OR name = $3) ORDER BY id`

	errorsOf = `SELECT id, errors FROM results WHERE site = $1 AND revision = $2 AND id = ANY($3)`

	// latestResults takes the newest of each name; a condition on n follows. Errors are read only of failures whose first
	// message is not known.
	latestResults = `SELECT n.revision, n.name, r.status, r.created_at, coalesce(r.message, ''),
			CASE WHEN r.status <> 'success' AND r.message IS NULL THEN r.errors END
		FROM reported n CROSS JOIN LATERAL (
			SELECT status, created_at, message, errors FROM results
			WHERE site = n.site AND revision = n.revision AND name = n.name ORDER BY id DESC LIMIT 1) r
		WHERE n.site = $1 AND `

	latestOfRevisions = latestResults + `n.revision = ANY($2)`

	worstResults = `SELECT name, min(status) FROM results WHERE site = $1 AND revision = $2 GROUP BY name`
)

// AddResult implements revisions.Store.
func (s *Store) AddResult(ctx context.Context, about revisions.About, r validations.Result) (bool, error) {
	queue := func(batch *pgx.Batch) { s.queueReported(batch, about, r) }
	return s.write(ctx, about, queue, insertResult, resultValues(r)...)
}

// queueResult adds a result to a revision that is being made.
func (s *Store) queueResult(batch *pgx.Batch, revision int64, r validations.Result) {
	about := revisions.About{Revision: revision}
	s.queueReported(batch, about, r)
	batch.Queue(insertResult, append([]any{s.site, about.Revision, about.Stamps}, resultValues(r)...)...)
}

func (s *Store) queueReported(batch *pgx.Batch, about revisions.About, r validations.Result) {
	batch.Queue(insertReported, s.site, about.Revision, about.Stamps, r.Name)
}

func resultValues(r validations.Result) []any {
	at := &r.CreatedAt
	if at.IsZero() {
		at = nil // now
	}
	return []any{
		r.Name, r.Status, string(r.Validator), string(r.Errors), at, validations.OutcomeOf(r).Message,
	}
}

// Reported implements queries.Store.
func (s *Store) Reported(ctx context.Context, of revisions.Revision, name string) ([]queries.Reported, error) {
	return collectOf(ctx, s, of, func(row pgx.CollectableRow) (r queries.Reported, err error) {
		err = row.Scan(&r.ID, &r.Name, &r.Status, &r.CreatedAt, &r.Size)
		r.CreatedAt = r.CreatedAt.UTC()
		return r, err //nolint:wrapcheck // explained by collectOf
	}, reportedOf, name)
}

// ResultErrors implements queries.Store.
func (s *Store) ResultErrors(ctx context.Context, of revisions.Revision, ids []int64) (map[int64][]byte, error) {
	errs := make(map[int64][]byte, len(ids))
	_, err := collectOf(ctx, s, of, func(row pgx.CollectableRow) (id int64, err error) {
		var text []byte
		err = row.Scan(&id, &text)
		errs[id] = text
		return id, err //nolint:wrapcheck // explained by collectOf
	}, errorsOf, ids)
	return errs, err
}

// Evidence implements queries.Store.
func (s *Store) Evidence(ctx context.Context, numbers []int64) (evidence queries.Evidence, err error) {
	var policies []policyRow
	err = s.snapshotFirst(ctx, func(q *questions) {
		evidence = queries.Evidence{Outcomes: map[int64][]validations.Outcome{}}
		q.ask(into(&evidence.Revisions, func(row pgx.CollectableRow) (r revisions.Revision, err error) {
			var tags []string
			r, err = scanRevision(prefixed{row, []any{&evidence.Now, &tags}})
			r.Tags = tags
			return r, err
		}), revisionsByNumber, s.site, numbers)
		q.ask(into(&policies, scanPolicy), policiesOf, s.site, numbers)
		q.ask(func(rows pgx.Rows) error { return scanOutcomes(rows, evidence.Outcomes) }, latestOfRevisions, s.site, numbers)
	})
	if err == nil {
		evidence.Policies, err = s.parsed(ctx, policies)
	}
	return evidence, err
}

func scanOutcomes(rows pgx.Rows, outcomes map[int64][]validations.Outcome) error {
	var revision int64
	var name, status, message string
	var at time.Time
	var errs []byte
	_, err := pgx.ForEachRow(rows, []any{&revision, &name, &status, &at, &message, &errs}, func() error {
		outcome := validations.OutcomeOf(validations.Result{Name: name, Status: status, Errors: errs, CreatedAt: at.UTC()})
		if errs == nil {
			outcome.Message = message
		}
		outcomes[revision] = append(outcomes[revision], outcome)
		return nil
	})
	return err //nolint:wrapcheck // explained by the caller
}

// WorstResults implements queries.Store.
func (s *Store) WorstResults(ctx context.Context, of revisions.Revision) (map[string]string, error) {
	worst := map[string]string{}
	_, err := collectOf(ctx, s, of, func(row pgx.CollectableRow) (none struct{}, err error) {
		var name, status string
		err = row.Scan(&name, &status)
		worst[name] = status
		return none, err //nolint:wrapcheck // explained by collectOf
	}, worstResults)
	return worst, err
}
