package store

import (
	"context"

	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// Setting returns a setting of the sessions of a store.
func (s *Store) Setting(ctx context.Context, name string) (value string, err error) {
	err = s.pool.QueryRow(ctx, "SELECT current_setting($1)", name).Scan(&value)
	return value, err
}

// LiveVersions is the statement that each change reads the client versions with.
const LiveVersions = liveVersions

// FailuresOf is the statement that reads entries of a revision.
const FailuresOf = failuresOf

// LiveOfKinds is the statement that reads the documents of changed DataSchemas.
const LiveOfKinds = liveOfKinds

// BoundariesOf is the statement that reads a page of a document's history.
const BoundariesOf = allBoundaries

// SelectionOf returns the statement that reads the documents of a revision that a selection asks for, and its arguments.
func (s *Store) SelectionOf(revision int64, selection queries.Selection) (sql string, args []any) {
	q := s.ofRevision(revision, selection)
	return q.sql.String(), q.args
}

// RecentKinds is the statement that counts the documents of a recent revision by schema.
const RecentKinds = recentKinds

// AllKinds is Kinds by reading all documents.
func (s *Store) AllKinds(ctx context.Context, revision int64, cleartext bool) (
	documents map[string]validations.Kind, registered []string, err error,
) {
	q := allKinds(s.site, revision, cleartext)
	found, err := s.collectKinds(ctx, q.sql.String(), q.args...)
	return found.documents, found.registered, err
}

// RangesOf returns the ranges of schemas that filters are looked up by.
func RangesOf(filters ...string) (from, to []string) { return rangesOf(filters) }

// AddResults adds results in one group, as AddResult does with concurrent ones. It returns the stamps of their
// revisions, and their errors.
func (s *Store) AddResults(ctx context.Context, about []revisions.About, results []validations.Result) (
	stamps []revisions.Stamp, errs []error, err error,
) {
	posts := make([]post, len(results))
	for i, result := range results {
		posts[i] = postOf(about[i], result)
	}
	done, err := s.addResults(ctx, posts)
	for _, one := range done {
		stamps, errs = append(stamps, one.stamp), append(errs, one.rejected)
	}
	return stamps, errs, err
}

// WorstResults is the statement of Source.WorstResults.
const WorstResults = worstResults

// ReportedOf is the statement of Source.Reported.
const ReportedOf = reportedOf

// RevisionsOf and OutcomesOf are statements of Source.Evidence.
var RevisionsOf, OutcomesOf = byNumbers.revisions, byNumbers.outcomes

// The statements that read the policies in force now, and in any of some revisions.
const (
	LivePolicies = livePolicies
	PoliciesOf   = policiesOf
)

// MaxLocked is how many rows a step of a prune may delete while it holds the site's counters.
const MaxLocked = maxLocked

// AfterStep has f called after each transaction of a prune, with the number of rows that it deleted while it held the
// site's counters. An error ends the prune, as if the server were killed.
func (s *Store) AfterStep(f func(locked int) error) { s.stepped = f }

// SplitSuccesses returns the bits of successes of a new revision, and the other results.
func SplitSuccesses(results []validations.Result) (bits int16, others []validations.Result) {
	return splitSuccesses(results)
}
