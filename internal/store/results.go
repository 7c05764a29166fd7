package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/store/postgres"
	"purser/internal/validations"
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

	reportedOf = `SELECT id, name, status, created_at, length(errors), coalesce(carried_from, 0) FROM results
		WHERE site = $1 AND revision = $2 AND ($3 = '' OR name = $3) ORDER BY id`

	errorsOf = `SELECT id, errors FROM results WHERE site = $1 AND revision = $2 AND id = ANY($3)`

	// resultsOfName are the results of a name, and newestFirst takes the last one. Its errors are read only for a failure
	// without a recorded first message.
	resultsOfName = `SELECT id, status, created_at, message, errors FROM results
			WHERE site = n.site AND revision = n.revision AND name = n.name`
	newestFirst    = ` ORDER BY id DESC LIMIT 1`
	outcomeColumns = `x.status, x.created_at, coalesce(x.message, ''),
			CASE WHEN x.status <> 'success' AND x.message IS NULL THEN x.errors END`

	// latestResults selects the newest result of each name; a condition on n follows.
	latestResults = `SELECT n.revision, n.name, ` + outcomeColumns + `
		FROM reported n CROSS JOIN LATERAL (` + resultsOfName + newestFirst + `) x WHERE n.site = $1 AND `

	latestOfRevisions = latestResults + `n.revision = ANY($2)`

	// latestOfNamed selects the newest result of each name among results from id $4 on, for revision $2, or else the
	// newest revision with tag $3, or else the newest one. It returns a row without a name if there are no results, a row
	// without a result for a name that has none from the id on, and no row if the revision does not exist.
	latestOfNamed = `SELECT now(), r.revision, r.stamp, n.name, n.posted, coalesce(x.id, 0), ` + outcomeColumns + `
		FROM revisions r
		LEFT JOIN LATERAL (SELECT n.site, n.revision, n.name, ` + isPosted + `$5) AS posted FROM reported n
			WHERE n.site = r.site AND n.revision = r.revision) n ON true
		LEFT JOIN LATERAL (` + resultsOfName + ` AND id >= CASE WHEN n.posted THEN $4 ELSE 0 END` + newestFirst + `) x ON true
		WHERE r.site = $1 AND r.revision = CASE
			WHEN $2::bigint IS NOT NULL THEN $2
			WHEN $3::text IS NOT NULL THEN (SELECT max(t.revision) FROM tags t WHERE t.site = $1 AND t.tag = $3)
			ELSE (SELECT s.head FROM sites s WHERE s.site = $1) END`

	// worstResults looks for one failure of each name.
	worstResults = `SELECT n.name, coalesce(x.status, 'success') FROM reported n LEFT JOIN LATERAL (
			SELECT status FROM results WHERE site = n.site AND revision = n.revision AND name = n.name
				AND status <> 'success' ORDER BY status LIMIT 1) x ON true
		WHERE n.site = $1 AND n.revision = $2`
)

// queueResult adds a result to a revision that is being made.
func (s *Store) queueResult(batch *pgx.Batch, revision int64, r validations.Result) {
	about := revisions.About{Revision: revision}
	batch.Queue(insertReported, s.site, about.Revision, about.Stamps, r.Name)
	batch.Queue(insertResult, append([]any{s.site, about.Revision, about.Stamps}, resultValues(r)...)...)
}

