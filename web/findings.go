package web

import (
	"context"
	"net/url"
	"strconv"

	"purser/internal/wire"
)

// findingsView is the content of the page of a revision's findings.
type findingsView struct {
	*pageBuffer

	Revision                              int64
	Validation, Level, Text, Order, Cause string // as requested
	Validations                           []string
	Numbers                               wire.Counts // of those that are asked for
	Shown                                 shownFindings
	Behind                                bool   // it is not the first page
	First, Next                           string // links to other pages; "" if there are none
}

// findings lists the findings of a revision: the numbers of their causes, and those that match a text, in an order. The
// API filters and sorts them.
func (v *visit) findings() (view, error) {
	const limit = 50
	page := findingsView{
		pageBuffer: v.pageBuffer, Validation: v.param("validation"), Level: v.param("level"), Text: v.param("q"),
		Order: v.param("order"), Cause: v.param("cause"), Behind: v.param("after") != "",
	}
	var revision wire.Revision
	if err := v.api.Get(v.Context(), &revision, nil, "revisions", v.PathValue("revision")); err != nil {
		return view{}, err
	}
	page.Revision = revision.ID
	id := strconv.FormatInt(revision.ID, 10)
	query := url.Values{"limit": {strconv.Itoa(limit)}, "cleartext-secrets": {"false"}}
	for name, value := range map[string]string{
		"validation": page.Validation, "level": page.Level, "search": page.Text, "order": page.Order, "cause": page.Cause,
		"after": v.param("after"),
	} {
		if value != "" {
			query.Set(name, value)
		}
	}
	var status wire.Verdict
	var found wire.Findings
	hide := url.Values{"cleartext-secrets": {"false"}}
	err := together(v.Context(),
		func(ctx context.Context) error { return v.api.Get(ctx, &status, hide, "revisions", id, "status") },
		func(ctx context.Context) error { return v.api.Get(ctx, &found, query, "revisions", id, "findings") },
	)
	if err != nil {
		return view{}, err
	}
	for _, required := range requirementsOf(status) {
		page.Validations = append(page.Validations, required.Name)
	}
	page.Numbers = found.Counts
	page.Shown = shownFindings{Groups: byDocument(found.Findings)}
	for _, cause := range found.Causes {
		if cause.Documents > 1 {
			page.Shown.Causes = append(page.Shown.Causes, cause)
		}
	}
	page.First = v.pageAfter("")
	if found.Next != "" {
		page.Next = v.pageAfter(string(found.Next))
	}
	return view{template: "findings", Title: "Findings of revision " + id, Section: "revisions", Data: page}, nil
}

// pageAfter returns a link to the page of the same list after a place, "" for the first page.
func (v *visit) pageAfter(place string) string {
	query := v.URL.Query()
	query.Set("after", place)
	if place == "" {
		query.Del("after")
	}
	return "?" + query.Encode()
}
