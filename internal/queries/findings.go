package queries

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"purser/internal/authz"
	"purser/internal/changes"
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
	shown := v.status(evidence)
	if err := hasValidation(shown, query.Validation); err != nil {
		return found, err
	}
	switch {
	case query.After.Size > 0:
		query.After.Size = min(query.After.Size, maxFindings)
	case !query.narrow(): // each failing document has at least one finding
		query.After.Size = max(fewFindings, min(maxFindings, query.Limit))
	default:
		query.After.Size = maxFindings
	}
	all, next, more, err := v.allFindings(ctx, shown, query)
	if err != nil {
		return found, err
	}
	unlisted := query.leavesOut(all)
	found = chooseFindings(shown, all, next > 0 || more || unlisted && query.Document != "", query)
	if found.Next.Size == 0 && next > 0 && query.Limit > 0 {
		found.Next = FindingPlace{From: next, Size: query.After.Size, Omits: more || unlisted}
	}
	if next > 0 && query.After.From == 0 && query.After.Size < maxFindings {
		counts, err := v.count(ctx, shown, evidence.Known[shown.ID].Outcomes, maxFindings, query.FailuresOnly)
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
	if !judged.fails() {
		return Counts{Failures: judged.countOpen()}, nil
	}
	return v.counted(ctx, shown, countsKey{
		failures: failures, viewer: v.viewer, judged: digestOf(judged.by, nil), look: MaxCounted, failuresOnly: true,
	})
}

// allFindings returns the findings of all validations in a verdict, with repetitions, in the window of a query. It
// describes up to 8 MiB of posted errors; next is the entry of the first failing document behind the window, 0 if there
// is none, and more reports whether this window or one before left out anything else. Windows after the first have only
// findings of the schema validation, without those that the first one lists as another validation's.
func (v View) allFindings(ctx context.Context, shown revisions.RevisionStatus, query FindingsQuery) (
	all []Finding, next int, more bool, err error,
) {
	judged := withFindingsIn(shown.Verdict)
	if query.Validation != "" && !validations.IsOwn(query.Validation) { // others neither repeat its findings nor hide them
		all, more, err = v.resultFindings(ctx, shown.Revision, judged, query)
		return all, 0, more, err
	}
	all, next, cut, err := v.schemaFindings(ctx, shown.Revision, judged, query)
	if name, _, _ := judged.schema(); query.Validation != "" && query.Validation != name {
		next = 0 // the windows behind have only findings of that one
	}
	first := query.After.From == 0
	if err != nil || !first && query.Validation == validations.SchemaValidation {
		return all, next, cut || query.After.Omits, err
	}
	reported, more, err := v.resultFindings(ctx, shown.Revision, judged, query)
	more = more || cut && next > 0
	switch {
	case err == nil && !first:
		return withoutListed(all, reported, query), next, cut || query.After.Omits, nil
	case err != nil || query.FailuresOnly:
		return append(all, reported...), next, more, err
	}
	strays, uncovered, moreMistakes, err := v.mistakes(ctx, shown, query)
	return slices.Concat(all, strays, reported, uncovered), next, more || moreMistakes, err
}

// mistakes returns likely mistakes that no validation reports: stray keys, in at most as many documents as the window
// of a query has, and schemas that are not in force. more reports whether there are others.
func (v View) mistakes(ctx context.Context, shown revisions.RevisionStatus, query FindingsQuery) (
	strays, uncovered []Finding, more bool, err error,
) {
	schemas, err := v.uncovered(ctx, shown)
	if err != nil {
		return nil, nil, false, err
	}
	most := query.After.Size
	entries, err := v.strays(ctx, shown.Revision, query.Document, most+1)
	if err != nil {
		return nil, nil, false, err
	}
	for _, entry := range entries[:min(len(entries), most)] {
		strays = append(strays, strayFindings(entry.About, entry.Notes)...)
	}
	uncovered, more = ofUncovered(schemas)
	return strays, uncovered, more || len(entries) > most, nil
}

