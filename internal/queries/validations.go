package queries

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"purser/internal/budget"
	"purser/internal/changes"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/validations"
	"purser/internal/words"
)

// EntryQuery restricts the entries of a schema validation that fail or have notes.
type EntryQuery struct {
	From, To     int  // positions, excluding To; 0 in To is no end
	Limit        int  // maximum number of rows; 0 is no limit
	FailuresOnly bool // omit entries that only have notes
	Open         bool // omit failures that depend on secrets
	// Document is the name, schema/name or schema/layer/name of the documents that the entries are about; "" for all.
	Document string
}

// Reported is a posted result without its errors.
type Reported struct {
	ID        int64
	Name      string
	Status    string
	CreatedAt time.Time
	Size      int // of the texts, in bytes
	// CarriedFrom is the revision that it was posted about, if it was carried over from there; else 0.
	CarriedFrom int64
}

// ResultTexts are the texts of a posted result.
type ResultTexts struct {
	Errors []byte // a JSON list
	Inputs string // as in validations.Outcome
	URL    string // as in validations.Outcome
	User   string // as in validations.Outcome
}

// Entries is a page of entries.
type Entries struct {
	Entries []validations.Entry
	More    bool // there are others after them
}

// Validations returns a summary of each validation of a revision, named as for Resolve, sorted by name. Its status is
// the one that counts in the verdict; in Deckhand it is that of the worst entry. newest has the newest posted results,
// with their validators if withValidators is set.
func (v View) Validations(ctx context.Context, id string, withValidators bool) (
	all []validations.Summary, newest map[string]validations.Entry, err error,
) {
	evidence, err := v.evidenceWith(ctx, id, withValidators)
	if err != nil {
		return nil, nil, err
	}
	shown := v.status(evidence)
	statuses := shown.Verdict.Statuses()
	if v.renderer.Compat {
		worst, err := v.store.WorstResults(ctx, shown.Revision)
		if err != nil {
			return nil, nil, v.readError(ctx, shown.ID, "validation results", err)
		}
		maps.Copy(statuses, worst)
	}
	policies := revisions.PoliciesOf(shown.Revision, evidence.Policies)
	newest = validations.NewestPosted(policies, evidence.Known[shown.ID].Outcomes)
	return validations.Summarize(policies, statuses), newest, nil
}

// internalNames returns the names of the schema validation, with its alias if a policy uses it.
func internalNames(policies []validations.Policy) []string {
	names := []string{validations.SchemaValidation}
	for _, required := range validations.Required(policies) {
		if required == validations.SchemaValidationAlias {
			names = append(names, required)
		}
	}
	return names
}

// Statuses returns a page of the entries of a validation without their errors. An unknown validation has no entries.
func (v View) Statuses(ctx context.Context, id int64, name string, page Page) (Entries, error) {
	return v.entries(ctx, id, name, page, false)
}

// Entries returns a page of the entries of all validations of a revision, or of one if name is not empty, in order of
// creation and with their errors. It ends early if the errors exceed 4 MiB.
func (v View) Entries(ctx context.Context, id int64, name string, page Page) (Entries, error) {
	return v.entries(ctx, id, name, page, true)
}

func (v View) entries(ctx context.Context, id int64, name string, page Page, withErrors bool) (Entries, error) {
	list, err := v.entryList(ctx, id, name)
	if err != nil {
		return Entries{}, err
	}
	from, to := page.window(0, list.length())
	if withErrors {
		to = list.affordable(from, to)
	}
	entries, err := v.statuses(ctx, list, from, to)
	if err == nil && withErrors {
		err = v.addErrors(ctx, list, entries, from)
	}
	if err != nil {
		return Entries{}, err
	}
	return Entries{validations.Overlay(list.policies, entries), to < list.length()}, nil
}

// Entry returns one entry of a validation by its position, which counts from 0. Fault: NotFound.
func (v View) Entry(ctx context.Context, id int64, name string, position int) (validations.Entry, error) {
	if position >= 0 {
		found, err := v.Entries(ctx, id, name, Page{Offset: position, Limit: 1})
		if err != nil {
			return validations.Entry{}, err
		}
		if len(found.Entries) > 0 {
			return found.Entries[0], nil
		}
	}
	return validations.Entry{}, UnknownEntry(id, name, strconv.Itoa(position))
}

// UnknownEntry returns the NotFound fault for an entry of a validation, by its position as a caller wrote it.
func UnknownEntry(id int64, name, position string) error {
	return fault.New(fault.NotFound, "ValidationNotFound",
		"The requested validation entry %s was not found for validation name %s and revision ID %d", words.Excerpt(position),
		name, id).RequestHint("Entries count from 0; GET /revisions/%d/validations/%s lists them.", id, name)
}

// entryList is the list of a revision's entries: those of the schema validation under each of its names, then those of
// posted results, then one for each validation that a policy lists without a result. Most are created on demand.
//
// For callers who may not see encrypted documents, entries fail only if that depends on no secret, and the last ones,
// which do, are left out. If something that depends on a secret fails, the first entry says so, once. If the schema
// validation fails only together with another one, the first entry tells the other callers.
type entryList struct {
	revision revisions.Revision
	open     bool            // for callers who may not see encrypted documents
	first    json.RawMessage // a further error of the first entry; nil if it has none
	policies []validations.Policy
	internal []string
	reported []Reported
	missing  []string
}

