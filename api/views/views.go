package views

import (
	"encoding/json"
	"time"

	"purser/internal/document"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// TimeFormat is UTC without a zone and with microseconds, as Python prints it (spec/api.md §1.4).
const TimeFormat = "2006-01-02T15:04:05.000000"

func timeText(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := t.UTC().Format(TimeFormat)
	return &text
}

// List is the view of every list.
type List[T any] struct {
	Count   int `json:"count"`
	Results []T `json:"results"`
}

// ListOf returns the list of the views of items.
func ListOf[T, V any](items []T, view func(T) V) List[V] {
	views := make([]V, 0, len(items))
	for _, item := range items {
		views = append(views, view(item))
	}
	return List[V]{len(views), views}
}

// EntryItem is an entry in the list of one validation.
type EntryItem struct {
	ID     int    `json:"id"`
	Status string `json:"status"`
}

// Entry is an entry of a validation. Its optional parts depend on the route (spec/api.md §8.3-8.5).
type Entry struct {
	CarriedFrom  int64             `json:"carriedFrom,omitempty"`
	CreatedAt    *string           `json:"createdAt"`
	Errors       []json.RawMessage `json:"errors"`
	ExpiresAfter *string           `json:"expiresAfter"`
	ExpiresAt    **string          `json:"expiresAt,omitempty"`
	ID           *int              `json:"id,omitempty"`
	Name         string            `json:"name"`
	Notes        []document.Note   `json:"notes,omitempty"`
	Status       string            `json:"status"`
	URL          string            `json:"url,omitempty"`
}

// Entry returns the view of an entry.
func (l Links) Entry(revision int64, entry validations.Entry) Entry {
	view := Entry{Errors: entry.Errors, Name: entry.Name, Notes: entry.Notes, Status: entry.Status}
	if l.Compat {
		return view
	}
	view.CarriedFrom = entry.CarriedFrom
	expiresAt := timeText(entry.ExpiresAt)
	view.CreatedAt, view.ExpiresAt = timeText(entry.CreatedAt), &expiresAt
	if entry.ExpiresAfter != "" {
		view.ExpiresAfter = &entry.ExpiresAfter
	}
	view.URL = l.ValidationURL(revision, entry.Name)
	return view
}

// Status is the verdict on a revision.
type Status struct {
	Revision    int64        `json:"revision"`
	Stamp       string       `json:"stamp"`
	Status      string       `json:"status"`
	Notice      string       `json:"notice,omitempty"` // without a policy, what counted
	Policies    []policyView `json:"policies"`
	Ignored     []Validation `json:"ignored"`
	Validations []Validation `json:"validations,omitempty"` // without a policy, the reported ones
	Warnings    []string     `json:"warnings,omitempty"`
}

// StatusOf returns the view of a verdict.
func StatusOf(shown revisions.Shown) Status {
	view := Status{
		Revision: shown.ID, Stamp: shown.Stamp.String(), Status: shown.Verdict.Status.String(), Policies: []policyView{},
		Ignored: validationViews(shown.Verdict.Ignored), Validations: reasonedViews(shown.Verdict.Reported),
		Warnings: shown.Verdict.Warnings, Notice: shown.Verdict.Notice,
	}
	for _, policy := range shown.Verdict.Policies {
		view.Policies = append(view.Policies, policyView{
			Name: policy.Policy.Name, Status: policy.Status.String(), Validations: reasonedViews(policy.Validations),
		})
	}
	return view
}

func validationViews(judged []validations.Judged) []Validation {
	views := make([]Validation, 0, len(judged))
	for _, j := range judged {
		views = append(views, Validation{Name: j.Name, Status: j.Status.String()})
	}
	return views
}

// reasonedViews is validationViews with the reasons of the validations that did not succeed.
func reasonedViews(judged []validations.Judged) []Validation {
	views := validationViews(judged)
	for i, j := range judged {
		views[i].Message = j.Reason()
	}
	return views
}

// Posted is the answer to a posted result (spec/api.md §8.1).
type Posted struct {
	Revision  int64           `json:"revision,omitempty"` // not shown by the reference
	Stamp     string          `json:"stamp,omitempty"`
	Status    string          `json:"status"`
	Validator json.RawMessage `json:"validator"`
	Warning   string          `json:"warning,omitempty"`
}
