package changes

import (
	"context"
	"maps"
	"slices"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// BeginToFail are documents that fail after a change, and do not fail in the newest revision, as its viewer sees them.
type BeginToFail struct {
	Documents []*revisions.Stored // by bucket and identity; of one that is not known, the identity
	More      bool                // there may be others: not all failures are listed
}

// failingSet are documents that fail.
type failingSet struct {
	documents map[document.Identity]bool
	more      bool // there may be others
}

// beginToFail returns the documents that begin to fail with a change. checked are the entries of the schema validation
// after it. The validations of the whole revision are repeated for the newest one, as far as they fail after it and
// counted before it.
func (s *Service) beginToFail(ctx context.Context, p proposal, checked []CheckedDocument) (
	begin BeginToFail, err error,
) {
	if !p.diff.Changes {
		return begin, nil
	}
	v := s.newValidator(p.options)
	failed := failedBefore(p.snapshot, v.Withhold)
	begun := map[document.Identity]bool{}
	for _, of := range checked {
		if !of.Rule.IsZero() && !failed[of.About.Identity] {
			begun[of.About.Identity] = true
		}
	}
	for _, result := range p.judgement.Results {
		of, err := v.begunIn(ctx, p.snapshot, result, failed)
		if err != nil {
			return begin, err
		}
		maps.Copy(begun, of.documents)
		begin.More = begin.More || of.more
	}
	known := map[document.Identity]*revisions.Stored{}
	for _, doc := range slices.Concat(p.diff.After(p.snapshot.Documents), p.snapshot.Failing, p.diff.Added) {
		known[doc.Identity] = doc
	}
	for id := range begun {
		doc := known[id]
		if doc == nil {
			doc = &revisions.Stored{Document: &document.Document{Identity: id}}
		}
		begin.Documents = append(begin.Documents, doc)
	}
	slices.SortFunc(begin.Documents, revisions.ByBucket)
	return begin, nil
}

// begunIn returns the documents that begin to fail a validation of the whole revision, given its result after the
// change and the documents that fail the schema validation before it.
func (v Validator) begunIn(ctx context.Context, snapshot revisions.Snapshot, result RevisionResult,
	failed map[document.Identity]bool,
) (failingSet, error) {
	after := failingIn(result)
	maps.DeleteFunc(after.documents, func(id document.Identity, _ bool) bool { return failed[id] })
	if len(after.documents) == 0 {
		return after, nil
	}
	before, err := v.failingBefore(ctx, snapshot, result.Name)
	if err != nil {
		return failingSet{}, err
	}
	if before.more { // each of them may be among those that are not listed
		return failingSet{more: true}, nil
	}
	maps.DeleteFunc(after.documents, func(id document.Identity, _ bool) bool { return before.documents[id] })
	return after, nil
}

// failedBefore returns the documents that fail the schema validation of the newest revision, without those that do so
// because of a secret if these are withheld.
func failedBefore(snapshot revisions.Snapshot, withhold bool) map[document.Identity]bool {
	secret := map[int64]bool{}
	for _, violation := range snapshot.Violations {
		secret[violation.Document] = violation.Secret
	}
	failed := map[document.Identity]bool{}
	for _, doc := range snapshot.Failing {
		if !withhold || !secret[doc.ID] {
			failed[doc.Identity] = true
		}
	}
	return failed
}

// failingBefore returns the documents that fail a validation of the newest revision, none if the validation did not
// count.
func (v Validator) failingBefore(ctx context.Context, snapshot revisions.Snapshot, name string) (failingSet, error) {
	v.Renderer = v.bringing(nil)
	policies := revisions.InForce(snapshot.Policies, snapshot.Revision)
	if snapshot.Revision == 0 || !slices.Contains(v.required(policies), name) {
		return failingSet{}, nil
	}
	result, _, err := v.ValidateRevision(ctx, name, snapshot.Revision, snapshot.Documents, snapshot.Fallback)
	if err != nil {
		return failingSet{}, err
	}
	if v.Withhold {
		result.Messages = slices.DeleteFunc(slices.Clone(result.Messages), isSecret)
	}
	return failingIn(result), nil
}

// failingIn returns the documents that a result is a failure for: those that its messages are about.
func failingIn(result RevisionResult) failingSet {
	set := failingSet{documents: map[document.Identity]bool{}}
	for _, message := range result.Messages {
		about := message.Documents[:min(len(message.Documents), 1)] // the others have a part in it
		if result.Name == validations.CoverageValidation {
			about = message.Documents
			set.more = set.more || len(about) == maxUncovered
		}
		for _, doc := range about {
			set.documents[IdentityOf(doc)] = true
		}
		set.more = set.more || message.Unlisted > 0
	}
	return set
}

// IdentityOf returns the identity of a document that a message names.
func IdentityOf(doc fault.Document) document.Identity {
	return document.Identity{Schema: doc.Schema, Layer: doc.Layer, Name: doc.Name}
}