func (v View) entryList(ctx context.Context, id int64, name string) (list entryList, err error) {
	evidence, err := v.evidence(ctx, id)
	if err != nil {
		return list, err
	}
	list.revision = evidence.Revisions[0]
	list.policies = revisions.PoliciesOf(list.revision, evidence.Policies)
	if list.open = !v.viewer.Encrypted; list.open {
		list.revision.Entries -= list.revision.SecretOutside
	}
	if list.first, err = v.joined(ctx, list.revision); err != nil {
		return list, err
	}
	if list.reported, err = v.store.Reported(ctx, list.revision, name); err != nil {
		return list, v.readError(ctx, id, "validation results", err)
	}
	present := map[string]bool{}
	for _, result := range list.reported {
		present[result.Name] = true
	}
	for _, internal := range internalNames(list.policies) {
		if present[internal] = true; name == "" || name == internal {
			list.internal = append(list.internal, internal)
		}
	}
	for _, missing := range validations.Unreported(list.policies, present) {
		if name == "" || name == missing {
			list.missing = append(list.missing, missing)
		}
	}
	return list, nil
}

// made returns the number of entries of the schema validation, under all of its names.
func (l entryList) made() int { return len(l.internal) * l.revision.Entries }

func (l entryList) length() int { return l.made() + len(l.reported) + len(l.missing) }

// affordable returns the end of a page that starts at from, so that its errors do not exceed 4 MiB unless those of its
// first entry do.
func (l entryList) affordable(from, to int) int {
	const maxSize = 4 << 20
	size := 0
	for at := max(from, l.made()); at < min(to, l.made()+len(l.reported)); at++ {
		size += l.reported[at-l.made()].Size
		if size > maxSize && at > from {
			return at
		}
	}
	return to
}

// statuses returns the entries of a window without their errors, before policies are applied.
func (v View) statuses(ctx context.Context, list entryList, from, to int) ([]validations.Entry, error) {
	entries := make([]validations.Entry, 0, to-from)
	for at := from; at < to; at++ {
		entry := list.at(at)
		if entry.ID = at; entry.Errors == nil {
			entry.Errors = []json.RawMessage{}
		}
		entries = append(entries, entry)
	}
	if from >= list.made() || !list.revision.Failed {
		return entries, nil
	}
	failures, err := v.store.Failures(ctx, list.revision, list.query(from, to))
	if err != nil {
		return nil, v.readError(ctx, list.revision.ID, "failures", err)
	}
	if list.first != nil {
		failures = append(failures, revisions.Failure{Entry: 0, Secret: true})
	}
	for _, failure := range failures {
		for _, at := range list.positions(failure.Entry) {
			if at >= from && at < to && (failure.Secret || !failure.Rule.IsZero()) {
				entries[at-from].Status = validations.Failure.String()
			}
		}
	}
	return entries, nil
}

// query selects the stored entries for a window: those of its range, or all if the schema validation has several names.
func (l entryList) query(from, to int) EntryQuery {
	if len(l.internal) > 1 {
		return EntryQuery{Open: l.open}
	}
	return EntryQuery{From: from, To: to, Open: l.open}
}

// positions returns the positions of a stored entry in the list, one for each name of the schema validation.
func (l entryList) positions(entry int) (positions []int) {
	for nth := range l.internal {
		positions = append(positions, nth*l.revision.Entries+entry)
	}
	return positions
}

// addErrors sets the errors of the entries in a window that starts at from. It modifies entries.
func (v View) addErrors(ctx context.Context, list entryList, entries []validations.Entry, from int) error {
	to := from + len(entries)
	if from < list.made() {
		found, err := v.described(ctx, list.revision, list.query(from, to))
		if err != nil {
			return err
		}
		errs, err := v.entryErrors(ctx, found)
		if err != nil {
			return err
		}
		add := func(stored int, errs []json.RawMessage, notes []document.Note) {
			for _, at := range list.positions(stored) {
				if at >= from && at < to {
					entry := &entries[at-from]
					entry.Errors, entry.Notes = append(entry.Errors, errs...), append(entry.Notes, notes...)
				}
			}
		}
		for i, row := range found.Rows {
			add(row.Entry, errs[i], row.Notes)
		}
		if list.first != nil {
			add(0, []json.RawMessage{list.first}, nil)
		}
	}
	return v.addReported(ctx, list, entries, from)
}

// entryErrors returns the errors of entries with all details, as JSON.
func (v View) entryErrors(ctx context.Context, found changes.Described) ([][]json.RawMessage, error) {
	reports, err := v.renderer.Report(ctx, v.viewer, found, true)
	errs := make([][]json.RawMessage, len(reports))
	for i := 0; i < len(reports) && err == nil; i++ {
		errs[i], err = itemsOf(reports[i])
	}
	return errs, err
}

