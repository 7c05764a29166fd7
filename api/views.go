package api

import (
	"purser/internal/revisions"
	"purser/internal/validations"
	"purser/internal/wire"
)

// listView returns the list of the views of items.
func listView[T, V any](items []T, view func(T) V) wire.List[V] {
	views := make([]V, 0, len(items))
	for _, item := range items {
		views = append(views, view(item))
	}
	return wire.List[V]{Count: len(views), Results: views}
}

// nonNil replaces nil, which would be shown as null, by an empty list.
func nonNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// entry returns the view of an entry.
func (l links) entry(revision int64, entry validations.Entry) wire.Entry {
	view := wire.Entry{Errors: entry.Errors, Name: entry.Name, Notes: entry.Notes, Status: entry.Status}
	if l.compat {
		return view
	}
	view.CarriedFrom, view.ExpiresAfter = entry.CarriedFrom, wire.Optional(entry.ExpiresAfter)
	view.CreatedAt, view.ExpiresAt = wire.TimeText(entry.CreatedAt), new(wire.TimeText(entry.ExpiresAt))
	view.URL = l.validationURL(revision, entry.Name)
	return view
}

// verdictView returns the view of a verdict.
func verdictView(shown revisions.RevisionStatus) wire.Verdict {
	view := wire.Verdict{
		Revision: shown.ID, Stamp: shown.Stamp.String(), Status: shown.Verdict.Status.String(), Policies: []wire.Policy{},
		Ignored: validationViews(shown.Verdict.Ignored), Validations: reasonedViews(shown.Verdict.Reported),
		Warnings: shown.Verdict.Warnings, Notice: shown.Verdict.Notice,
	}
	for _, policy := range shown.Verdict.Policies {
		view.Policies = append(view.Policies, wire.Policy{
			Name: policy.Policy.Name, Status: policy.Status.String(), Validations: reasonedViews(policy.Validations),
		})
	}
	return view
}

func validationViews(judged []validations.Judged) []wire.Validation {
	views := make([]wire.Validation, 0, len(judged))
	for _, j := range judged {
		views = append(views, wire.Validation{Name: j.Name, Status: j.Status.String()})
	}
	return views
}

// reasonedViews is validationViews with the reasons of the validations that did not succeed.
func reasonedViews(judged []validations.Judged) []wire.Validation {
	views := validationViews(judged)
	for i, j := range judged {
		views[i].Message = j.Reason()
	}
	return views
}
