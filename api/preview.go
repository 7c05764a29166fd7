package api

import (
	"encoding/json"
	"fmt"

	"purser/internal/changes"
	"purser/internal/document"
	"purser/internal/revisions"
	"purser/internal/wire"
)

// withheld is the message of an incomplete preview.
const withheldMessage = "Encrypted documents, and those that take something from them, are neither checked nor shown " +
	"here, because the caller may not see encrypted documents. Making the change checks them."

// previewView returns the view of the outcome of a dry run. counts is nil unless found is a list of findings.
func previewView[F wire.Finding | wire.Checked](l links, written changes.Written, found []F,
	counts *wire.Counts, rendered *wire.Rendered,
) wire.Preview[F] {
	preview, did := written.Preview, written.Summary
	view := wire.Preview[F]{
		DryRun: true, Changed: preview.Changed, Status: preview.Verdict.Status.String(), Waived: waivedViews(preview.Verdict),
		Changes: wire.Changes{Added: did.Added, Modified: did.Modified, Deleted: did.Deleted, Unchanged: did.Unchanged},
		Buckets: bucketViews(preview.Buckets), Documents: []wire.Difference{}, Findings: found, Counts: counts,
		Policies: l.policyViews(preview.RevisionStatus), Validations: validationViews(preview.Verdict.Reported),
		Warnings: preview.Verdict.Warnings, Notice: preview.Verdict.Notice, Weakened: written.Weakened,
		BeginToFail: failingView(preview.BeginToFail), Rendered: rendered,
	}
	if preview.ID > 0 {
		view.Revision = &preview.ID
	}
	if preview.Withheld {
		view.Withheld = withheldMessage
	}
	for i := range view.Policies { // their URLs do not exist
		view.Policies[i].URL = ""
		for j := range view.Policies[i].Validations {
			view.Policies[i].Validations[j].URL = ""
		}
	}
	for _, d := range preview.Documents {
		view.Documents = append(view.Documents, differenceView(d))
	}
	for _, result := range preview.Results {
		view.Results = append(view.Results, wire.Result{
			Name: result.Name, Status: result.Status, Errors: withPlaces(result.Errors, result.At),
		})
	}
	return view
}

// checkedViews returns the views of the entries of documents in the schema validation.
func checkedViews(findings []changes.CheckedDocument) []wire.Checked {
	views := []wire.Checked{}
	for _, f := range findings {
		about := f.About
		errs := make([]wire.LocatedError, len(f.Errors))
		for i, e := range f.Errors {
			errs[i].Error = e
			if len(f.At) > 0 {
				errs[i].Line, errs[i].Column = f.At[i].Line, f.At[i].Column
			}
		}
		views = append(views, wire.Checked{
			Bucket: about.Bucket, Schema: about.Schema, Layer: wire.Optional(about.Layer), Name: about.Name,
			Status: findingStatus(f), Errors: errs, Notes: f.Notes,
		})
	}
	return views
}

// withPlaces adds their places in the body of the request, where known, to a list of errors. Each error is a mapping
// created by the server.
func withPlaces(errs json.RawMessage, at []document.Position) json.RawMessage {
	var list []json.RawMessage
	if json.Unmarshal(errs, &list) != nil || len(list) != len(at) {
		return errs
	}
	for i, e := range list {
		if last := len(e) - 1; at[i].Line > 0 && last > 1 && e[last] == '}' {
			list[i] = fmt.Appendf(e[:last:last], `,"line":%d,"column":%d}`, at[i].Line, at[i].Column)
		}
	}
	text, err := json.Marshal(list)
	if err != nil {
		return errs
	}
	return text
}

func differenceView(d revisions.DocumentDifference) wire.Difference {
	view := wire.Difference{
		Change: d.Difference.String(), Bucket: d.Bucket(), Schema: d.Schema, Layer: wire.Optional(d.Layer), Name: d.Name,
	}
	if d.Difference == revisions.Moved {
		view.From = d.Before.Bucket
	}
	return view
}

func findingStatus(f changes.CheckedDocument) string {
	if !f.Rule.IsZero() {
		return "failure"
	}
	return "success"
}

// bucketViews maps the names of buckets to their differences.
func bucketViews(buckets []revisions.BucketDifference) map[string]string {
	views := make(map[string]string, len(buckets))
	for _, bucket := range buckets {
		views[bucket.Bucket] = bucket.Difference.String()
	}
	return views
}
