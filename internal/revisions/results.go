package revisions

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/validations"
)

// Post appends a result that another service reports about a revision (spec/api.md §8.1). body is the parsed request.
// Faults: Invalid, Forbidden for a reserved name, NotFound for an unknown revision.
func (s *Service) Post(ctx context.Context, revision int64, name string, body any) (validations.Result, error) {
	result, err := validations.ParseResult(name, body, s.Compat)
	if err != nil {
		return validations.Result{}, err
	}
	result.CreatedAt = s.Now().UTC()
	if err := s.Store.AddResult(ctx, revision, result); err != nil {
		return validations.Result{}, fmt.Errorf("store validation result: %w", s.explained(ctx, revision, err))
	}
	return result, nil
}

// Validations returns one line for each validation of a revision, sorted by name (spec/api.md §8.2).
func (s *Service) Validations(ctx context.Context, id int64) ([]validations.Summary, error) {
	revision, policies, err := s.underPolicies(ctx, id)
	if err != nil {
		return nil, err
	}
	worst, err := s.Store.WorstResults(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("read validation results: %w", err)
	}
	for _, name := range ownNames(policies) {
		worst[name] = ownOutcome(revision).Status.String()
	}
	return validations.Summarize(policies, worst), nil
}

// Entries returns the entries of all validations of a revision in order of creation, or of one if name is not empty
// (spec/api.md §8.3, 8.4). An unknown name has none.
func (s *Service) Entries(ctx context.Context, id int64, name string) ([]validations.Entry, error) {
	return s.entries(ctx, id, name, Wanted{})
}

// Statuses is Entries of one validation without what went wrong in them.
func (s *Service) Statuses(ctx context.Context, id int64, name string) ([]validations.Entry, error) {
	return s.entries(ctx, id, name, Wanted{Limit: none})
}

// Entry returns one entry of a validation by its position. Faults: NotFound.
func (s *Service) Entry(ctx context.Context, id int64, name string, position int) (validations.Entry, error) {
	entries, err := s.entries(ctx, id, name, Wanted{From: min(max(position, 0), math.MaxInt32), Limit: 1})
	if err != nil {
		return validations.Entry{}, err
	}
	if position < 0 || position >= len(entries) {
		return validations.Entry{}, fault.New(fault.NotFound, "ValidationNotFound",
			"The requested validation entry %d was not found for validation name %s and revision ID %d", position, name, id)
	}
	return entries[position], nil
}

// none is a limit that wants nothing.
const none = -1

// entries gives all entries; of those of the schema validation only the wanted ones say what went wrong.
func (s *Service) entries(ctx context.Context, id int64, name string, wanted Wanted) ([]validations.Entry, error) {
	revision, policies, err := s.underPolicies(ctx, id)
	if err != nil {
		return nil, err
	}
	var entries []validations.Entry
	for _, own := range ownNames(policies) {
		if name != "" && name != own {
			continue
		}
		made, err := s.ownEntries(ctx, revision, own, wanted)
		if err != nil {
			return nil, err
		}
		entries = append(entries, made...)
	}
	results, err := s.Store.Results(ctx, id, name)
	if err != nil {
		return nil, fmt.Errorf("read validation results: %w", err)
	}
	for _, result := range results {
		entry, err := entryOf(result)
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry)
	}
	return named(validations.Overlay(policies, entries), name), nil
}

// named keeps the entries of a name, all if it is empty: the overlay brings one for each missing validation.
func named(entries []validations.Entry, name string) []validations.Entry {
	if name == "" {
		return entries
	}
	kept := entries[:0]
	for _, entry := range entries {
		if entry.Name == name {
			entry.ID = len(kept)
			kept = append(kept, entry)
		}
	}
	return kept
}

func (s *Service) underPolicies(ctx context.Context, id int64) (Revision, []validations.Policy, error) {
	standing, err := s.standing(ctx, id)
	if err != nil {
		return Revision{}, nil, err
	}
	return standing.Revisions[0], inForce(standing.Policies, id), nil
}

// ownNames are the names the schema validation goes by: its alias too where a policy uses it (spec/api.md §0 D2).
func ownNames(policies []validations.Policy) []string {
	names := []string{validations.SchemaValidation}
	for _, required := range validations.Required(policies) {
		if required == validations.SchemaValidationAlias {
			names = append(names, required)
		}
	}
	return names
}

