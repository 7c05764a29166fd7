package queries

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/validations"
	"purser/internal/words"
)

// Limits on the number of failing documents to describe: for counts and selections, and for the first findings and
// monitoring.
const maxFindings, fewFindings = 10_000, 1000

// Findings returns the problems of a revision, named as for Resolve. Faults: NotFound, also if it lacks the validation
// of the query; Gone.
func (v View) Findings(ctx context.Context, id string, query FindingsQuery) (found FindingList, err error) {
	evidence, err := v.evidenceOf(ctx, id)
	if err != nil {
		return found, err
	}
	shown := v.weigh(evidence)[0]
	if err := hasValidation(shown, query.Validation); err != nil {
		return found, err
	}
	look := maxFindings
	if query.Validation+query.Document+query.Level == "" { // each failing document has at least one finding
		look = max(fewFindings, min(look, query.Limit))
	}
	all, cut, more, err := v.allFindings(ctx, shown, look, query.FailuresOnly)
	if err != nil {
		return found, err
	}
	found = chooseFindings(shown, all, cut || more, query)
	if cut && look < maxFindings {
		counts, err := v.count(ctx, shown, evidence.Outcomes[shown.ID], maxFindings, query.FailuresOnly)
		if err == nil { // else, such as if they take too much work, those of the first documents are at least right
			found.Counts = counts
		}
	}
	return found, nil
}

// hasValidation checks that a revision has a validation: one of the server's own, or one that is reported or that a
// policy lists. No name stands for all of them. Fault: NotFound.
func hasValidation(shown revisions.RevisionStatus, name string) error {
	const most = 20
	names := shown.Verdict.Names()
	if name == "" || slices.Contains(names, name) {
		return nil
	}
	listed := strings.Join(names[:min(len(names), most)], ", ")
	if others := len(names) - most; others > 0 {
		listed += fmt.Sprintf(" and %d more", others)
	}
	return fault.New(fault.NotFound, "ValidationNotFound", "The requested validation %s was not found for revision ID %d",
		words.Excerpt(name), shown.ID).Hint("It has %s.", listed)
}

// MaxCounted is the maximum number of failing documents of which Failures counts the findings.
const MaxCounted = 100

// Failures returns the numbers of the findings of failed validations of a revision with its verdict. It reads only
// failures, and only once for all revisions with the same of them, which a digest identifies.
func (v View) Failures(ctx context.Context, shown revisions.RevisionStatus, failures document.Digest) (Counts, error) {
	judged := withFindingsIn(shown.Verdict)
	if !judged.Fails() {
		return Counts{Failures: judged.countOpen()}, nil
	}
	return v.counted(ctx, shown, countsKey{
		failures: failures, viewer: v.viewer, judged: digestOf(judged.by, nil), look: MaxCounted, failuresOnly: true,
	})
}

// allFindings returns the findings of all validations in a verdict, with repetitions. It describes up to look
// failing documents and 8 MiB of posted errors; cut reports whether there are other such documents, and more whether it
// left out anything else.
func (v View) allFindings(ctx context.Context, shown revisions.RevisionStatus, look int, failuresOnly bool) (
	all []Finding, cut, more bool, err error,
) {
	judged := withFindingsIn(shown.Verdict)
	all, cut, err = v.schemaFindings(ctx, shown.Revision, judged, look)
	if err != nil {
		return nil, false, false, err
	}
	reported, more, err := v.resultFindings(ctx, shown.Revision, judged, failuresOnly)
	if err != nil || failuresOnly {
		return append(all, reported...), cut, more, err
	}
	uncovered, err := v.uncovered(ctx, shown)
	if err != nil {
		return nil, false, false, err
	}
	warnings, moreWarnings := ofUncovered(uncovered)
	entries, err := v.strays(ctx, shown.Revision, look+1)
	if err != nil {
		return nil, false, false, err
	}
	for _, entry := range entries[:min(len(entries), look)] {
		all = append(all, strayFindings(entry.About, entry.Notes)...)
	}
	more = more || moreWarnings || len(entries) > look
	return slices.Concat(all, reported, warnings), cut, more, nil
}

