package store

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"purser/internal/document"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// evidenceRows is evidence with policies that are not yet parsed.
type evidenceRows struct {
	queries.Evidence

	policies []policyRow
}

// askEvidence asks for the rows of evidence, which are complete once all queries have been answered. It is about the
// revisions with numbers, or else the newest one with a tag, or else the newest one. Outcomes have their validators
// only if these are asked for.
func (s *Store) askEvidence(ask func(do func(pgx.Rows) error, sql string, args ...any), numbers []int64, tag *string,
	validators bool,
) *evidenceRows {
	found := &evidenceRows{Evidence: queries.Evidence{Known: map[int64]validations.Known{}}}
	args := named{"site": s.site, "numbers": numbers, "tag": tag}
	ask(into(&found.Revisions, func(row pgx.CollectableRow) (r revisions.Revision, err error) {
		var tags []string
		r, err = scanRevision(prefixed(row, &found.Now, &tags))
		r.Tags = tags
		return r, err
	}), stmt.RevisionsAbout, args)
	ask(into(&found.policies, scanPolicy), stmt.PoliciesAbout, args)
	s.askKnown(ask, found.Known, numbers, tag, validators)
	return found
}

// askKnown asks for what is known about the validations of the revisions of askEvidence, without votes.
func (s *Store) askKnown(ask func(do func(pgx.Rows) error, sql string, args ...any), known map[int64]validations.Known,
	numbers []int64, tag *string, validators bool,
) {
	ask(func(rows pgx.Rows) error { return scanOutcomes(rows, known) }, stmt.OutcomesAbout, named{
		"site": s.site, "numbers": numbers, "tag": tag, "validators": validators,
	})
	if !s.compat {
		ask(func(rows pgx.Rows) error { return scanStanding(rows, known) }, stmt.StandingAbout, named{
			"site": s.site, "numbers": numbers, "tag": tag,
		})
	}
}

// withVotes reads the votes on validations that need approvals, by the policies of the evidence, which must be parsed.
// Most sites have none.
func (s *Store) withVotes(evidence queries.Evidence, read reader) error {
	names := validations.Voted(revisions.Parsed(evidence.Policies))
	if len(names) == 0 {
		return nil
	}
	numbers := column(evidence.Revisions, func(r revisions.Revision) int64 { return r.ID })
	return read(func(rows pgx.Rows) error { return scanVotes(rows, evidence.Known) }, stmt.VotesAbout, named{
		"site": s.site, "numbers": numbers, "names": names,
	})
}

// reader performs one query.
type reader func(do func(pgx.Rows) error, sql string, args ...any) error

// readingAlone returns a reader that performs queries of their own.
func (s *Store) readingAlone(ctx context.Context) reader {
	return func(do func(pgx.Rows) error, sql string, args ...any) error {
		_, err := s.inSnapshot(ctx, reserved, func(q *questions) { q.ask(do, sql, args...) })
		return err
	}
}

// readingIn returns a reader for a transaction.
func readingIn(ctx context.Context, tx pgx.Tx) reader {
	return func(do func(pgx.Rows) error, sql string, args ...any) error {
		batch := &pgx.Batch{}
		batch.Queue(sql, args...).Query(do)
		return tx.SendBatch(ctx, batch).Close()
	}
}

// Evidence implements queries.Store.
func (s *Store) Evidence(ctx context.Context, numbers []int64) (queries.Evidence, error) {
	var found *evidenceRows
	_, err := s.inSnapshot(ctx, reserved, func(q *questions) {
		found = s.askEvidence(q.ask, orEmpty(numbers), nil, false)
	})
	if err != nil {
		return queries.Evidence{}, err
	}
	return s.complete(ctx, *found)
}

// complete returns evidence with its policies and votes.
func (s *Store) complete(ctx context.Context, rows evidenceRows) (evidence queries.Evidence, err error) {
	evidence = rows.Evidence
	if evidence.Policies, err = s.parsePolicies(ctx, rows.policies); err != nil {
		return evidence, err
	}
	return evidence, s.withVotes(evidence, s.readingAlone(ctx))
}

// evidenceIn is Evidence in a transaction.
func (s *Store) evidenceIn(ctx context.Context, tx pgx.Tx, numbers []int64) (evidence queries.Evidence, err error) {
	batch := &pgx.Batch{}
	found := s.askEvidence(func(do func(pgx.Rows) error, sql string, args ...any) {
		batch.Queue(sql, args...).Query(do)
	}, numbers, nil, false)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return evidence, err
	}
	evidence = found.Evidence
	evidence.Policies, err = s.parsedFrom(found.policies, func(digests []document.Digest) (
		map[document.Digest][]byte, error,
	) {
		return s.contentsIn(ctx, tx, digests) // there may be no other connection
	})
	if err != nil {
		return evidence, err
	}
	return evidence, s.withVotes(evidence, readingIn(ctx, tx))
}

// knownEvidence is evidence, and the state of the site in which it was read.
type knownEvidence struct {
	evidenceRows

	state string
}

// size estimates the memory of the evidence in bytes.
func (k knownEvidence) size() int {
	const perRevision, perPolicy, perBucket = 512, 384, 64
	size := 0
	for _, r := range k.Revisions {
		size += perRevision + len(r.User) + len(r.Message) + len(r.Source)
		for _, word := range slices.Concat(r.Buckets, r.Tags) {
			size += perBucket + len(word)
		}
		size += sizeOfKnown(k.Known[r.ID])
	}
	for _, policy := range k.policies {
		size += perPolicy + len(policy.key.Schema) + len(policy.key.Layer) + len(policy.key.Name)
	}
	return size
}

