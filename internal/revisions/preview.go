package revisions

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"purser/internal/document"
	"purser/internal/validations"
)

// Preview describes the revision that a change would make.
type Preview struct {
	Shown // the newest revision as it would be afterwards

	Changed   bool // that is a new one
	Buckets   []BucketDifference
	Documents []DocumentDifference
	Findings  []Finding
	// Results are the outcomes of the validations of the whole revision that policies require.
	Results []validations.Result
}

// Finding is a document of the revision that its schema validation has a failure or a note about.
type Finding struct {
	document.Identity

	Bucket string
	Failed bool
	Errors []json.RawMessage
}

// previewNeed returns what describing the failures of a snapshot needs.
func previewNeed(snapshot Snapshot) Need {
	need := Need{Kinds: kinds(snapshot.Failing)}
	byID := byID(snapshot.Failing)
	for _, failure := range snapshot.Failures {
		if doc := byID[failure.Document]; doc != nil && !failure.Rule.IsZero() {
			need.Checks = append(need.Checks, Pair{doc.Digest, failure.Rule})
		}
	}
	return need
}

// preview returns the answer to a dry run.
func (s *Service) preview(snapshot Snapshot, diff Diff, judgement Judgement, kind Kind, options Options) (
	Written, error,
) {
	findings, err := previewFindings(snapshot, diff, judgement)
	if err != nil {
		return Written{}, err
	}
	preview := &Preview{
		Changed: diff.Changes, Documents: DocumentDifferences(diff.Removed, diff.Added), Results: judgement.Results,
		Buckets: previewBuckets(snapshot.Occupied, diff), Findings: findings,
	}
	switch {
	case diff.Changes:
		revision := newRevision(snapshot, diff, judgement, kind, options)
		preview.Shown = s.verdict(revision, judgement)
	case snapshot.Newest.ID > 0:
		policies := InForce(snapshot.Policies, snapshot.Revision)
		verdict := Weigh(s.Compat, policies, snapshot.Newest, snapshot.Outcomes, snapshot.Now)
		preview.Shown = Shown{snapshot.Newest, verdict}
	}
	return Written{Revision: snapshot.Revision, Stamp: snapshot.Stamp, Preview: preview}, nil
}

// previewBuckets returns how a diff modifies each bucket.
func previewBuckets(before []string, diff Diff) []BucketDifference {
	after := slices.DeleteFunc(slices.Concat(before, diff.Opened), func(bucket string) bool {
		return slices.Contains(diff.Emptied, bucket)
	})
	slices.Sort(after)
	return BucketDifferences(before, after, diff.Removed, diff.Added)
}

// previewFindings describes the entries of a schema validation that are more than a plain success.
func previewFindings(snapshot Snapshot, diff Diff, judgement Judgement) ([]Finding, error) {
	about := byID(slices.Concat(snapshot.Failing, snapshot.Governed, diff.Result, diff.Added))
	var rows []FailedEntry
	for _, failure := range judgement.Failures {
		if doc := about[failure.Document]; doc != nil {
			rows = append(rows, FailedEntry{failure, doc})
		}
	}
	found := map[validations.Pair][]validations.Finding{}
	maps.Copy(found, snapshot.Checks)
	for _, check := range judgement.Checks {
		found[check.Name()] = check.Findings
	}
	texts := map[document.Digest][]byte{}
	for _, doc := range slices.Concat(snapshot.Schemas, diff.Added) {
		texts[doc.Digest] = doc.Data
	}
	errs, err := Describe(rows, found, texts, true)
	if err != nil {
		return nil, err
	}
	findings := make([]Finding, len(rows))
	for i, row := range rows {
		findings[i] = Finding{row.About.Identity, row.About.Bucket, !row.Rule.IsZero(), errs[i]}
	}
	return findings, nil
}

// byID returns documents by their ids.
func byID(documents []*Stored) map[int64]*Stored {
	byID := make(map[int64]*Stored, len(documents))
	for _, doc := range documents {
		byID[doc.ID] = doc
	}
	return byID
}

// FailedEntry is a Failure with the document it is about.
type FailedEntry struct {
	Failure

	About *Stored
}

// Describe returns the errors of entries that are more than a plain success: findings by check, and the texts of the
// schemas by digest. With details each error shows its part of the document, and the schema, until they are some
// megabytes; each entry can be asked for alone.
func Describe(rows []FailedEntry, findings map[validations.Pair][]validations.Finding,
	texts map[document.Digest][]byte, details bool,
) ([][]json.RawMessage, error) {
	const maxDetailed = 8 << 20
	size := 0
	entries := make([][]json.RawMessage, len(rows))
	for i, row := range rows {
		doc, text := row.About.Document, validations.RuleText(row.Rule)
		if text == nil {
			text = texts[row.Rule.Schema]
		}
		found := findings[validations.PairOf(doc.Digest, row.Rule)]
		reports, err := validations.Report(doc, text, found, details && size < maxDetailed)
		if err != nil {
			return nil, fmt.Errorf("word the findings: %w", err)
		}
		if entries[i], err = appendJSON([]json.RawMessage{}, reports); err != nil {
			return nil, err
		}
		if entries[i], err = appendJSON(entries[i], row.Notes); err != nil {
			return nil, err
		}
		for _, text := range entries[i] {
			size += len(text)
		}
	}
	return entries, nil
}

func appendJSON[T any](list []json.RawMessage, items []T) ([]json.RawMessage, error) {
	for _, item := range items {
		text, err := json.Marshal(item)
		if err != nil {
			return nil, fmt.Errorf("write an entry: %w", err)
		}
		list = append(list, text)
	}
	return list, nil
}
