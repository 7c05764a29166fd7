package store

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/validations"
	"purser/internal/words"
)

const (
	resultColumns = `site, revision, name, status, validator, errors, created_at, message`

	insertReported = `INSERT INTO reported (site, revision, name) SELECT r.site, r.revision, $4` + stamped + `
		ON CONFLICT DO NOTHING`

	insertResult = `INSERT INTO results (` + resultColumns + `)
		SELECT r.site, r.revision, $4, $5, $6, $7, coalesce($8, now()), $9` + stamped

	// isPosted begins the condition that the server does not make a validation; the prefix of most of its names follows.
	isPosted = `n.name NOT IN ('` + validations.CoverageValidation + `', '` + validations.PuppetValidation + `', '` +
		validations.PackageValidation + `')
		AND NOT starts_with(n.name, `

	// carryResults copies the newest result of each name from another revision ($3), except for the server's own
	// validations, most of which have the prefix $4.
	carryResults = `WITH carried AS (
			INSERT INTO results (` + resultColumns + `, carried_from)
			SELECT n.site, $2, n.name, x.status, x.validator, x.errors, x.created_at, x.message,
				coalesce(x.carried_from, x.revision)
			FROM reported n CROSS JOIN LATERAL (
				SELECT id, revision, status, validator, errors, created_at, message, carried_from FROM results
				WHERE site = n.site AND revision = n.revision AND name = n.name` + newestFirst + `) x
			WHERE n.site = $1 AND n.revision = $3 AND ` + isPosted + `$4) ORDER BY x.id
			RETURNING name)
		INSERT INTO reported (site, revision, name) SELECT $1, $2, name FROM carried`

	errorsOf = `SELECT id, errors FROM results WHERE site = $1 AND revision = $2 AND id = ANY($3)`

	newestFirst = ` ORDER BY id DESC LIMIT 1`

	// latestResults selects the newest result of each name; a condition on n follows. The errors of a result are read only
	// for a failure without a recorded first message.
	latestResults = `SELECT n.revision, n.name, x.status, x.created_at, coalesce(x.message, ''),
			CASE WHEN x.status <> 'success' AND x.message IS NULL THEN x.errors END
		FROM reported n CROSS JOIN LATERAL (SELECT status, created_at, message, errors FROM results
			WHERE site = n.site AND revision = n.revision AND name = n.name` + newestFirst + `) x
		WHERE n.site = $1 AND `

	carriedOutcomes = latestResults + `n.revision = $2 AND ` + isPosted + `$3)`

	latestSuccesses = ` UNION ALL SELECT r.revision, own.name, 'success', r.created_at, '', NULL::text` + fromSuccesses

	// reportedOf selects results with the sizes of their errors, without one of the texts $4 at the end of these, which
	// stand for warnings that depend on secrets: a page that ends by the size must not tell of them.
	reportedOf = `SELECT id, name, status, created_at, size, carried_from FROM (
			SELECT id, name, status, created_at, length(errors) - coalesce((
				SELECT length(hidden) + CASE WHEN errors = '[' || hidden || ']' THEN 0 ELSE 1 END FROM unnest($4::text[]) hidden
				WHERE right(errors, length(hidden) + 1) = hidden || ']'), 0) AS size, coalesce(carried_from, 0) AS carried_from
			FROM results WHERE site = $1 AND revision = $2
			UNION ALL SELECT 0, own.name, 'success', r.created_at, length('` + noErrors + `'), 0` +
		fromSuccesses + `r.revision = $2) x
		WHERE $3 = '' OR name = $3` + inOrder

	ofHead = `revision = (SELECT head FROM sites WHERE site = $1)`

	newestOutcomes = latestResults + `n.` + ofHead + latestSuccesses + `r.` + ofHead

	// worstResults looks for one failure of each name.
	worstResults = `SELECT n.name, coalesce(x.status, 'success') FROM reported n LEFT JOIN LATERAL (
			SELECT status FROM results WHERE site = n.site AND revision = n.revision AND name = n.name
				AND status <> 'success' ORDER BY status LIMIT 1) x ON true
		WHERE n.site = $1 AND n.revision = $2
		UNION ALL SELECT own.name, 'success'` + fromSuccesses + `r.revision = $2`
)

