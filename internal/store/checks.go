package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"purser/internal/document"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/validations"
)

const (
	// checksByContent selects the checks that contents passed when they were stored.
	checksByContent = `SELECT c.passed, NULL::text FROM contents c
		JOIN unnest($2::bytea[], $3::bytea[]) AS k (content, pair) ON c.digest = k.content AND c.passed = k.pair
		WHERE c.site = $1`

	checksByPair = `SELECT pair, findings FROM checks WHERE site = $1 AND pair = ANY($2)`

	// violationsOf selects the violations in revision $2; $7 and $8 are its ancestors in the interval tree.
	violationsOf = `SELECT v.document, v.rule, v.client_versions, v.secret FROM violations v
			WHERE v.site = $1 AND v.until IS NULL AND v.since <= $2
		UNION ALL
		SELECT v.document, v.rule, v.client_versions, v.secret FROM unnest($7::bigint[]) n CROSS JOIN LATERAL (
			SELECT v.document, v.rule, v.client_versions, v.secret FROM violations v
			WHERE v.site = $1 AND v.until IS NOT NULL AND v.fork = n AND v.until > $2 OFFSET 0) v
		UNION ALL
		SELECT v.document, v.rule, v.client_versions, v.secret FROM unnest($8::bigint[]) n CROSS JOIN LATERAL (
			SELECT v.document, v.rule, v.client_versions, v.secret FROM violations v
			WHERE v.site = $1 AND v.until IS NOT NULL AND v.fork = n AND v.since <= $2 OFFSET 0) v`

	// failuresOf selects the entries of revision $2 from $3 to before $4, $6 at most; without those that only have notes
	// if $5 is true, and without failures that depend on secrets if $9 is true. After the stored entries come the
	// violations of other documents, if any are asked for, at the end those that depend on secrets. The columns of both
	// have the same types: only then are the conditions used to read entries by index.
	failuresOf = `SELECT e.entry, e.document, CASE WHEN e.secret AND $9 THEN NULL ELSE e.rule END AS rule,
			CASE WHEN e.secret AND $9 THEN NULL ELSE e.client_versions END AS client_versions, e.notes FROM (
			SELECT f.entry, f.document, f.rule, f.client_versions, f.notes, f.secret FROM entries f
			WHERE f.site = $1 AND f.revision = $2
			UNION ALL
			SELECT (r.entries - r.outside + row_number() OVER (ORDER BY v.secret, v.document) - 1)::integer,
				v.document, v.rule, v.client_versions, NULL, v.secret
			FROM revisions r CROSS JOIN LATERAL (` + violationsOf + `) v
			WHERE r.site = $1 AND r.revision = $2 AND r.outside > 0 AND ($4::bigint = 0 OR $4 > r.entries - r.outside)
				AND v.document NOT IN (SELECT f.document FROM entries f WHERE f.site = $1 AND f.revision = $2)) e
		WHERE e.entry >= $3::bigint AND ($4::bigint = 0 OR e.entry < $4) AND (e.rule IS NOT NULL OR NOT $5)
			AND NOT ($9 AND e.secret AND ($5 OR e.notes IS NULL))
		ORDER BY e.entry LIMIT nullif($6, 0)`

	failedEntries = `SELECT f.entry, f.rule, f.client_versions, f.notes, ` + documentColumns + `, c.body, c.sealed
		FROM (` + failuresOf + `) f
		CROSS JOIN LATERAL (` + selectVersion + ` FROM documents d WHERE d.site = $1 AND d.id = f.document OFFSET 0) d
		CROSS JOIN LATERAL (SELECT body, sealed FROM contents WHERE site = $1 AND digest = d.content OFFSET 0) c
		ORDER BY f.entry`

	// strayEntries selects the first $3 entries of revision $2 with notes about stray keys, without contents; if $4, those
	// of encrypted documents are left out.
	strayEntries = `SELECT f.entry, f.rule, f.client_versions, f.notes, ` + documentColumns + `, NULL::bytea, NULL::bytea
		FROM entries f
		CROSS JOIN LATERAL (` + selectVersion + ` FROM documents d
			WHERE d.site = $1 AND d.id = f.document AND NOT (d.encrypted AND $4) OFFSET 0) d
		WHERE f.site = $1 AND f.revision = $2 AND f.notes LIKE '%"level":"Warning"%' ORDER BY f.entry LIMIT $3`

	insertChecks = `INSERT INTO checks (site, pair, findings)
		SELECT $1, * FROM unnest($2::bytea[], $3::text[]) ON CONFLICT DO NOTHING`

	insertEntries = `INSERT INTO entries (site, revision, entry, document, rule, client_versions, notes, secret)
		SELECT $1, $2, * FROM unnest($3::integer[], $4::bigint[], $5::bytea[], $6::bytea[], $7::text[], $8::boolean[])`

	insertViolations = `INSERT INTO violations (site, since, document, rule, client_versions, secret)
		SELECT $1, $2, * FROM unnest($3::bigint[], $4::bytea[], $5::bytea[], $6::boolean[])`

	endViolations = `UPDATE violations v SET until = $2, fork = n.fork
		FROM unnest($3::bigint[], $4::bigint[]) AS n (id, fork)
		WHERE v.site = $1 AND v.document = n.id AND v.until IS NULL`
)

