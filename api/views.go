package api

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"

	"purser/internal/queries"
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
	view.Inputs, view.ResultURL, view.User = json.RawMessage(entry.Inputs), entry.URL, entry.User
	view.URL = l.validationURL(revision, entry.Name)
	return view
}

// newestView returns the view of the newest result of a validation. A validator of another form has no name.
func newestView(entry validations.Entry) *wire.Newest {
	view := &wire.Newest{
		Status: entry.Status, CreatedAt: wire.TimeText(entry.CreatedAt), ExpiresAt: wire.TimeText(entry.ExpiresAt),
		CarriedFrom: entry.CarriedFrom, Inputs: json.RawMessage(entry.Inputs), URL: entry.URL, User: entry.User,
	}
	var posted struct {
		Name    string          `json:"name"`
		Version json.RawMessage `json:"version"`
		Message json.RawMessage `json:"message"`
	}
	if entry.Validator == "" || json.Unmarshal([]byte(entry.Validator), &posted) != nil || posted.Name == "" {
		return view
	}
	view.Validator = &wire.Validator{Name: posted.Name, Version: string(posted.Version)}
	var text string
	if json.Unmarshal(posted.Version, &text) == nil {
		view.Validator.Version = text // else a number, as posted
	}
	_ = json.Unmarshal(posted.Message, &view.Validator.Message) // it stays empty if it is no text
	return view
}

// verdict returns the view of a verdict.
func (l links) verdict(shown revisions.RevisionStatus) wire.Verdict {
	view := wire.Verdict{
		Revision: shown.ID, Stamp: shown.Stamp.String(), Status: shown.Verdict.Status.String(), Policies: []wire.Policy{},
		Ignored: validationViews(shown.Verdict.Ignored), Validations: l.judgedViews(shown.Verdict.Reported, nil),
		Warnings: shown.Verdict.Warnings, Notice: shown.Verdict.Notice, Waived: waivedViews(shown.Verdict),
	}
	for _, policy := range shown.Verdict.Policies {
		view.Policies = append(view.Policies, wire.Policy{
			Name: policy.Policy.Name, Status: policy.Status.String(),
			Validations: l.judgedViews(policy.Validations, policy.Policy.Requirements),
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

// judgedViews is validationViews with the reasons of what is not a success, and the results of others that tell more
// than their status. required are the requirements that were judged; nil if there is no policy.
func (l links) judgedViews(judged []validations.Judged, required []validations.Requirement) []wire.Validation {
	views := make([]wire.Validation, 0, len(judged))
	for i, j := range judged {
		view := standing(j)
		view.Message = j.Reason()
		if !l.compat && j.ResultTells() {
			var requirement validations.Requirement
			if required != nil {
				requirement = required[i]
			}
			view.Newest = newestView(validations.EntryOf(*j.Result, requirement))
		}
		views = append(views, view)
	}
	return views
}

// standing returns the view of a validation in a verdict without its message and its result.
func standing(j validations.Judged) wire.Validation {
	view := wire.Validation{Name: j.Name, Status: j.Status.String(), Advisory: j.Advisory}
	if w := j.Waiver; w != nil {
		view.Waived = &wire.Waived{By: wire.Optional(w.By), Reason: w.Reason, Until: wire.TimeText(w.Until)}
	}
	if c := j.Claim; c != nil {
		view.Claim = &wire.Claimed{Worker: c.Worker, Since: wire.TimeText(c.Since), Attempt: c.Attempt}
	}
	return view
}

// waivedViews returns the views of the validations that pass because of waivers.
func waivedViews(verdict validations.Verdict) (views []wire.Waived) {
	for _, judged := range verdict.Waived() {
		view := *standing(judged).Waived
		view.Validation, view.Status = judged.Name, judged.Status.String()
		views = append(views, view)
	}
	return views
}

// links creates the views that contain URLs of the server.
type links struct {
	base   string // that URLs begin with, such as https://purser.example.org or https://purser.example.org/sites/atl1
	compat bool   // leaves out members that Deckhand does not have
}

// revisionURL returns the URL of a revision.
func (l links) revisionURL(id int64) string {
	return l.base + "/api/v1.0/revisions/" + strconv.FormatInt(id, 10)
}

// validationURL returns the URL of the results of a validation of a revision.
func (l links) validationURL(id int64, name string) string {
	return l.revisionURL(id) + "/validations/" + url.PathEscape(name)
}

// packageURL returns the URL of a package in a revision.
func (l links) packageURL(revision int64, name string) string {
	return l.revisionURL(revision) + "/packages/" + url.PathEscape(name)
}

// entryPageView returns the view of a page of entries.
func entryPageView[T any](l links, at *url.URL, page queries.Page, found queries.Entries,
	view func(validations.Entry) T,
) wire.List[T] {
	shown := listView(found.Entries, view)
	if l.compat {
		return shown
	}
	next, previous := l.pages(at, page, shown.Count, found.More)
	shown.Next, shown.Prev = &next, &previous
	return shown
}

// maxPage is the size of the items after which a page of a list ends, in bytes.
const maxPageBytes = 4 << 20

// pageView returns the view of a page of a list, which ends early if its items are large. at is the URL of the request.
func pageView[T, V any](l links, at *url.URL, page queries.Page, more bool, items []T, view func(T) V) (
	shown wire.List[json.RawMessage], err error,
) {
	texts, size := make([]json.RawMessage, 0, len(items)), 0
	for _, item := range items {
		text, err := json.Marshal(view(item))
		if err != nil {
			return shown, fmt.Errorf("write an item of a list: %w", err)
		}
		if size += len(text); size > maxPageBytes && len(texts) > 0 {
			more = true
			break
		}
		texts = append(texts, text)
	}
	shown.Count, shown.Results = len(texts), texts
	next, previous := l.pages(at, page, len(texts), more)
	shown.Next, shown.Prev = &next, &previous
	return shown, nil
}

// pages returns the URLs of the next and previous pages of one that has count items, "" for a page that does not exist.
// at is the URL of the request.
func (l links) pages(at *url.URL, page queries.Page, count int, more bool) (next, previous wire.Optional) {
	if page.Limit == 0 {
		return "", "" // an empty page has no neighbours
	}
	if more && count == 0 {
		count = page.Limit // those on the page were deleted meanwhile
	}
	if more {
		next = l.pageURL(at, page.Offset+count, page.Limit)
	}
	if page.Offset > 0 {
		limit := page.Limit
		if limit < 0 || limit > page.Offset {
			limit = page.Offset
		}
		previous = l.pageURL(at, page.Offset-limit, limit)
	}
	return next, previous
}

// further returns the URL of a search that goes on after a number of documents.
func (l links) further(at *url.URL, searched int) wire.Optional {
	query := at.Query()
	query.Del("offset")
	query.Set("searched", strconv.Itoa(searched))
	return l.withQuery(at, query)
}

func (l links) pageURL(at *url.URL, offset, limit int) wire.Optional {
	query := at.Query()
	query.Set("offset", strconv.Itoa(offset))
	query.Set("limit", strconv.Itoa(limit))
	return l.withQuery(at, query)
}

func (l links) withQuery(at *url.URL, query url.Values) wire.Optional {
	return wire.Optional(l.base + (&url.URL{Path: at.Path, RawPath: at.RawPath, RawQuery: query.Encode()}).String())
}
