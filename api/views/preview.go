package views

import (
	"encoding/json"
	"fmt"

	"purser/internal/changes"
	"purser/internal/document"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// Preview is the answer to a dry run.
type Preview struct {
	DryRun    bool                 `json:"dryRun"`
	Changed   bool                 `json:"changed"`
	Revision  *int64               `json:"revision"` // the newest after the change; null if there is none
	Status    string               `json:"status"`
	Notice    string               `json:"notice,omitempty"`   // without a policy, what counted
	Weakened  []string             `json:"weakened,omitempty"` // how the change weakens policies
	Buckets   map[string]string    `json:"buckets"`
	Changes   changesView          `json:"changes"`
	Documents []DocumentDifference `json:"documents"`
	Findings  any                  `json:"findings"` // a list of findingView, or of Found
	*Counts

	ValidationPolicies []policyView `json:"validationPolicies"`
	Validations        []Validation `json:"validations,omitempty"` // without a policy, those reported
	Results            []resultView `json:"results,omitempty"`
	Warnings           []string     `json:"warnings,omitempty"`
	Withheld           string       `json:"withheld,omitempty"`
}

// withheld is the message of an incomplete preview.
const withheld = "Encrypted documents, and those that take something from them, are not judged or shown here, " +
	"because the caller may not see encrypted documents. Making the change judges them."

// resultView is the result of a validation of the whole revision.
type resultView struct {
	Name   string          `json:"name"`
	Status string          `json:"status"`
	Errors json.RawMessage `json:"errors"`
}

// changesView counts the changed documents.
type changesView struct {
	Added     int `json:"added"`
	Modified  int `json:"modified"`
	Deleted   int `json:"deleted"`
	Unchanged int `json:"unchanged"`
}

// DocumentDifference names a document and its change.
type DocumentDifference struct {
	Change string  `json:"change"`
	Bucket string  `json:"bucket"`
	From   string  `json:"from,omitempty"` // the bucket that a document moves from
	Schema string  `json:"schema"`
	Layer  *string `json:"layer"`
	Name   string  `json:"name"`
}

// findingView is the entry of a document in the schema validation.
type findingView struct {
	Bucket string          `json:"bucket"`
	Schema string          `json:"schema"`
	Layer  *string         `json:"layer"`
	Name   string          `json:"name"`
	Status string          `json:"status"`
	Errors []locatedError  `json:"errors"`
	Notes  []document.Note `json:"notes,omitempty"`
}

// locatedError is an error with its place in the body of the request, if known.
type locatedError struct {
	validations.Error

	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
}

// Preview returns the view of the outcome of a dry run.
func (l Links) Preview(written changes.Written) Preview {
	preview, did := written.Preview, written.Summary
	view := Preview{
		DryRun: true, Changed: preview.Changed, Status: revisionStatus(preview.Verdict.Status),
		Changes: changesView{did.Added, did.Modified, did.Deleted, did.Unchanged},
		Buckets: Buckets(preview.Buckets), Documents: []DocumentDifference{}, Findings: findingViews(preview.Findings),
		ValidationPolicies: l.policyViews(preview.Shown), Validations: validationViews(preview.Verdict.Reported),
		Warnings: preview.Verdict.Warnings, Notice: preview.Verdict.Notice, Weakened: written.Weakened,
	}
	if preview.ID > 0 {
		view.Revision = &preview.ID
	}
	if preview.Withheld {
		view.Withheld = withheld
	}
	for i := range view.ValidationPolicies { // their URLs do not exist
		view.ValidationPolicies[i].URL = ""
		for j := range view.ValidationPolicies[i].Validations {
			view.ValidationPolicies[i].Validations[j].URL = ""
		}
	}
	for _, d := range preview.Documents {
		view.Documents = append(view.Documents, documentDifferenceOf(d))
	}
	for _, result := range preview.Results {
		view.Results = append(view.Results, resultView{result.Name, result.Status, withPlaces(result.Errors, result.At)})
	}
	return view
}

func findingViews(findings []changes.Finding) []findingView {
	views := []findingView{}
	for _, f := range findings {
		about := f.About
		errs := make([]locatedError, len(f.Errors))
		for i, e := range f.Errors {
			errs[i].Error = e
			if len(f.At) > 0 {
				errs[i].Line, errs[i].Column = f.At[i].Line, f.At[i].Column
			}
		}
		views = append(views, findingView{
			about.Bucket, about.Schema, Optional(about.Layer), about.Name, findingStatus(f), errs, f.Notes,
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

func documentDifferenceOf(d revisions.DocumentDifference) DocumentDifference {
	view := DocumentDifference{
		Change: d.Difference.String(), Bucket: d.Bucket(), Schema: d.Schema, Layer: Optional(d.Layer), Name: d.Name,
	}
	if d.Difference == revisions.Moved {
		view.From = d.Before.Bucket
	}
	return view
}

func findingStatus(f changes.Finding) string {
	if f.Failed {
		return "failure"
	}
	return "success"
}

// Buckets maps the names of buckets to their differences (spec/api.md §6.1).
func Buckets(buckets []revisions.BucketDifference) map[string]string {
	views := make(map[string]string, len(buckets))
	for _, bucket := range buckets {
		views[bucket.Bucket] = bucket.Difference.String()
	}
	return views
}
