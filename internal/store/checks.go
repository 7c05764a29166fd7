package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"purser/internal/document"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// entryArguments returns the arguments of the statements Failures and FailedEntries.
func (s *Store) entryArguments(revision int64, query queries.EntryQuery) named {
	before, after := ancestors(revision)
	return named{
		"site": s.site, "revision": revision, "from": query.From, "to": query.To, "failures_only": query.FailuresOnly,
		"limit": query.Limit, "before": before, "after": after, "open": query.Open,
		"document": query.Document, "names": namesIn(query.Document),
	}
}

// namesIn returns the names that the documents which a text names may have: the text itself, which is a name, and what
// follows each of its slashes, which may be one.
func namesIn(text string) (names []string) {
	const most = validations.MaxName * utf8.UTFMax
	for rest, found := text, true; found; _, rest, found = strings.Cut(rest, "/") {
		if len(rest) <= most {
			names = append(names, rest)
		}
	}
	return names
}

// Checked implements queries.Store.
func (s *Store) Checked(ctx context.Context, pairs []revisions.Pair) (
	map[validations.Pair][]validations.Finding, error,
) {
	outcomes := make(map[validations.Pair][]validations.Finding, len(pairs))
	if len(pairs) == 0 {
		return outcomes, nil
	}
	_, err := s.inSnapshot(ctx, general, func(q *questions) { queueChecked(q, s.site, pairs, outcomes) })
	return outcomes, err
}

// queueChecked reads the outcomes of checks: those recorded with their content, and all others.
func queueChecked(q *questions, site string, pairs []revisions.Pair,
	outcomes map[validations.Pair][]validations.Finding,
) {
	contents, names := make([]document.Digest, len(pairs)), make([]validations.Pair, len(pairs))
	for i, pair := range pairs {
		contents[i], names[i] = pair.Content, pair.Name()
	}
	scan := func(rows pgx.Rows) error { return scanChecks(rows, outcomes) }
	q.ask(scan, stmt.ChecksByContent, named{
		"site": site, "contents": digestArray(contents), "pairs": digestArray(names),
	})
	q.ask(scan, stmt.ChecksByPair, named{"site": site, "pairs": digestArray(names)})
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
	return err
}

// Failures implements queries.Store.
func (s *Store) Failures(ctx context.Context, of revisions.Revision, query queries.EntryQuery) (
	[]revisions.Failure, error,
) {
	return collectOf(ctx, s, of, func(row pgx.CollectableRow) (f revisions.Failure, err error) {
		err = row.Scan(&f.Entry, &f.Document, (*nullDigest)(&f.Rule.Schema), (*nullDigest)(&f.Rule.Context), nil)
		return f, err
	}, stmt.Failures, s.entryArguments(of.ID, query))
}

// FailedEntries implements queries.Store.
func (s *Store) FailedEntries(ctx context.Context, of revisions.Revision, query queries.EntryQuery) (
	[]revisions.FailedEntry, error,
) {
	return collectOf(ctx, s, of, s.scanEntry, stmt.FailedEntries, s.entryArguments(of.ID, query))
}

// Strays implements queries.Store.
func (s *Store) Strays(ctx context.Context, of revisions.Revision, document string, limit int, cleartext bool) (
	[]revisions.FailedEntry, error,
) {
	return collectOf(ctx, s, of, s.scanEntry, stmt.StrayEntries, named{
		"site": s.site, "revision": of.ID, "limit": limit, "cleartext": cleartext,
		"document": document, "names": namesIn(document),
	})
}

// scanEntry reads an entry with its document.
func (s *Store) scanEntry(row pgx.CollectableRow) (f revisions.FailedEntry, err error) {
	var notes []byte
	f.About, err = s.scanDocument(prefixed(row, &f.Entry, (*nullDigest)(&f.Rule.Schema), (*nullDigest)(&f.Rule.Context),
		&notes))
	if err != nil {
		return f, err
	}
	f.Document = f.About.ID
	if notes != nil {
		if err := json.Unmarshal(notes, &f.Notes); err != nil {
			return f, fmt.Errorf("read the notes of %s: %w", f.About.Identity, err)
		}
	}
	return f, nil
}

// queueChecks adds the outcomes that are not recorded with their content.
func (s *Store) queueChecks(batch *pgx.Batch, checks []revisions.Check, recorded map[revisions.Pair]bool) error {
	var pairs []validations.Pair
	var findings [][]byte // nil for none
	for _, check := range checks {
		if recorded[check.Pair] {
			continue
		}
		text, err := jsonOf(check.Findings)
		if err != nil {
			return fmt.Errorf("write findings: %w", err)
		}
		pairs, findings = append(pairs, check.Name()), append(findings, text)
	}
	if len(pairs) > 0 {
		batch.Queue(stmt.InsertChecks, named{"site": s.site, "pairs": digestArray(pairs), "findings": findings})
	}
	return nil
}

// jsonOf returns a list as JSON, nil if it is empty.
func jsonOf[T any](list []T) ([]byte, error) {
	if len(list) == 0 {
		return nil, nil
	}
	return json.Marshal(list) //nolint:wrapcheck // the caller names the list
}

func (s *Store) queueFailures(batch *pgx.Batch, commit revisions.Commit) error {
	failures := commit.Failures
	notes := make([][]byte, len(failures))
	for i, failure := range failures {
		var err error
		if notes[i], err = jsonOf(failure.Notes); err != nil {
			return fmt.Errorf("write notes: %w", err)
		}
	}
	batch.Queue(stmt.InsertEntries, named{
		"site": s.site, "revision": commit.Revision.ID, "notes": notes,
		"entries":   column(failures, func(f revisions.Failure) int { return f.Entry }),
		"documents": column(failures, func(f revisions.Failure) int64 { return f.Document }),
		"rules":     column(failures, func(f revisions.Failure) nullDigest { return nullDigest(f.Rule.Schema) }),
		"versions":  column(failures, func(f revisions.Failure) nullDigest { return nullDigest(f.Rule.Context) }),
		"secret":    column(failures, func(f revisions.Failure) bool { return f.Secret }),
	})
	return nil
}

// queueViolations ends violations before it begins others of the same documents.
func (s *Store) queueViolations(batch *pgx.Batch, commit revisions.Commit) {
	documentOf := func(v revisions.Violation) int64 { return v.Document }
	if ended := commit.Ended; len(ended) > 0 {
		batch.Queue(stmt.EndViolations, named{
			"site": s.site, "until": commit.Revision.ID, "documents": column(ended, documentOf),
			"forks": column(ended, func(v revisions.Violation) int64 { return fork(v.Since, commit.Revision.ID) }),
		})
	}
	if begun := commit.Begun; len(begun) > 0 {
		batch.Queue(stmt.InsertViolations, named{
			"site": s.site, "since": commit.Revision.ID, "documents": column(begun, documentOf),
			"rules":    column(begun, func(v revisions.Violation) nullDigest { return nullDigest(v.Rule.Schema) }),
			"versions": column(begun, func(v revisions.Violation) nullDigest { return nullDigest(v.Rule.Context) }),
			"secret":   column(begun, func(v revisions.Violation) bool { return v.Secret }),
		})
	}
}