// withoutListed returns findings about documents without those that a query lists as another validation's: the first
// window has all of that, the most severe of equal ones.
func withoutListed(all, reported []Finding, query FindingsQuery) []Finding {
	listed := map[findingKey]Level{}
	for _, f := range reported {
		level, known := listed[f.key()]
		if query.asksFor(f) && query.asksForLevel(f) && (!known || f.Level < level) {
			listed[f.key()] = f.Level
		}
	}
	return slices.DeleteFunc(all, func(f Finding) bool {
		return slices.ContainsFunc([]findingKey{f.key(), f.keyWithoutPath()}, func(key findingKey) bool {
			level, known := listed[key]
			return known && level <= f.Level
		})
	})
}

// strays returns the first entries of a revision's schema validation with notes about stray keys, of the documents with
// a name, or of all if it is empty; in compat mode none.
func (v View) strays(ctx context.Context, revision revisions.Revision, document string, limit int) (
	[]revisions.FailedEntry, error,
) {
	if v.renderer.Compat {
		return nil, nil
	}
	entries, err := v.store.Strays(ctx, revision, document, limit, !v.viewer.Secrets())
	if err != nil {
		return nil, v.readError(ctx, revision.ID, "stray keys", err)
	}
	return entries, nil
}

// schemaFindings returns the findings of the schema validation about the failing documents of the window of a query, as
// far as they can be listed; the others are counted. next is the entry of the first document that is not listed, 0 if
// there is none. cut reports whether the first document has findings that no window lists.
func (v View) schemaFindings(ctx context.Context, revision revisions.Revision, judged withFindings,
	query FindingsQuery,
) (all []Finding, next int, cut bool, err error) {
	if _, _, fails := judged.schema(); !fails {
		return nil, 0, false, nil
	}
	window := query.After
	found, err := v.described(ctx, revision, EntryQuery{
		From: window.From, Limit: window.Size + 1, FailuresOnly: true, Open: !v.viewer.Encrypted, Document: query.Document,
	})
	if err != nil {
		return nil, 0, false, err
	}
	if len(found.Rows) > window.Size {
		next = found.Rows[window.Size].Entry
		found.Rows = found.Rows[:window.Size]
	}
	reports, err := v.renderer.Report(ctx, v.viewer, found, false)
	if err != nil {
		return nil, 0, false, err
	}
	room := true
	for i, row := range found.Rows {
		unlisted := slices.ContainsFunc(reports[i], func(e validations.Error) bool { return e.Unlisted > 0 })
		switch {
		case i == 0:
			cut = unlisted
		case unlisted && room:
			room, next = false, row.Entry // it is listed at the beginning of the next window
		}
		errs := reports[i]
		if !room {
			errs = onlyCounted(errs)
		}
		all = append(all, judged.ofDocument(row.About, errs)...)
	}
	switch {
	case !revision.SecretFails || window.From > 0:
	case !v.viewer.Encrypted:
		all = append(all, judged.unexplained(v.viewer.Withheld())...)
	case len(all) == 0:
		all = judged.unexplained(validations.Joined)
	}
	return all, next, cut, nil
}

// resultFindings returns the findings of all validations except the schema validation, including missing and expired
// results and, unless the query only asks for failures, warnings. It reads at most 8 MiB of errors, first those of the
// validation that the query asks for; more reports whether there are others.
func (v View) resultFindings(ctx context.Context, revision revisions.Revision, judged withFindings,
	query FindingsQuery,
) (all []Finding, more bool, err error) {
	latest, more, err := v.latestFailures(ctx, revision, judged, query.Validation)
	if err != nil {
		return nil, false, err
	}
	texts, err := v.store.ResultTexts(ctx, revision, slices.Sorted(maps.Values(latest)))
	if err != nil {
		return nil, false, v.readError(ctx, revision.ID, "the errors of validation results", err)
	}
	read := map[string][]json.RawMessage{}
	var warnings []Finding
	for _, name := range slices.Sorted(maps.Keys(latest)) {
		found, err := v.detailsOf(ctx, revision, name, texts[latest[name]].Errors)
		if err != nil {
			return nil, false, err
		}
		if judged.by[name].Status == validations.Failure {
			read[name] = found.errors
		}
		if !query.FailuresOnly {
			warnings = append(warnings, warningFindings(name, found.warnings)...)
		}
	}
	return append(judged.ofResults(read), warnings...), more, nil
}

