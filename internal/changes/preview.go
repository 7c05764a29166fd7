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

// Preview describes the revision that a change would make.
type Preview struct {
	revisions.RevisionStatus // the newest revision after the change

	Changed   bool // RevisionStatus is that of a new revision
	Buckets   []revisions.BucketDifference
	Documents []revisions.DocumentDifference
	Findings  []CheckedDocument
	// Results are the outcomes of the validations of the whole revision that policies require.
	Results []PreviewResult
	// Uncovered are the schemas of documents that are not in force, unless a policy lists the validation of them.
	Uncovered []validations.Uncovered
	// Withheld reports whether encrypted documents, or documents that take something from them, were left out.
	Withheld bool
	// BeginToFail are the documents that fail after the change and do not fail in the newest revision.
	BeginToFail BeginToFail
	// Rendered is nil unless the options ask for it.
	Rendered *RenderedChanges
}

// PreviewResult is the outcome of a validation of the whole revision, as the viewer sees it.
type PreviewResult struct {
	validations.Result

	Warnings []fault.Message
	At       []document.Position // of the errors in the body of the change; nil if not located
}

// CheckedDocument is a document with a failure or notes in the schema validation of its revision.
type CheckedDocument struct {
	revisions.FailedEntry

	Errors []validations.Error
	At     []document.Position // of the errors in the body of the change; nil if not located
}

// previewNeed returns the parts of the site needed to describe the violations of a snapshot.
func previewNeed(snapshot revisions.Snapshot) revisions.Need {
	need := revisions.Need{Kinds: Kinds(snapshot.Failing)}
	byID := byID(snapshot.Failing)
	for _, violation := range snapshot.Violations {
		if doc := byID[violation.Document]; doc != nil {
			need.Checks = append(need.Checks, revisions.Pair{Content: doc.Digest, Rule: violation.Rule})
		}
	}
	return need
}

// preview returns the answer to a dry run.
func (s *Service) preview(ctx context.Context, p proposal) (Written, error) {
	viewer, snapshot, diff := p.options.Viewer, p.snapshot, p.diff
	checked, err := s.checkedDocuments(ctx, p)
	if err != nil {
		return Written{}, err
	}
	removed, added := revisions.Visible(viewer, diff.Removed), revisions.Visible(viewer, diff.Added)
	preview := &Preview{
		Changed: diff.Changes, Buckets: previewBuckets(snapshot.Occupied, diff, removed, added), Findings: checked,
		Documents: revisions.DocumentDifferences(removed, added),
		Withheld:  p.judgement.Withheld,
	}
	for _, result := range p.judgement.Results {
		preview.Results = append(preview.Results, PreviewResult{
			Result: result.For(viewer), Warnings: viewer.Warnings(result.Warnings),
		})
	}
	switch {
	case diff.Changes:
		preview.RevisionStatus = s.verdict(p, newRevision(p))
	case snapshot.Newest.ID > 0:
		policies := revisions.PoliciesOf(snapshot.Newest, snapshot.Policies)
		verdict := s.DefaultValidations.Verdict(policies, snapshot.Newest, snapshot.Known, snapshot.Now)
		preview.RevisionStatus = revisions.RevisionStatus{Revision: snapshot.Newest, Verdict: verdict.WithAdvice()}
	}
	verdict := &preview.Verdict
	if !s.Compat && !slices.Contains(verdict.ReportedNames(), validations.CoverageValidation) {
		preview.Uncovered = Coverage(BySchema(revisions.Visible(viewer, diff.After(snapshot.Documents))))
		if warning := validations.CoverageWarning(preview.Uncovered); warning != "" {
			verdict.Warnings = slices.Insert(verdict.Warnings, len(verdict.Advice()), warning)
		}
	}
	if !s.Compat {
		var strays []string
		for _, of := range checked {
			strays = AppendStrays(strays, of.About, of.Notes)
		}
		verdict.Warnings = append(verdict.Warnings, strays...)
	}
	if preview.BeginToFail, err = s.beginToFail(ctx, p, checked); err != nil {
		return Written{}, err
	}
	if p.options.Rendered {
		if preview.Rendered, err = s.renderedChanges(ctx, p); err != nil {
			return Written{}, err
		}
	}
	return Written{
		Revision: snapshot.Revision, Stamp: snapshot.Stamp, Documents: diff.Result, Preview: preview,
	}, nil
}

// previewBuckets returns how a diff modifies each bucket, considering only documents that the viewer may see.
func previewBuckets(before []string, diff revisions.Diff, removed,
	added []*revisions.Stored,
) []revisions.BucketDifference {
	after := slices.DeleteFunc(slices.Concat(before, diff.Opened), func(bucket string) bool {
		return slices.Contains(diff.Emptied, bucket)
	})
	slices.Sort(after)
	return revisions.BucketDifferences(before, after, removed, added)
}

// checkedDocuments describes the entries of a schema validation that fail or have notes, except those about encrypted
// documents that the viewer may not see.
func (s *Service) checkedDocuments(ctx context.Context, p proposal) ([]CheckedDocument, error) {
	described := Described{
		Findings: map[validations.Pair][]validations.Finding{}, Texts: map[document.Digest][]byte{},
		Versions: func() (validations.ClientVersions, error) { return p.judgement.ClientVersions, nil },
	}
	about := byID(slices.Concat(p.snapshot.Failing, p.snapshot.Governed, p.diff.Result, p.diff.Added))
	for _, failure := range p.judgement.Failures {
		doc := about[failure.Document]
		if doc != nil && (p.options.Viewer.Encrypted || !isEncrypted(doc)) {
			described.Rows = append(described.Rows, revisions.FailedEntry{Failure: failure, About: doc})
		}
	}
	maps.Copy(described.Findings, p.snapshot.Checks)
	for _, check := range p.judgement.Checks {
		described.Findings[check.Name()] = check.Findings
	}
	for _, doc := range slices.Concat(p.snapshot.Schemas, p.diff.Added) {
		described.Texts[doc.Digest] = doc.Data
	}
	errs, err := s.Renderer().Report(ctx, p.options.Viewer, described, true)
	if err != nil {
		return nil, err
	}
	checked := make([]CheckedDocument, len(described.Rows))
	for i, row := range described.Rows {
		checked[i] = CheckedDocument{FailedEntry: row, Errors: errs[i]}
	}
	return checked, nil
}

// byID indexes documents by ID.
func byID(documents []*revisions.Stored) map[int64]*revisions.Stored {
	byID := make(map[int64]*revisions.Stored, len(documents))
	for _, doc := range documents {
		byID[doc.ID] = doc
	}
	return byID
}
