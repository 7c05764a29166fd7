package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"purser/internal/revisions"
	"purser/internal/validations"
)

const (
	checksByPair = `SELECT pair, findings FROM checks WHERE site = $1 AND pair = ANY($2)`

	failuresOf = `SELECT entry, document, rule FROM failures WHERE site = $1 AND revision = $2 ORDER BY entry`

	failedEntries = `SELECT f.entry, f.rule, ` + documentColumns + `, c.body FROM failures f
		JOIN documents d ON d.site = f.site AND d.id = f.document
		JOIN contents c ON c.site = d.site AND c.digest = d.content
		WHERE f.site = $1 AND f.revision = $2 AND f.entry >= $3 AND (f.rule IS NOT NULL OR NOT $4)
		ORDER BY f.entry LIMIT nullif($5, 0)`
)

// Checked implements revisions.Store.
func (s *Store) Checked(ctx context.Context, pairs []validations.Pair) (
	map[validations.Pair][]validations.Finding, error,
) {
	outcomes := make(map[validations.Pair][]validations.Finding, len(pairs))
	if len(pairs) == 0 {
		return outcomes, nil
	}
	rows, err := s.pool.Query(ctx, checksByPair, s.site, byteas(pairs))
	if err != nil {
		return nil, s.dbFault(err)
	}
	var pair, text []byte
	_, err = pgx.ForEachRow(rows, []any{&pair, &text}, func() error {
		var findings []validations.Finding
		if text != nil {
			if err := json.Unmarshal(text, &findings); err != nil {
				return fmt.Errorf("read findings: %w", err)
			}
		}
		outcomes[validations.Pair(pair)] = findings
		return nil
	})
	return outcomes, s.dbFault(err)
}

// Failures implements revisions.Store.
func (s *Store) Failures(ctx context.Context, revision int64) ([]revisions.Failure, error) {
	return collect(ctx, s, func(row pgx.CollectableRow) (f revisions.Failure, err error) {
		var rule []byte
		err = row.Scan(&f.Entry, &f.Document, &rule)
		copy(f.Rule[:], rule)
		return f, err //nolint:wrapcheck // explained by collect
	}, failuresOf, s.site, revision)
}

// FailedEntries implements revisions.Store.
func (s *Store) FailedEntries(ctx context.Context, revision int64, wanted revisions.Wanted) (
	[]revisions.FailedEntry, error,
) {
	return collect(ctx, s, func(row pgx.CollectableRow) (f revisions.FailedEntry, err error) {
		var rule []byte
		f.Document, err = s.scanDocument(prefixed{row, []any{&f.Entry, &rule}})
		if err != nil {
			return f, err
		}
		f.Failure.Document = f.Document.ID
		copy(f.Rule[:], rule)
		return f, nil
	}, failedEntries, s.site, revision, wanted.From, wanted.FailuresOnly, wanted.Limit)
}

// prefixed is a row whose first columns go to destinations of their own.
type prefixed struct {
	pgx.CollectableRow

	first []any
}

func (p prefixed) Scan(dest ...any) error {
	return p.CollectableRow.Scan(append(p.first, dest...)...) //nolint:wrapcheck // wrapped by the caller
}
