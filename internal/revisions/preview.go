package revisions

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"purser/internal/document"
	"purser/internal/validations"
)

// Preview is what a change would do.
type Preview struct {
	Shown // the newest revision as it would be afterwards

	Changed   bool // whether that is a new one
	Buckets   []BucketDifference
	Documents []DocumentDifference
	Findings  []Finding
	// Results are those of the internal validations that policies ask for beyond that of the schemas.
	Results []validations.Result
}

// Finding is a document of the revision that its schema validation finds fault with, or has a note about.
type Finding struct {
	document.Identity

	Bucket string
	Failed bool
	Errors []json.RawMessage
}

// rehearse works out all of a change and stores nothing.
func (s *Service) rehearse(ctx context.Context, d draft, kind Kind, terms Terms) (Written, error) {
	change, worth, err := s.judged(ctx, d, kind, terms)
	if err != nil {
		return Written{}, err
	}
	preview := &Preview{
		Changed: worth, Documents: documentDifferences(change.Removed, change.Added), Results: change.Results,
	}
	if preview.Buckets, err = s.previewBuckets(ctx, &change); err != nil {
		return Written{}, err
	}
	if preview.Shown, err = s.previewVerdict(ctx, &change, worth); err != nil {
		return Written{}, err
	}
	if preview.Findings, err = s.previewFindings(ctx, &change); err != nil {
		return Written{}, err
	}
	now, err := s.Store.Buckets(ctx, nil)
	switch {
	case err != nil:
		return Written{}, fmt.Errorf("look whether the site has changed: %w", err)
	case now.Head != change.Against.Head: // what was read is not of one moment
		return Written{}, ErrMoved
	}
	return Written{Revision: change.Against.Revision, Epoch: change.Against.Epoch, Preview: preview}, nil
}

func (s *Service) previewBuckets(ctx context.Context, change *Change) ([]BucketDifference, error) {
	before, err := s.Store.Occupied(ctx, change.Against.Revision)
	if err != nil {
		return nil, fmt.Errorf("find the buckets: %w", err)
	}
	slices.Sort(change.Emptied)
	after := slices.DeleteFunc(slices.Concat(before, change.Opened), func(bucket string) bool {
		_, emptied := slices.BinarySearch(change.Emptied, bucket)
		return emptied
	})
	slices.Sort(after)
	return bucketDifferences(before, after, change.Removed, change.Added), nil
}

// previewVerdict weighs the new revision, about which nobody can have reported anything yet.
func (s *Service) previewVerdict(ctx context.Context, change *Change, worth bool) (Shown, error) {
	standing, err := s.Store.Standing(ctx, []int64{change.Against.Revision})
	switch {
	case err != nil:
		return Shown{}, fmt.Errorf("read the newest revision: %w", err)
	case !worth && len(standing.Revisions) == 0:
		return Shown{}, nil
	case !worth:
		return s.weighed(standing)[0], nil
	}
	policies := policiesAfter(change, standing) //nolint:contextcheck // a policy has a budget of its own
	verdict := s.verdict(policies, change.Revision, outcomesOf(change.Results), s.Now())
	return Shown{change.Revision, verdict, change.Against.Epoch}, nil
}

// outcomesOf are what results say to a verdict.
func outcomesOf(results []validations.Result) (outcomes []validations.Outcome) {
	for _, result := range results {
		outcomes = append(outcomes, validations.OutcomeOf(result))
	}
	return outcomes
}

// policiesAfter are the ValidationPolicies in force once a change of the newest revision is made.
func policiesAfter(change *Change, newest Standing) []validations.Policy {
	removed := map[document.Identity]bool{}
	for _, doc := range change.Removed {
		removed[doc.Identity] = true
	}
	versions := slices.DeleteFunc(newest.Policies, func(v PolicyVersion) bool { return removed[v.Identity] })
	for _, doc := range change.Added {
		if isPolicy(doc) {
			policy := validations.ParsePolicy(doc.Identity, doc.Data)
			versions = append(versions, PolicyVersion{Policy: policy, Place: doc.Place})
		}
	}
	slices.SortFunc(versions, func(a, b PolicyVersion) int { return cmp.Compare(a.Place, b.Place) })
	var policies []validations.Policy
	for _, version := range versions {
		policies = append(policies, version.Policy)
	}
	return policies
}

// previewFindings words the entries of the change's schema validation that are no plain success.
func (s *Service) previewFindings(ctx context.Context, change *Change) ([]Finding, error) {
	about, err := s.subjectsOf(ctx, change)
	if err != nil {
		return nil, err
	}
	var rows []FailedEntry
	for _, failure := range change.Failures {
		if doc := about[failure.Document]; doc != nil {
			rows = append(rows, FailedEntry{failure, doc})
		}
	}
	worded, err := s.word(ctx, rows, change, true)
	if err != nil {
		return nil, err
	}
	findings := make([]Finding, len(rows))
	for i, row := range rows {
		findings[i] = Finding{
			Identity: row.About.Identity, Bucket: row.About.Bucket, Failed: !row.Rule.IsZero(),
			Errors: worded[i].errors,
		}
	}
	return findings, nil
}

// subjectsOf finds the documents that a change's failures are about, by id.
func (s *Service) subjectsOf(ctx context.Context, change *Change) (map[int64]*Stored, error) {
	about := map[int64]*Stored{}
	for _, doc := range slices.Concat(change.Result, change.Added) {
		about[doc.ID] = doc
	}
	var elsewhere []int64
	for _, failure := range change.Failures {
		if about[failure.Document] == nil {
			elsewhere = append(elsewhere, failure.Document)
		}
	}
	if len(elsewhere) == 0 {
		return about, nil
	}
	versions, err := s.Store.Versions(ctx, elsewhere)
	if err != nil {
		return nil, fmt.Errorf("read the documents that fail: %w", err)
	}
	for _, doc := range versions {
		about[doc.ID] = doc
	}
	return about, nil
}
