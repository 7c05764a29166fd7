package changes

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"purser/internal/authz"
	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// Described are entries of a schema validation that fail or have notes, with everything needed to describe them.
type Described struct {
	Rows     []revisions.FailedEntry
	Findings map[validations.Pair][]validations.Finding // as recorded
	Texts    map[document.Digest][]byte                 // of the schemas, by digest
	// Versions returns the client versions of the revision.
	Versions func() (validations.ClientVersions, error)
}

// Sizes of the errors in an answer in bytes: up to which they have all details, and up to which they are listed, with
// details or without.
const (
	maxDetailed = 1 << 20
	maxListed   = 3 << 20
	maxReported = 8 << 20
)

// The costs of an error in steps: to word, count and compare it, and to write a byte of its document.
const (
	errorSteps   = 2_000
	sectionSteps = 10
)

// Report returns the errors of entries as a viewer sees them. With details each error shows its part of the document
// and the schema, until the errors reach 1 MiB; from 3 MiB on, without details 8 MiB, each entry has one error with the
// number of its others. Each entry can be requested separately.
func (r Renderer) Report(ctx context.Context, viewer authz.Viewer, d Described, details bool) (
	reports [][]validations.Error, err error,
) {
	findings, meter := d.Findings, budget.NewMeter(ctx)
	if viewer.Secrets() {
		if findings, err = r.reveal(ctx, d); err != nil {
			return nil, err
		}
	}
	size := 0
	reports = make([][]validations.Error, len(d.Rows))
	for i, row := range d.Rows {
		text := validations.RuleText(row.Rule)
		if text == nil {
			text = d.Texts[row.Rule.Schema]
		}
		found := findings[validations.PairOf(row.About.Digest, row.Rule)]
		room := 0
		if details {
			room = maxDetailed - size
		}
		reports[i], err = reportFor(viewer, row, text, found, room)
		if err != nil {
			return nil, fmt.Errorf("word the findings: %w", err)
		}
		for j := range reports[i] {
			if r.Compat { // Deckhand's errors have only these keys
				reports[i][j].Hint, reports[i][j].Causes = "", nil
			}
			meter.Charge(errorSteps + len(reports[i][j].ErrorSection)*sectionSteps)
		}
		listed := maxReported - size
		if details {
			listed = maxListed - size
		}
		var more int
		reports[i], more = within(listed, row.About.Document, reports[i])
		size += more
		if err := meter.Check(); err != nil {
			return nil, budget.About(err, "list the errors of document %s", row.About.Identity)
		}
	}
	return reports, nil
}

// within returns the errors about a document that take room bytes, with one that stands for the others, and their size.
func within(room int, doc *document.Document, errs []validations.Error) (listed []validations.Error, size int) {
	for i := range errs {
		if size > room && !authz.IsWithheld(errs[i].Message) {
			rest := validations.Unexplained(doc, fault.Unlisted(len(errs)-i).Message, true)
			rest.Unlisted = len(errs) - i
			return append(errs[:i], rest), size
		}
		size += errs[i].Size()
	}
	return errs, size
}

// reportFor returns the errors of one entry as a viewer sees them.
func reportFor(viewer authz.Viewer, row revisions.FailedEntry, rule []byte, found []validations.Finding, room int) (
	[]validations.Error, error,
) {
	doc, encrypted := row.About.Document, row.About.Traits().Encrypted
	switch {
	case viewer.Secrets() || len(found) == 0 || !encrypted && !validations.AreSecret(found):
		return validations.Report(doc, rule, found, room)
	default:
		return []validations.Error{validations.Unexplained(doc, viewer.Withheld(), viewer.Encrypted)}, nil
	}
}

// reveal returns all findings including secret ones. Secret findings are not stored, so it repeats their checks, as far
// as these take no more work than those of a change may. What is stored of the others says that they break a rule.
func (r Renderer) reveal(ctx context.Context, d Described) (map[validations.Pair][]validations.Finding, error) {
	findings := maps.Clone(d.Findings)
	meter, confined := budget.NewMeter(ctx), budget.Confined(ctx, secretSteps)
	for _, row := range d.Rows {
		pair := validations.PairOf(row.About.Digest, row.Rule)
		if !validations.AreSecret(findings[pair]) {
			continue
		}
		checker, quoted, err := r.checker(meter, row.Rule, d)
		if err != nil {
			return nil, budget.About(err, "compile the DataSchema %s", row.About.Schema)
		}
		if checker == nil {
			continue // the check was made with other client versions or DataSchemas
		}
		own := ofSecret(confined, row.About)
		found, err := r.findings(ctx, own, checker, row.About, quoted)
		err = own.Done(err)
		if _, spent := errors.AsType[*budget.Exceeded](err); spent {
			continue
		}
		if err != nil {
			return nil, budget.About(err, "check document %s by schema %s", row.About.Identity, row.About.Schema)
		}
		if len(found) > 0 {
			findings[pair] = found
		}
	}
	return findings, meter.Check()
}

// checker returns the checker of a rule, nil if its client versions or a DataSchema that it refers to are unknown.
// ofSecret is set if the client versions come from a secret.
func (r Renderer) checker(meter *budget.Meter, rule validations.Rule, d Described) (
	checker validations.Checker, ofSecret bool, err error,
) {
	versions := validations.ClientVersions{}
	if !rule.Context.IsZero() {
		if versions, err = d.Versions(); err != nil {
			return nil, false, err
		}
		ofSecret = versions.AreSecret() && versions.Digest() == rule.Context
	}
	if checker, ok := r.Engine.BuiltIn(rule, ""); ok {
		return checker, ofSecret, nil
	}
	text := d.Texts[rule.Schema]
	schema := validations.DataSchema{Digest: rule.Schema, Text: text}
	again, err := r.Engine.RuleOf(meter, schema, versions.Digest())
	if err != nil || again != rule || text == nil {
		return nil, false, err
	}
	checker, err = r.Engine.Compile(meter, schema, versions)
	return checker, ofSecret, err
}

// MaxStrays is the maximum number of stray keys that a status names.
const MaxStrays = 5

// AppendStrays appends the warnings of a status about stray keys of a document to those about others.
func AppendStrays(warnings []string, about *revisions.Stored, notes []document.Note) []string {
	for _, note := range notes {
		switch {
		case !validations.IsStray(note) || len(warnings) > MaxStrays:
		case len(warnings) == MaxStrays:
			warnings = append(warnings, "More keys of documents are not kept, or have no effect: the findings name them")
		default:
			warnings = append(warnings, about.Known()+": "+note.Message)
		}
	}
	return warnings
}