// latestFailures returns the IDs of the newest results of validations that failed or give warnings, by name, with a
// total of at most 8 MiB of errors, beginning with the validation first; more reports whether there are others. It
// omits the schema validation, whose findings are not stored as results, and all but first if the findings of that one
// depend on no others.
func (v View) latestFailures(ctx context.Context, revision revisions.Revision, judged withFindings, first string) (
	ids map[string]int64, more bool, err error,
) {
	const maxSize = 8 << 20
	only := ""
	if !validations.IsOwn(first) {
		only = first
	}
	reported, err := v.store.Reported(ctx, revision, only)
	if err != nil {
		return nil, false, v.readError(ctx, revision.ID, "validation results", err)
	}
	latest := map[string]Reported{} // the last of a name is its newest
	for _, result := range reported {
		own := result.Name == validations.SchemaValidation || result.Name == validations.SchemaValidationAlias
		as, says := judged.by[result.Name]
		if !own && says && as.Status != validations.Expired {
			latest[result.Name] = result
		}
	}
	names := slices.Sorted(maps.Keys(latest))
	if at, found := slices.BinarySearch(names, first); found {
		names = slices.Insert(slices.Delete(names, at, at+1), 0, first)
	}
	ids, size := map[string]int64{}, 0
	for _, name := range names {
		if size += latest[name].Size; size > maxSize && len(ids) > 0 {
			return ids, true, nil
		}
		ids[name] = latest[name].ID
	}
	return ids, false, nil
}

// details are the errors and warnings of a result.
type details struct {
	errors   []json.RawMessage
	warnings []fault.Message // only of the server's own validations
}

// detailsOf returns the details of a result. It repeats a validation whose secret messages were not stored.
func (v View) detailsOf(ctx context.Context, revision revisions.Revision, name string, stored []byte) (details, error) {
	d, err := v.stored(name, stored)
	if err != nil {
		return d, err
	}
	isSecret := func(warning fault.Message) bool { return warning.Secret }
	withheld := false
	if isOfRevision(name) {
		d.errors, withheld = withoutWithheld(d.errors)
	}
	if withheld && !v.viewer.Encrypted {
		summary, err := itemsOf(v.viewer.Messages([]fault.Message{{Secret: true}}))
		d.errors, d.warnings = append(d.errors, summary...), v.viewer.Warnings(d.warnings)
		return d, err
	}
	if hidden := v.viewer.Secrets() && slices.ContainsFunc(d.warnings, isSecret); !withheld && !hidden {
		d.warnings = v.viewer.Warnings(d.warnings)
		return d, nil
	}
	result, err := v.revealed(ctx, revision, name, withheld)
	if err != nil {
		return d, err
	}
	switch {
	case len(result.Messages) > 0:
		d.errors, err = itemsOf(v.viewer.Listed(result.Messages))
	case withheld: // the validation now succeeds
		d.errors, err = itemsOf(authz.Viewer{}.Messages([]fault.Message{{Secret: true}}))
	}
	if len(result.Warnings) > 0 {
		d.warnings = result.Warnings
	}
	d.warnings = v.viewer.Warnings(d.warnings)
	return d, err
}

// withoutWithheld returns the stored errors of a result without the replacement for withheld messages, and without the
// count that earlier versions stored behind it. It reports whether there was one.
func withoutWithheld(errors []json.RawMessage) (others []json.RawMessage, found bool) {
	others = make([]json.RawMessage, 0, len(errors))
	for _, text := range errors {
		var read struct { // most messages need not be read in full
			Message string `json:"message"`
		}
		if json.Unmarshal(text, &read) != nil || !authz.IsWithheld(read.Message) && !authz.CountsWithheld(read.Message) {
			others = append(others, text)
		}
	}
	return others, len(others) < len(errors)
}

// stored decodes the errors of a result in their stored form.
func (v View) stored(name string, errors []byte) (d details, err error) {
	if err := json.Unmarshal(errors, &d.errors); err != nil {
		return d, fmt.Errorf("read the errors of a result: %w", err)
	}
	if isOfRevision(name) {
		d.errors, d.warnings = changes.SplitWarnings(d.errors)
	}
	if v.renderer.Compat && name != validations.PolicyValidation {
		d.warnings = nil
	}
	return d, nil
}

// itemsOf writes messages or errors as the errors of an entry.
func itemsOf[T fault.Message | validations.Error](messages []T) (items []json.RawMessage, err error) {
	for _, message := range messages {
		text, err := json.Marshal(message)
		if err != nil {
			return nil, fmt.Errorf("write a message: %w", err)
		}
		items = append(items, text)
	}
	return items, nil
}