// ownEntries are the entries of the schema validation: successes all but those that are stored.
func (s *Service) ownEntries(ctx context.Context, revision Revision, name string, wanted Wanted) (
	[]validations.Entry, error,
) {
	entries := make([]validations.Entry, revision.Entries)
	for i := range entries {
		entries[i] = validations.Entry{
			Name: name, Status: validations.Success.String(), CreatedAt: revision.CreatedAt, Errors: []json.RawMessage{},
		}
	}
	failures, err := s.Store.Failures(ctx, revision.ID)
	if err != nil {
		return nil, fmt.Errorf("read failures: %w", err)
	}
	for _, failure := range failures {
		if !failure.Rule.IsZero() && failure.Entry < len(entries) {
			entries[failure.Entry].Status = validations.Failure.String()
		}
	}
	if len(failures) == 0 || wanted.Limit == none {
		return entries, nil
	}
	worded, err := s.failed(ctx, revision.ID, wanted)
	for _, entry := range worded {
		if entry.position < len(entries) { // a purge may have come in between
			entries[entry.position].Errors = entry.errors
		}
	}
	return entries, err
}

func entryOf(result validations.Result) (validations.Entry, error) {
	entry := validations.Entry{
		Name: result.Name, Status: result.Status, CreatedAt: result.CreatedAt, Errors: []json.RawMessage{},
	}
	if err := json.Unmarshal(result.Errors, &entry.Errors); err != nil {
		return entry, fmt.Errorf("read the errors of a result: %w", err)
	}
	return entry, nil
}

// ownEntry is what an entry of the schema validation says beyond success.
type ownEntry struct {
	position int
	errors   []json.RawMessage
}

// failed words the wanted entries of a revision's schema validation that are no plain success.
func (s *Service) failed(ctx context.Context, revision int64, wanted Wanted) ([]ownEntry, error) {
	rows, err := s.Store.FailedEntries(ctx, revision, wanted)
	if err != nil {
		return nil, fmt.Errorf("read failed entries: %w", err)
	}
	return s.word(ctx, rows, nil, !wanted.MessagesOnly)
}

// word says what went wrong in entries, with what surrounds it if that is detailed. change is the one that they are of,
// if it is not stored.
func (s *Service) word(ctx context.Context, rows []FailedEntry, change *Change, detailed bool) ([]ownEntry, error) {
	findings, texts, err := s.grounds(ctx, rows, change)
	if err != nil {
		return nil, err
	}
	// An answer of many failures is bounded; each of them can be asked for alone.
	const most = 32 << 20
	size := 0
	entries := make([]ownEntry, 0, len(rows))
	for _, row := range rows {
		doc := row.About.Document
		reports, err := validations.Report(doc, texts[row.Rule.Schema], findings[validations.PairOf(doc.Digest, row.Rule)],
			detailed && size < most)
		if err != nil {
			return nil, fmt.Errorf("word the findings: %w", err)
		}
		entry := ownEntry{position: row.Entry, errors: []json.RawMessage{}}
		if entry.errors, err = appendJSON(entry.errors, reports); err != nil {
			return nil, err
		}
		if entry.errors, err = appendJSON(entry.errors, row.Notes); err != nil {
			return nil, err
		}
		for _, text := range entry.errors {
			size += len(text)
		}
		entries = append(entries, entry)
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

// grounds reads what the failures of entries rest on: the findings, and the texts of the rules. What a change that is
// not stored brings is known from it.
func (s *Service) grounds(ctx context.Context, rows []FailedEntry, change *Change) (
	map[validations.Pair][]validations.Finding, map[document.Digest][]byte, error,
) {
	var pairs []Pair
	texts := map[document.Digest][]byte{}
	var stored []document.Digest
	for _, row := range rows {
		pairs = append(pairs, Pair{row.About.Digest, row.Rule})
		if text := validations.RuleText(row.Rule); text != nil {
			texts[row.Rule.Schema] = text
		} else if _, asked := texts[row.Rule.Schema]; !asked {
			texts[row.Rule.Schema] = nil
			stored = append(stored, row.Rule.Schema)
		}
	}
	findings, err := s.Store.Checked(ctx, pairs)
	if err != nil {
		return nil, nil, fmt.Errorf("read findings: %w", err)
	}
	contents, err := s.Store.Contents(ctx, stored)
	if err != nil {
		return nil, nil, fmt.Errorf("read DataSchemas: %w", err)
	}
	maps.Copy(texts, contents)
	if change == nil {
		return findings, texts, nil
	}
	for _, check := range change.Checks {
		findings[check.Name()] = check.Findings
	}
	for _, doc := range change.Added {
		if _, asked := texts[doc.Digest]; asked {
			texts[doc.Digest] = doc.Data
		}
	}
	return findings, texts, nil
}
