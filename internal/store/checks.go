package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"purser/internal/document"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/store/postgres"
	"purser/internal/store/site"
	"purser/internal/validations"
)

const (
	// checksByContent selects the checks that contents passed when they were stored.
	checksByContent = `SELECT c.passed, NULL::text FROM contents c
		JOIN unnest($2::bytea[], $3::bytea[]) AS k (content, pair) ON c.digest = k.content AND c.passed = k.pair
		WHERE c.site = $1`

	checksByPair = `SELECT pair, findings FROM checks WHERE site = $1 AND pair = ANY($2)`

	// whichEntries are the conditions of a queries.EntryQuery on failures f.
	whichEntries = `f.site = $1 AND f.revision = $2 AND f.entry >= $3::bigint AND ($4::bigint = 0 OR f.entry < $4)
		AND (f.rule IS NOT NULL OR NOT $5) ORDER BY f.entry LIMIT nullif($6, 0)`

	failuresOf = `SELECT f.entry, f.document, f.rule, f.client_versions FROM failures f WHERE ` + whichEntries

	failedEntries = `SELECT f.entry, f.rule, f.client_versions, f.notes, ` + documentColumns + `, c.body, c.sealed
		FROM failures f
		JOIN documents d ON d.site = f.site AND d.id = f.document
		JOIN contents c ON c.site = d.site AND c.digest = d.content WHERE ` + whichEntries
)

// Checked implements queries.Store.
func (s *Store) Checked(ctx context.Context, pairs []revisions.Pair) (
	map[validations.Pair][]validations.Finding, error,
) {
	outcomes := make(map[validations.Pair][]validations.Finding, len(pairs))
	if len(pairs) == 0 {
		return outcomes, nil
	}
	_, err := s.site.Snapshot(ctx, func(q *postgres.Questions) { queueChecked(q, s.site.Name, pairs, outcomes) })
	return outcomes, err
}

// queueChecked reads the outcomes of checks: those recorded with their content, and all others.
func queueChecked(q *postgres.Questions, site string, pairs []revisions.Pair,
	outcomes map[validations.Pair][]validations.Finding,
) {
	contents, names := make([]document.Digest, len(pairs)), make([]validations.Pair, len(pairs))
	for i, pair := range pairs {
		contents[i], names[i] = pair.Content, pair.Name()
	}
	scan := func(rows pgx.Rows) error { return scanChecks(rows, outcomes) }
	q.Ask(scan, checksByContent, site, postgres.Digests(contents), postgres.Digests(names))
	q.Ask(scan, checksByPair, site, postgres.Digests(names))
}

func scanChecks(rows pgx.Rows, outcomes map[validations.Pair][]validations.Finding) error {
	var pair, text []byte
	_, err := pgx.ForEachRow(rows, []any{&pair, &text}, func() error {
		var findings []validations.Finding
		if text != nil {
			if err := json.Unmarshal(text, &findings); err != nil {
				return fmt.Errorf("read findings: %w", err)
			}
		}
		outcomes[validations.Pair(pair)] = findings
		return nil
	})
	return err //nolint:wrapcheck // explained by the caller
}

// Failures implements queries.Store.
func (s *Store) Failures(ctx context.Context, of revisions.Revision, query queries.EntryQuery) (
	[]revisions.Failure, error,
) {
	return site.CollectOf(ctx, s.site, of, scanFailure, failuresOf, query.From, query.To, query.FailuresOnly, query.Limit)
}

func scanFailure(row pgx.CollectableRow) (f revisions.Failure, err error) {
	err = row.Scan(&f.Entry, &f.Document, postgres.IntoDigest(&f.Rule.Schema), postgres.IntoDigest(&f.Rule.Context))
	return f, err //nolint:wrapcheck // explained by the callers
}

// FailedEntries implements queries.Store.
func (s *Store) FailedEntries(ctx context.Context, of revisions.Revision, query queries.EntryQuery) (
	[]revisions.FailedEntry, error,
) {
	return site.CollectOf(ctx, s.site, of, func(row pgx.CollectableRow) (f revisions.FailedEntry, err error) {
		var notes []byte
		f.About, err = s.scanDocument(postgres.Prefixed(row, &f.Entry, postgres.IntoDigest(&f.Rule.Schema),
			postgres.IntoDigest(&f.Rule.Context), &notes))
		if err != nil {
			return f, err
		}
		f.Document = f.About.ID
		if notes != nil {
			err = json.Unmarshal(notes, &f.Notes)
		}
		return f, err //nolint:wrapcheck // explained by CollectOf
	}, failedEntries, query.From, query.To, query.FailuresOnly, query.Limit)
}