// sizeOfKnown estimates the memory of what is known about validations in bytes.
func sizeOfKnown(known validations.Known) (size int) {
	const each = 256
	for _, outcome := range known.Outcomes {
		size += each + len(outcome.Name) + len(outcome.Message) + len(outcome.Validator) + len(outcome.Inputs) +
			len(outcome.URL) + len(outcome.User)
	}
	for _, waiver := range known.Waivers {
		size += each + len(waiver.Validation) + len(waiver.By) + len(waiver.Reason)
	}
	for name, claim := range known.Claims {
		size += each + len(name) + len(claim.Worker)
	}
	for name, votes := range known.Votes {
		size += len(name)
		for _, vote := range votes {
			size += each + len(vote.User) + len(vote.Message)
		}
	}
	return size
}

// EvidenceOf implements queries.Store. What was read in the present state of the site is not read again.
func (s *Store) EvidenceOf(ctx context.Context, name queries.Name) (_ queries.Evidence, err error) {
	known, fresh := s.evidence.Get(evidenceKey{s.site, name})
	if fresh {
		var now time.Time
		var state string
		now, state, err = s.state(ctx)
		if err != nil {
			return queries.Evidence{}, err
		}
		known.Now, fresh = now, state == known.state
	}
	if !fresh {
		return s.readEvidenceOf(ctx, name)
	}
	known.Policies, err = s.parsePolicies(ctx, known.policies)
	return known.Evidence, err
}

// state returns the time and the state of the site, which is empty while events wait to be numbered.
func (s *Store) state(ctx context.Context) (now time.Time, state string, err error) {
	_, err = s.read(ctx, reserved, func(ctx context.Context, _ *reading) error {
		return s.pool.QueryRow(ctx, stmt.SiteState, named{"site": s.site}).Scan(&now, &state)
	})
	return now, state, err
}

// readEvidenceOf reads the evidence about the revision with a name, and keeps it if no events wait to be numbered.
func (s *Store) readEvidenceOf(ctx context.Context, name queries.Name) (queries.Evidence, error) {
	var known knownEvidence
	var numbers []int64
	var tag *string
	switch {
	case name.Number != 0:
		numbers = []int64{name.Number}
	case name.ByTag:
		tag = &name.Tag
	}
	var found *evidenceRows
	_, err := s.inSnapshot(ctx, reserved, func(q *questions) {
		found = s.askEvidence(q.ask, numbers, tag, name.Validators)
		q.askRow([]any{&found.Now, &known.state}, stmt.SiteState, named{"site": s.site})
	})
	if err != nil {
		return queries.Evidence{}, err
	}
	evidence, err := s.complete(ctx, *found)
	if err != nil {
		return queries.Evidence{}, err
	}
	known.evidenceRows = *found
	switch {
	case known.state == "":
		s.announce() // the server that made the changes may have ended before it numbered their events
	case len(known.Revisions) > 0:
		s.evidence.Add(evidenceKey{s.site, name}, known, known.size()+len(name.Tag))
	}
	return evidence, nil
}

// Every verdict and every change needs the policies, which rarely change. They are selected without their contents;
// contents are read only of policies that are not cached.

// policyKey identifies a parsed policy: a document of a site, and the digest of its content.
type policyKey struct {
	site string
	document.Identity

	content document.Digest
}

// policyRow is a policy before it is parsed.
type policyRow struct {
	revisions.PolicyVersion

	key policyKey
}

func scanPolicy(row pgx.CollectableRow) (p policyRow, err error) {
	id := &p.key.Identity
	err = row.Scan(&p.Place, &p.Since, &p.Until, &id.Schema, &id.Layer, &id.Name, (*nullDigest)(&p.key.content))
	return p, err
}

// keyOf returns the key of a policy of the site. It leaves the row as it is: rows are shared.
func (s *Store) keyOf(row policyRow) policyKey {
	row.key.site = s.site
	return row.key
}

// parsePolicies returns policies. It reads the contents of uncached ones.
func (s *Store) parsePolicies(ctx context.Context, rows []policyRow) (policies []revisions.PolicyVersion, err error) {
	return s.parsedFrom(rows, func(digests []document.Digest) (map[document.Digest][]byte, error) {
		return s.readContents(ctx, reserved, digests)
	})
}

// parsedFrom is parsePolicies with a function that reads contents.
func (s *Store) parsedFrom(rows []policyRow,
	read func([]document.Digest) (map[document.Digest][]byte, error),
) (policies []revisions.PolicyVersion, err error) {
	unknown := map[document.Digest]bool{}
	for _, row := range rows {
		version := row.PolicyVersion
		var known bool
		if version.Policy, known = s.policies.Get(s.keyOf(row)); !known {
			unknown[row.key.content] = true
		}
		policies = append(policies, version)
	}
	texts := map[document.Digest][]byte{}
	if len(unknown) > 0 {
		if texts, err = read(slices.Collect(maps.Keys(unknown))); err != nil {
			return nil, err
		}
	}
	for i, row := range rows {
		if text, read := texts[row.key.content]; read {
			const perByte, overhead = 4, 1024 // of a policy in memory: a requirement of 20 bytes takes 70
			policies[i].Policy = validations.ParsePolicy(row.key.Identity, text, s.compat)
			s.policies.Add(s.keyOf(row), policies[i].Policy, overhead+perByte*len(text))
		}
	}
	if len(texts) < len(unknown) {
		return nil,
			Unavailable("A policy was deleted while it was being read; nothing was stored, send the request again").Unstored()
	}
	return policies, nil
}