// strays returns the first entries of a revision's schema validation with notes about stray keys; in compat mode none.
func (v View) strays(ctx context.Context, revision revisions.Revision, limit int) ([]revisions.FailedEntry, error) {
	if v.renderer.Compat {
		return nil, nil
	}
	entries, err := v.store.Strays(ctx, revision, limit, !v.viewer.Secrets())
	if err != nil {
		err = revisions.Explained(ctx, v.store, revision.ID, err)
		return nil, fmt.Errorf("read stray keys: %w", err)
	}
	return entries, nil
}

// schemaFindings returns the findings of the schema validation. It describes up to look failing documents; more reports
// whether there are others.
func (v View) schemaFindings(ctx context.Context, revision revisions.Revision, judged withFindings, look int) (
	all []Finding, more bool, err error,
) {
	if !judged.schemaFails() {
		return nil, false, nil
	}
	found, err := v.described(ctx, revision, EntryQuery{Limit: look + 1, FailuresOnly: true, Open: !v.viewer.Encrypted})
	if err != nil {
		return nil, false, err
	}
	if more = len(found.Rows) > look; more {
		found.Rows = found.Rows[:look]
	}
	reports, err := v.renderer.Report(ctx, v.viewer, found, false)
	if err != nil {
		return nil, false, err
	}
	for i, row := range found.Rows {
		all = append(all, judged.ofDocument(row.About, reports[i])...)
	}
	switch {
	case !revision.SecretFails:
	case !v.viewer.Encrypted:
		all = append(all, judged.Unexplained(v.viewer.Withheld())...)
	case len(all) == 0:
		all = judged.Unexplained(validations.Joined)
	}
	return all, more, nil
}

// resultFindings returns the findings of all validations except the schema validation, including missing and expired
// results and, without failuresOnly, warnings. It reads at most 8 MiB of errors; more reports whether there are others.
func (v View) resultFindings(ctx context.Context, revision revisions.Revision, judged withFindings,
	failuresOnly bool,
) (all []Finding, more bool, err error) {
	latest, more, err := v.latestFailures(ctx, revision, judged)
	if err != nil {
		return nil, false, err
	}
	errs, err := v.store.ResultErrors(ctx, revision, slices.Sorted(maps.Values(latest)))
	if err != nil {
		err = revisions.Explained(ctx, v.store, revision.ID, err)
		return nil, false, fmt.Errorf("read the errors of validation results: %w", err)
	}
	read := map[string][]json.RawMessage{}
	var warnings []Finding
	for _, name := range slices.Sorted(maps.Keys(latest)) {
		found, err := v.detailsOf(ctx, revision, name, errs[latest[name]])
		if err != nil {
			return nil, false, err
		}
		if judged.by[name].Status == validations.Failure {
			read[name] = found.errors
		}
		if !failuresOnly {
			warnings = append(warnings, warned(name, found.warnings)...)
		}
	}
	return append(judged.ofResults(read), warnings...), more, nil
}

// latestFailures returns the IDs of the newest results of validations that failed or give warnings, by name, with a
// total of at most 8 MiB of errors; more reports whether there are others. It omits the schema validation, whose
// findings are not stored as results.
func (v View) latestFailures(ctx context.Context, revision revisions.Revision, judged withFindings) (
	ids map[string]int64, more bool, err error,
) {
	const maxSize = 8 << 20
	reported, err := v.store.Reported(ctx, revision, "")
	if err != nil {
		err = revisions.Explained(ctx, v.store, revision.ID, err)
		return nil, false, fmt.Errorf("read validation results: %w", err)
	}
	latest := map[string]Reported{} // the last of a name is its newest
	for _, result := range reported {
		own := result.Name == validations.SchemaValidation || result.Name == validations.SchemaValidationAlias
		as, says := judged.by[result.Name]
		if !own && says && as.Status != validations.Expired {
			latest[result.Name] = result
		}
	}
	ids, size := map[string]int64{}, 0
	for _, name := range slices.Sorted(maps.Keys(latest)) {
		if size += latest[name].Size; size > maxSize && len(ids) > 0 {
			return ids, true, nil
		}
		ids[name] = latest[name].ID
	}
	return ids, false, nil
}