// queueResult adds a result to a revision that is being made.
func queueResult(batch *pgx.Batch, site string, revision int64, r validations.Result) {
	about := revisions.About{Revision: revision}
	batch.Queue(insertReported, site, about.Revision, about.Stamps, r.Name)
	batch.Queue(insertResult, append([]any{site, about.Revision, about.Stamps}, resultValues(r)...)...)
}

// queueCarried copies results from one revision to another that is being made: the newest of each name, except for the
// server's own validations.
func queueCarried(batch *pgx.Batch, site string, revision, from int64) {
	batch.Queue(carryResults, site, revision, from, validations.ReservedPrefix)
}

// messageOf returns the message of a result's outcome as a text that Postgres stores: it takes no NUL characters. In
// the errors, which are JSON, they are escaped.
func messageOf(r validations.Result) string {
	return words.Storable(validations.OutcomeOf(r).Message)
}

func resultValues(r validations.Result) []any {
	return []any{
		r.Name, r.Status, string(r.Validator), string(r.Errors), timeOf(r), messageOf(r),
	}
}

// timeOf returns the time of a result, nil for now.
func timeOf(r validations.Result) *time.Time {
	if r.CreatedAt.IsZero() {
		return nil
	}
	return &r.CreatedAt
}

// Reported implements queries.Store.
func (s *Store) Reported(ctx context.Context, of revisions.Revision, name string) ([]queries.Reported, error) {
	return collectOf(ctx, s, of, func(row pgx.CollectableRow) (r queries.Reported, err error) {
		err = row.Scan(&r.ID, &r.Name, &r.Status, &r.CreatedAt, &r.Size, &r.CarriedFrom)
		r.CreatedAt = r.CreatedAt.UTC()
		return r, err
	}, reportedOf, name, validations.HiddenWarnings())
}

// ResultErrors implements queries.Store.
func (s *Store) ResultErrors(ctx context.Context, of revisions.Revision, ids []int64) (map[int64][]byte, error) {
	errs := make(map[int64][]byte, len(ids))
	stored := slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return id == successID })
	if len(stored) < len(ids) {
		errs[successID] = []byte(noErrors)
	}
	if len(stored) == 0 {
		return errs, nil
	}
	_, err := collectOf(ctx, s, of, func(row pgx.CollectableRow) (id int64, err error) {
		var text []byte
		err = row.Scan(&id, &text)
		errs[id] = text
		return id, err
	}, errorsOf, stored)
	return errs, err
}

func scanOutcomes(rows pgx.Rows, outcomes map[int64][]validations.Outcome) error {
	var revision int64
	var r validations.Result
	var message string
	_, err := pgx.ForEachRow(rows, []any{&revision, &r.Name, &r.Status, &r.CreatedAt, &message, &r.Errors}, func() error {
		outcome := validations.OutcomeOf(r)
		outcome.At = outcome.At.UTC()
		if r.Errors == nil {
			outcome.Message = message
		}
		outcomes[revision] = append(outcomes[revision], outcome)
		return nil
	})
	return err
}

// askOutcomes asks for the outcomes of the newest revision.
func askOutcomes(q *questions, site string, outcomes *[]validations.Outcome) {
	q.ask(outcomesInto(outcomes), newestOutcomes, site)
}

// askCarried asks for the outcomes that queueCarried would copy from a revision.
func askCarried(q *questions, site string, from int64, outcomes *[]validations.Outcome) {
	q.ask(outcomesInto(outcomes), carriedOutcomes, site, from, validations.ReservedPrefix)
}

// outcomesInto returns a function that scans the outcomes of one revision.
func outcomesInto(posted *[]validations.Outcome) func(rows pgx.Rows) error {
	return func(rows pgx.Rows) error {
		outcomes := map[int64][]validations.Outcome{}
		err := scanOutcomes(rows, outcomes)
		for _, of := range outcomes {
			*posted = of
		}
		return err
	}
}

// WorstResults implements queries.Store.
func (s *Store) WorstResults(ctx context.Context, of revisions.Revision) (map[string]string, error) {
	worst := map[string]string{}
	_, err := collectOf(ctx, s, of, func(row pgx.CollectableRow) (none struct{}, err error) {
		var name, status string
		err = row.Scan(&name, &status)
		worst[name] = status
		return none, err
	}, worstResults)
	return worst, err
}
