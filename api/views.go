package api

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"purser/internal/document"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// timeFormat is UTC without a zone and with microseconds, as Python prints it (spec/api.md §1.4).
const timeFormat = "2006-01-02T15:04:05.000000"

func timeText(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := t.UTC().Format(timeFormat)
	return &text
}

// appendDocument appends the members of a document's view except for its status (spec/api.md §3.4).
func appendDocument(text []byte, doc *revisions.Stored) []byte {
	text = append(append(text, `"data":`...), doc.Data...)
	text = strconv.AppendInt(append(text, `,"id":`...), doc.ID, 10)
	text = append(append(text, `,"metadata":`...), doc.Metadata...)
	return document.AppendJSON(append(text, `,"schema":`...), doc.Schema)
}

func appendStatus(text []byte, bucket string, revision int64) []byte {
	return document.AppendJSON(append(text, `"status":`...), document.Mapping{
		{Key: "bucket", Value: bucket},
		{Key: "revision", Value: document.Number(strconv.FormatInt(revision, 10))},
	})
}

// origin returns the URL that links in answers begin with: PublicURL or, without it, the scheme and host by which the
// client says that it reached the server. Anybody may have chosen the host that a request names, so no page shows it.
func (s *server) origin(r *http.Request) string {
	if s.PublicURL != "" {
		return s.PublicURL
	}
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	return scheme + "://" + r.Host
}

func (s *server) revisionURL(r *http.Request, id int64) string {
	return s.origin(r) + "/api/v1.0/revisions/" + strconv.FormatInt(id, 10)
}

func (s *server) validationURL(r *http.Request, id int64, name string) string {
	return s.revisionURL(r, id) + "/validations/" + url.PathEscape(name)
}

// statusOnly returns the item to list for a bucket that has no documents (spec/api.md §3.4).
func statusOnly(bucket string, revision int64) []byte {
	return append(appendStatus([]byte("{"), bucket, revision), '}')
}

// list is the view of every list.
type list[T any] struct {
	Count   int `json:"count"`
	Results []T `json:"results"`
}

// listOf returns the list of the views of items.
func listOf[T, V any](items []T, view func(T) V) list[V] {
	views := make([]V, 0, len(items))
	for _, item := range items {
		views = append(views, view(item))
	}
	return list[V]{len(views), views}
}

// paged is a list with the URLs of the next and previous pages. Next and Prev are nil if lists have no pages.
type paged[T any] struct {
	list[T]

	Next **string `json:"next,omitempty"`
	Prev **string `json:"prev,omitempty"`
}

// entryItem is an entry in the list of one validation.
type entryItem struct {
	ID     int    `json:"id"`
	Status string `json:"status"`
}

// entryView is an entry of a validation. Its optional parts depend on the route (spec/api.md §8.3-8.5).
type entryView struct {
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

func (s *server) entryView(r *http.Request, revision int64, entry validations.Entry) entryView {
	view := entryView{Errors: entry.Errors, Name: entry.Name, Notes: entry.Notes, Status: entry.Status}
	if s.Compat {
		return view
	}
	view.CarriedFrom = entry.CarriedFrom
	expiresAt := timeText(entry.ExpiresAt)
	view.CreatedAt, view.ExpiresAt = timeText(entry.CreatedAt), &expiresAt
	if entry.ExpiresAfter != "" {
		view.ExpiresAfter = &entry.ExpiresAfter
	}
	view.URL = s.validationURL(r, revision, entry.Name)
	return view
}

// statusView is the verdict on a revision.
type statusView struct {
	Revision    int64            `json:"revision"`
	Stamp       string           `json:"stamp"`
	Status      string           `json:"status"`
	Policies    []policyView     `json:"policies"`
	Ignored     []validationView `json:"ignored"`
	Validations []validationView `json:"validations,omitempty"` // without a policy, those reported
	Warnings    []string         `json:"warnings,omitempty"`
}

func statusViewOf(shown revisions.Shown) statusView {
	view := statusView{
		Revision: shown.ID, Stamp: shown.Stamp.String(), Status: shown.Verdict.Status.String(), Policies: []policyView{},
		Ignored: validationViews(shown.Verdict.Ignored), Validations: reasonedViews(shown.Verdict.Reported),
		Warnings: shown.Verdict.Warnings,
	}
	for _, policy := range shown.Verdict.Policies {
		view.Policies = append(view.Policies, policyView{
			Name: policy.Policy.Name, Status: policy.Status.String(), Validations: reasonedViews(policy.Validations),
		})
	}
	return view
}

func validationViews(judged []validations.Judged) []validationView {
	views := []validationView{}
	for _, j := range judged {
		views = append(views, validationView{Name: j.Name, Status: j.Status.String()})
	}
	return views
}

// reasonedViews is validationViews with the reasons of those that did not succeed.
func reasonedViews(judged []validations.Judged) []validationView {
	views := validationViews(judged)
	for i, j := range judged {
		views[i].Message = j.Reason()
	}
	return views
}

// postedView is the answer to a posted result (spec/api.md §8.1).
type postedView struct {
	Revision  int64           `json:"revision,omitempty"` // that it is about; the reference does not show it
	Stamp     string          `json:"stamp,omitempty"`
	Status    string          `json:"status"`
	Validator json.RawMessage `json:"validator"`
	Warning   string          `json:"warning,omitempty"`
}