// entryArguments returns the arguments of failuresOf after the site and the revision.
func entryArguments(revision int64, query queries.EntryQuery) []any {
	before, after := ancestors(revision)
	return []any{query.From, query.To, query.FailuresOnly, query.Limit, before, after, query.Open}
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
	q.ask(scan, checksByContent, site, digestArray(contents), digestArray(names))
	q.ask(scan, checksByPair, site, digestArray(names))
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
		err = row.Scan(&f.Entry, &f.Document, intoDigest(&f.Rule.Schema), intoDigest(&f.Rule.Context), nil)
		return f, err
	}, failuresOf, entryArguments(of.ID, query)...)
}

// FailedEntries implements queries.Store.
func (s *Store) FailedEntries(ctx context.Context, of revisions.Revision, query queries.EntryQuery) (
	[]revisions.FailedEntry, error,
) {
	return collectOf(ctx, s, of, s.scanEntry, failedEntries, entryArguments(of.ID, query)...)
}

// Strays implements queries.Store.
func (s *Store) Strays(ctx context.Context, of revisions.Revision, limit int, cleartext bool) (
	[]revisions.FailedEntry, error,
) {
	return collectOf(ctx, s, of, s.scanEntry, strayEntries, limit, cleartext)
}

// scanEntry reads an entry with its document.
func (s *Store) scanEntry(row pgx.CollectableRow) (f revisions.FailedEntry, err error) {
	var notes []byte
	f.About, err = s.scanDocument(prefixed(row, &f.Entry, intoDigest(&f.Rule.Schema),
		intoDigest(&f.Rule.Context), &notes))
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
	var findings []*string
	for _, check := range checks {
		if recorded[check.Pair] {
			continue
		}
		var text *string
		if len(check.Findings) > 0 {
			json, err := json.Marshal(check.Findings)
			if err != nil {
				return fmt.Errorf("write findings: %w", err)
			}
			text = new(string(json))
		}
		pairs, findings = append(pairs, check.Name()), append(findings, text)
	}
	if len(pairs) > 0 {
		batch.Queue(insertChecks, s.site, digestArray(pairs), findings)
	}
	return nil
}

func (s *Store) queueFailures(batch *pgx.Batch, commit revisions.Commit) error {
	n := len(commit.Failures)
	entries, documents := make([]int32, n), make([]int64, n)
	rules, versions := make([][]byte, n), make([][]byte, n)
	notes, secret := make([]*string, n), make([]bool, n)
	for i, failure := range commit.Failures {
		entries[i], documents[i] = int32(failure.Entry), failure.Document //nolint:gosec // bounded by the documents of a body
		secret[i] = failure.Secret
		rules[i], versions[i] = orNull(failure.Rule.Schema), orNull(failure.Rule.Context)
		if len(failure.Notes) > 0 {
			text, err := json.Marshal(failure.Notes)
			if err != nil {
				return fmt.Errorf("write notes: %w", err)
			}
			notes[i] = new(string(text))
		}
	}
	batch.Queue(insertEntries, s.site, commit.Revision.ID, entries, documents, rules, versions, notes, secret)
	return nil
}

// queueViolations ends violations before it begins others of the same documents.
func (s *Store) queueViolations(batch *pgx.Batch, commit revisions.Commit) {
	if ended := commit.Ended; len(ended) > 0 {
		ids, forks := make([]int64, len(ended)), make([]int64, len(ended))
		for i, violation := range ended {
			ids[i], forks[i] = violation.Document, fork(violation.Since, commit.Revision.ID)
		}
		batch.Queue(endViolations, s.site, commit.Revision.ID, ids, forks)
	}
	if begun := commit.Begun; len(begun) > 0 {
		ids, rules, versions := make([]int64, len(begun)), make([][]byte, len(begun)), make([][]byte, len(begun))
		secret := make([]bool, len(begun))
		for i, violation := range begun {
			ids[i], rules[i], secret[i] = violation.Document, violation.Rule.Schema[:], violation.Secret
			versions[i] = orNull(violation.Rule.Context)
		}
		batch.Queue(insertViolations, s.site, commit.Revision.ID, ids, rules, versions, secret)
	}
}