// addReported sets the errors of posted entries.
func (v View) addReported(ctx context.Context, list entryList, entries []validations.Entry, from int) error {
	first := max(from, list.made())
	last := min(from+len(entries), list.made()+len(list.reported))
	var ids []int64
	size := 0
	for at := first; at < last; at++ {
		result := list.reported[at-list.made()]
		ids, size = append(ids, result.ID), size+result.Size
	}
	if len(ids) == 0 {
		return nil
	}
	const copies = 4 // the errors as read, as items, as JSON, as YAML
	if err := budget.NewMeter(ctx).Hold(copies * size); err != nil {
		return fmt.Errorf("hold the errors of validation results: %w", err)
	}
	texts, err := v.store.ResultTexts(ctx, list.revision, ids)
	if err != nil {
		return v.readError(ctx, list.revision.ID, "the errors of validation results", err)
	}
	for i, id := range ids {
		entry := &entries[first-from+i]
		entry.Inputs, entry.URL, entry.User = texts[id].Inputs, texts[id].URL, texts[id].User
		if text := texts[id].Errors; text != nil {
			found, err := v.detailsOf(ctx, list.revision, entry.Name, text)
			if err != nil {
				return err
			}
			entry.Errors = found.errors
			for _, warning := range found.warnings {
				entry.Notes = append(entry.Notes, document.Note{Message: warning.Message, Level: warning.Level})
			}
		}
	}
	return nil
}

// joined returns the error of the schema validation that no entry of its own explains: the one that stands for all
// failures that depend on secrets or, for viewers who may see these, that it fails together with another validation. It
// is nil if there is none.
func (v View) joined(ctx context.Context, revision revisions.Revision) (json.RawMessage, error) {
	message := v.viewer.Withheld()
	switch {
	case !revision.SecretFails:
		return nil, nil
	case v.viewer.Encrypted:
		failures, err := v.store.Failures(ctx, revision, EntryQuery{Limit: 1, FailuresOnly: true})
		if err != nil {
			return nil, v.readError(ctx, revision.ID, "failures", err)
		}
		if len(failures) > 0 {
			return nil, nil
		}
		message = validations.Joined
	}
	text, err := json.Marshal(validations.Unexplained(nil, message, false))
	if err != nil {
		panic(fmt.Errorf("write an error: %w", err)) // such errors always marshal
	}
	return text, nil
}

// clientVersions returns the client versions that a revision was judged with.
func (v View) clientVersions(ctx context.Context, revision revisions.Revision) (validations.ClientVersions, error) {
	documents, err := v.unrendered(ctx, changes.RenderKey{
		Site: v.renderer.Site, Revision: revision.ID, Stamp: revision.Stamp,
	})
	if err != nil {
		return validations.ClientVersions{}, err
	}
	versions, _, err := v.renderer.ClientVersions(ctx, documents)
	return versions, err
}

// described reads the entries of a revision's schema validation that match a query, with everything needed to describe
// them.
func (v View) described(ctx context.Context, revision revisions.Revision, query EntryQuery) (
	found changes.Described, err error,
) {
	if found.Rows, err = v.store.FailedEntries(ctx, revision, query); err != nil {
		return found, v.readError(ctx, revision.ID, "failed entries", err)
	}
	found.Rows = v.noted(found.Rows)
	var pairs []revisions.Pair
	var schemas []document.Digest
	for _, row := range found.Rows {
		pairs = append(pairs, revisions.Pair{Content: row.About.Digest, Rule: row.Rule})
		if validations.RuleText(row.Rule) == nil && !slices.Contains(schemas, row.Rule.Schema) {
			schemas = append(schemas, row.Rule.Schema)
		}
	}
	if found.Findings, err = v.store.Checked(ctx, pairs); err != nil {
		return found, fmt.Errorf("read findings: %w", err)
	}
	if found.Texts, err = v.store.Contents(ctx, schemas); err != nil {
		return found, fmt.Errorf("read DataSchemas: %w", err)
	}
	found.Versions = sync.OnceValues(func() (validations.ClientVersions, error) { return v.clientVersions(ctx, revision) })
	return found, nil
}

// noted removes the notes about encrypted documents from entries, unless the viewer is shown secrets.
func (v View) noted(entries []revisions.FailedEntry) []revisions.FailedEntry {
	for i := range entries {
		if !v.viewer.Secrets() && entries[i].About.Traits().Encrypted {
			entries[i].Notes = nil
		}
	}
	return entries
}

// at returns the entry at a position, as far as it is known without reading failures.
func (l entryList) at(position int) validations.Entry {
	switch made := l.made(); {
	case position < made:
		return validations.Entry{
			Name: l.internal[position/l.revision.Entries], Status: validations.Success.String(),
			CreatedAt: l.revision.CreatedAt,
		}
	case position < made+len(l.reported):
		result := l.reported[position-made]
		return validations.Entry{
			Name: result.Name, Status: result.Status, CreatedAt: result.CreatedAt, CarriedFrom: result.CarriedFrom,
		}
	default:
		return validations.MissingEntry(l.missing[position-made-len(l.reported)])
	}
}