func resultValues(r validations.Result) []any {
	return []any{
		r.Name, r.Status, string(r.Validator), string(r.Errors), timeOf(r), validations.OutcomeOf(r).Message,
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
func (s *Store) Evidence(ctx context.Context, numbers []int64) (queries.Evidence, error) {
	evidence, policies, err := s.readEvidence(ctx, numbers)
	if err == nil {
		evidence.Policies, err = s.parsed(ctx, policies)
	}
	return evidence, err
}

func (s *Store) readEvidence(ctx context.Context, numbers []int64) (
	evidence queries.Evidence, policies []policyRow, err error,
) {
	err = s.db.SnapshotFirst(ctx, func(q *postgres.Questions) {
		evidence = queries.Evidence{Outcomes: map[int64][]validations.Outcome{}}
		q.Ask(postgres.Into(&evidence.Revisions, func(row pgx.CollectableRow) (r revisions.Revision, err error) {
			var tags []string
			r, err = scanRevision(prefixed{row, []any{&evidence.Now, &tags}})
			r.Tags = tags
			return r, err
		}), revisionsByNumber, s.site, numbers)
		q.Ask(postgres.Into(&policies, scanPolicy), policiesOf, s.site, numbers)
		q.Ask(func(rows pgx.Rows) error { return scanOutcomes(rows, evidence.Outcomes) }, latestOfRevisions, s.site, numbers)
	})
	return evidence, policies, err
}

// revisionKey identifies a revision for ever, whatever happens to the database.
type revisionKey struct {
	number int64
	stamp  revisions.Stamp
}

// fixedEvidence is the part of the evidence about a revision that never changes.
type fixedEvidence struct {
	revision revisions.Revision // without tags
	policies []policyRow
}

// size estimates the memory of the evidence in bytes.
func (f fixedEvidence) size() int {
	const overhead, perPolicy, perBucket = 512, 384, 64
	size := overhead + len(f.revision.User) + len(f.revision.Message)
	for _, bucket := range f.revision.Buckets {
		size += perBucket + len(bucket)
	}
	for _, policy := range f.policies {
		size += perPolicy + len(policy.key.Schema) + len(policy.key.Layer) + len(policy.key.Name)
	}
	return size
}

// EvidenceOf implements queries.Store. Only the first question about a revision reads more than its posted results.
func (s *Store) EvidenceOf(ctx context.Context, name queries.Name) (queries.Evidence, error) {
	evidence, key, err := s.outcomesOf(ctx, name)
	if err != nil || key.number == 0 {
		return queries.Evidence{}, err
	}
	fixed, known := s.fixed.Get(key)
	if !known {
		// All of it is read again, at one moment: the revision may have been deleted since.
		evidence, fixed.policies, err = s.readEvidence(ctx, []int64{key.number})
		if err != nil || len(evidence.Revisions) == 0 {
			return queries.Evidence{}, err
		}
		fixed.revision = evidence.Revisions[0]
		fixed.revision.Tags = nil
		s.fixed.Add(revisionKey{key.number, fixed.revision.Stamp}, fixed, fixed.size())
	}
	evidence.Revisions = []revisions.Revision{fixed.revision}
	evidence.Policies, err = s.parsed(ctx, fixed.policies)
	return evidence, err
}

// outcomesOf reads the time and the outcomes of posted results about a revision, and the revision's key: number 0 if it
// does not exist. It reads only results from the lowest known id of a newest result on, because Postgres would
// otherwise visit all results on the same index page as the newest one. A newer result has a greater id, unless the
// database was restored or the name of the revision now means another one; then it reads all.
func (s *Store) outcomesOf(ctx context.Context, name queries.Name) (queries.Evidence, revisionKey, error) {
	from, _ := s.newest.Get(name)
	found, err := s.outcomesFrom(ctx, name, from)
	if err == nil && found.incomplete && from > 0 {
		found, err = s.outcomesFrom(ctx, name, 0)
	}
	if err == nil && found.from != from {
		s.newest.Add(name, found.from, len(name.Tag))
	}
	return found.evidence, found.key, err
}

// outcomes are the newest results of each name about a revision.
type outcomes struct {
	evidence   queries.Evidence
	key        revisionKey
	from       int64 // the lowest id of the newest results; 0 if there are none
	incomplete bool  // a name has none
}

func (s *Store) outcomesFrom(ctx context.Context, name queries.Name, from int64) (found outcomes, err error) {
	var number *int64
	var tag *string
	switch {
	case name.Number != 0:
		number = &name.Number
	case name.ByTag:
		tag = &name.Tag
	}
	err = s.db.ReadFirst(ctx, func(ctx context.Context, r *postgres.Reading) error {
		found = outcomes{}
		var list []validations.Outcome
		var o outcomeRow
		var reported *string
		var posted *bool
		var id int64
		// The error of a query is that of its rows.
		rows, _ := s.db.Pool.Query(ctx, latestOfNamed, s.site, number, tag, from, validations.ReservedPrefix)
		_, err := pgx.ForEachRow(r.Rows(rows), []any{
			&found.evidence.Now, &found.key.number, &found.key.stamp, &reported, &posted, &id, &o.status, &o.at,
			&o.message, &o.errors,
		}, func() error {
			switch {
			case o.status == nil:
				found.incomplete = found.incomplete || reported != nil
				return nil
			case *posted && (found.from == 0 || id < found.from):
				found.from = id
			}
			list = append(list, o.outcome(*reported))
			return nil
		})
		found.evidence.Outcomes = map[int64][]validations.Outcome{found.key.number: list}
		return err //nolint:wrapcheck // explained by read
	})
	return found, err
}

// outcomeRow is a scanned result; all fields are NULL if there is none.
type outcomeRow struct {
	status  *string
	at      *time.Time
	message string
	errors  []byte
}

func (o outcomeRow) outcome(name string) validations.Outcome {
	outcome := validations.OutcomeOf(validations.Result{
		Name: name, Status: *o.status, Errors: o.errors, CreatedAt: o.at.UTC(),
	})
	if o.errors == nil {
		outcome.Message = o.message
	}
	return outcome
}

func scanOutcomes(rows pgx.Rows, outcomes map[int64][]validations.Outcome) error {
	var revision int64
	var name string
	var o outcomeRow
	_, err := pgx.ForEachRow(rows, []any{&revision, &name, &o.status, &o.at, &o.message, &o.errors}, func() error {
		outcomes[revision] = append(outcomes[revision], o.outcome(name))
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