// isOfRevision reports whether name is one of the server's validations of whole revisions.
func isOfRevision(name string) bool {
	return validations.IsOwn(name) && name != validations.SchemaValidation
}

// revealed repeats a validation of a whole revision to show the parts of its outcome that are not stored to viewers who
// may see encrypted documents. withheld reports whether it fails because of a secret. The result is empty for other
// viewers, and if the validation is not the server's.
func (v View) revealed(ctx context.Context, revision revisions.Revision, name string, withheld bool) (
	result changes.RevisionResult, err error,
) {
	if !isOfRevision(name) || !v.viewer.Encrypted {
		return result, nil
	}
	key := changes.RenderKey{Site: v.renderer.Site, Revision: revision.ID, Stamp: revision.Stamp}
	documents, fallback, err := v.inputs(ctx, key)
	if err != nil {
		return result, err
	}
	result, _, err = v.renderer.ValidateRevision(ctx, name, revision.ID, documents, fallback)
	if withheld && revision.SecretFails {
		result = result.Joined()
	}
	return result, err
}

// warnings returns likely mistakes that do not fail a revision: documents without a schema, unless a policy lists the
// validation that finds these, the warnings of the server's own validations, and stray keys. Deckhand has none.
func (v View) warnings(ctx context.Context, shown revisions.RevisionStatus) ([]string, error) {
	if v.renderer.Compat {
		return nil, nil
	}
	key := warningsKey{changes.RenderKey{
		Site: v.renderer.Site, Revision: shown.ID, Stamp: shown.Stamp, Cleartext: !v.viewer.Secrets(),
	}}
	return shareAnswer(ctx, v.Service, key, func(ctx context.Context) (all []string, size int, err error) {
		uncovered, err := v.uncovered(ctx, shown)
		if err != nil {
			return nil, 0, err
		}
		if warning := validations.CoverageWarning(uncovered); warning != "" {
			all = append(all, warning)
		}
		if slices.Contains(shown.Verdict.ReportedNames(), validations.RenderingValidation) {
			newest, err := v.newest(ctx, shown.Revision, validations.RenderingValidation)
			if err != nil {
				return nil, 0, err
			}
			all = append(all, changes.WarningsUnder(shown.Verdict, v.viewer.Warnings(newest.warnings))...)
		}
		noted, err := v.strays(ctx, shown.Revision, "", changes.MaxStrays+1)
		if err != nil {
			return nil, 0, err
		}
		var strays []string
		for _, row := range noted {
			strays = changes.AppendStrays(strays, row.About, row.Notes)
		}
		all = append(all, strays...)
		for _, warning := range all {
			size += len(warning)
		}
		return all, size, nil
	})
}

// warningsKey identifies the warnings about a revision.
type warningsKey struct{ changes.RenderKey }

// uncovered returns the schemas of documents of a revision that are not in force; none if a policy lists the validation
// that finds these. Deckhand has none either.
func (v View) uncovered(ctx context.Context, shown revisions.RevisionStatus) ([]validations.Uncovered, error) {
	if v.renderer.Compat || slices.Contains(shown.Verdict.ReportedNames(), validations.CoverageValidation) {
		return nil, nil
	}
	documents, registered, err := v.store.Kinds(ctx, shown.ID, !v.viewer.Secrets())
	if err != nil {
		return nil, v.readError(ctx, shown.ID, "the schemas of documents", err)
	}
	return validations.Coverage(documents, registered, nil), nil
}

// newest returns the stored details of the newest result of a validation.
func (v View) newest(ctx context.Context, revision revisions.Revision, name string) (d details, err error) {
	reported, err := v.store.Reported(ctx, revision, name)
	var texts map[int64]ResultTexts
	if err == nil && len(reported) > 0 {
		reported = reported[len(reported)-1:]
		texts, err = v.store.ResultTexts(ctx, revision, []int64{reported[0].ID})
	}
	if err != nil {
		return d, v.readError(ctx, revision.ID, "validation results", err)
	}
	if len(texts) == 0 {
		return d, nil
	}
	return v.stored(name, texts[reported[0].ID].Errors)
}
