package store

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"purser/internal/document"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// evidenceQueries select the evidence about revisions. Their arguments are the site, and then what names the revisions.
type evidenceQueries struct{ revisions, policies, outcomes string }

// Evidence about the revisions with numbers ($2), and about the one with a name: the revision $2, or else the newest
// one with tag $3, or else the newest one.
var (
	byNumbers = evidenceQueries{revisionsAmong(`$2`), policiesOf, resultsAmong(`$2`)}
	byName    = evidenceQueries{revisionsAmong(named), policiesWith + named + policiesEnd, resultsAmong(named)}
)

func revisionsAmong(list string) string {
	return amongRevisions(list, revisionNumbered+"l.revision") + " ORDER BY revision"
}

func resultsAmong(list string) string {
	return amongRevisions(list, latestResults+"n.revision = l.revision"+latestSuccesses+"r.revision = l.revision")
}

// amongRevisions returns a statement that gives the rows of another for each revision in a list (l.revision). It uses
// an index for each of them: with a condition on the list, all rows of a site would be read while these are few.
func amongRevisions(list, sql string) string {
	//nolint:unqueryvet // the columns are those of sql
	return `SELECT o.* FROM (SELECT DISTINCT unnest(` + list + `::bigint[])) l (revision)
		CROSS JOIN LATERAL (` + sql + ` OFFSET 0) o`
}

const (
	named = `ARRAY(SELECT CASE WHEN $2::bigint IS NOT NULL THEN $2
			WHEN $3::text IS NOT NULL THEN (SELECT max(revision) FROM tags WHERE site = $1 AND tag = $3)
			ELSE (SELECT head FROM sites WHERE site = $1) END)`

	// siteState selects the time and the state of a site, which its newest event identifies: a transaction that changes
	// evidence adds an event, and numbering that event makes it or a later one the newest. The state is empty while events
	// wait to be numbered. These are looked for by index, because other plans would visit all that were deleted lately.
	siteState = `SELECT now(), coalesce((SELECT f.newest || ' ' || e.at FROM feeds f
			JOIN events e ON e.site = f.site AND e.number = f.newest
			WHERE f.site = $1 AND (SELECT id FROM outbox WHERE site = $1 ORDER BY id LIMIT 1) IS NULL), '')`
)

// evidenceRows is evidence with policies that are not yet parsed.
type evidenceRows struct {
	queries.Evidence

	policies []policyRow
}

// askEvidence asks for the rows of evidence, which are complete once all queries have been answered.
func askEvidence(ask func(do func(pgx.Rows) error, sql string, args ...any), q evidenceQueries, args ...any,
) *evidenceRows {
	found := &evidenceRows{Evidence: queries.Evidence{Outcomes: map[int64][]validations.Outcome{}}}
	ask(into(&found.Revisions, func(row pgx.CollectableRow) (r revisions.Revision, err error) {
		var tags []string
		r, err = scanRevision(prefixed(row, &found.Now, &tags))
		r.Tags = tags
		return r, err
	}), q.revisions, args...)
	ask(into(&found.policies, scanPolicy), q.policies, args...)
	ask(func(rows pgx.Rows) error { return scanOutcomes(rows, found.Outcomes) }, q.outcomes, args...)
	return found
}

// parsedEvidence returns evidence with its policies.
func (s *Store) parsedEvidence(ctx context.Context, rows evidenceRows) (evidence queries.Evidence, err error) {
	evidence = rows.Evidence
	evidence.Policies, err = s.parsePolicies(ctx, rows.policies)
	return evidence, err
}

// Evidence implements queries.Store.
func (s *Store) Evidence(ctx context.Context, numbers []int64) (queries.Evidence, error) {
	var found *evidenceRows
	_, err := s.inSnapshot(ctx, reserved, func(q *questions) {
		found = askEvidence(q.ask, byNumbers, s.site, numbers)
	})
	if err != nil {
		return queries.Evidence{}, err
	}
	return s.parsedEvidence(ctx, *found)
}

// evidenceIn is Evidence in a transaction.
func (s *Store) evidenceIn(ctx context.Context, tx pgx.Tx, numbers []int64) (evidence queries.Evidence, err error) {
	batch := &pgx.Batch{}
	found := askEvidence(func(do func(pgx.Rows) error, sql string, args ...any) {
		batch.Queue(sql, args...).Query(do)
	}, byNumbers, s.site, numbers)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return evidence, err
	}
	evidence = found.Evidence
	evidence.Policies, err = s.parsedFrom(found.policies, func(digests []document.Digest) (
		map[document.Digest][]byte, error,
	) {
		return s.contentsIn(ctx, tx, digests) // there may be no other connection
	})
	return evidence, err
}

// knownEvidence is evidence, and the state of the site in which it was read.
type knownEvidence struct {
	evidenceRows

	state string
}

// size estimates the memory of the evidence in bytes.
func (k knownEvidence) size() int {
	const perRevision, perPolicy, perBucket, perOutcome = 512, 384, 64, 256
	size := 0
	for _, r := range k.Revisions {
		size += perRevision + len(r.User) + len(r.Message)
		for _, word := range slices.Concat(r.Buckets, r.Tags) {
			size += perBucket + len(word)
		}
		for _, outcome := range k.Outcomes[r.ID] {
			size += perOutcome + len(outcome.Name) + len(outcome.Message)
		}
	}
	for _, policy := range k.policies {
		size += perPolicy + len(policy.key.Schema) + len(policy.key.Layer) + len(policy.key.Name)
	}
	return size
}

// EvidenceOf implements queries.Store. What was read in the present state of the site is not read again.
func (s *Store) EvidenceOf(ctx context.Context, name queries.Name) (queries.Evidence, error) {
	known, fresh := s.evidence.Get(name)
	if fresh {
		now, state, err := s.state(ctx)
		if err != nil {
			return queries.Evidence{}, err
		}
		known.Now, fresh = now, state == known.state
	}
	if !fresh {
		var err error
		if known, err = s.readEvidenceOf(ctx, name); err != nil {
			return queries.Evidence{}, err
		}
	}
	return s.parsedEvidence(ctx, known.evidenceRows)
}

// state returns the time and the state of the site, which is empty while events wait to be numbered.
func (s *Store) state(ctx context.Context) (now time.Time, state string, err error) {
	_, err = s.read(ctx, reserved, func(ctx context.Context, _ *reading) error {
		return s.pool.QueryRow(ctx, siteState, s.site).Scan(&now, &state)
	})
	return now, state, err
}

// readEvidenceOf reads the evidence about the revision with a name, and keeps it if no events wait to be numbered.
func (s *Store) readEvidenceOf(ctx context.Context, name queries.Name) (known knownEvidence, err error) {
	var number *int64
	var tag *string
	switch {
	case name.Number != 0:
		number = &name.Number
	case name.ByTag:
		tag = &name.Tag
	}
	var found *evidenceRows
	_, err = s.inSnapshot(ctx, reserved, func(q *questions) {
		found = askEvidence(q.ask, byName, s.site, number, tag)
		q.askRow([]any{&found.Now, &known.state}, siteState, s.site)
	})
	if err != nil {
		return known, err
	}
	known.evidenceRows = *found
	switch {
	case known.state == "":
		s.wake() // the server that made the changes may have ended before it numbered their events
	case len(known.Revisions) > 0:
		s.evidence.Add(name, known, known.size()+len(name.Tag))
	}
	return known, nil
}
