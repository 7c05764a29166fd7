package web

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"purser/internal/client"
)

// revisionsView is the content of the list of revisions.
type revisionsView struct {
	*paper

	Items []revisionItem
	Tag   string
	Pages pager
}

// revisions lists the revisions, newest first.
func (v *visit) revisions() (view, error) {
	const limit = 50
	page := revisionsView{paper: v.paper, Tag: v.param("tag"), Pages: v.pager(limit)}
	query := url.Values{}
	if page.Tag != "" {
		query.Set("tag", page.Tag)
	}
	var more bool
	var err error
	if page.Items, more, err = v.history(v.Context(), query, page.Pages.Offset, limit); err != nil {
		return view{}, err
	}
	page.Pages.end(len(page.Items), more)
	return view{template: "revisions", title: "Revisions", section: "revisions", data: page}, nil
}

// revisionView is the content of the page of a revision.
type revisionView struct {
	*paper

	Revision  revisionItem
	Newest    bool
	Verdict   verdict
	Stamp     string
	Required  []required
	Others    []client.Validation // validations that no policy requires
	Findings  []grouped
	More      int
	Previous  int64        // the revision before; -1 if there is none
	Changes   []comparison // the first ones
	Changed   int          // number of all
	Unshown   string       // why there are no changes
	Documents []storedDocument
	Next      bool // there are more documents
	Tags      []tag
	May       allowed
}

// tag is a tag with its data.
type tag struct {
	Name string
	Data string // JSON; "" without any
}

// revision shows one revision.
func (v *visit) revision() (view, error) {
	var described struct {
		client.Revision

		Tagged map[string]json.RawMessage `json:"tags"`
	}
	if err := v.api.get(v.Context(), &described, nil, "revisions", v.PathValue("revision")); err != nil {
		return view{}, err
	}
	page := revisionView{paper: v.paper, Revision: revisionItem{Revision: described.Revision}, Previous: described.ID - 1}
	for _, name := range sortedKeys(described.Tagged) {
		page.Tags = append(page.Tags, tag{name, tagText(described.Tagged[name])})
	}
	id := strconv.FormatInt(described.ID, 10)
	var judged judgement
	var documents list[storedDocument]
	var reported list[client.Validation]
	var newest client.Revision
	err := together(v.Context(),
		func(ctx context.Context) (err error) {
			judged, err = v.judge(ctx, id, 200) //nolint:mnd // some
			return err
		},
		func(ctx context.Context) (err error) {
			page.Changes, page.Changed, err = v.changes(ctx, strconv.FormatInt(page.Previous, 10), id, false, 0)
			if refused, ok := err.(*refusal); ok && serious(err) == nil { //nolint:errorlint // as it was returned
				page.Unshown = refused.Error()
			}
			return serious(err)
		},
		func(ctx context.Context) (err error) {
			documents, err = v.documents(ctx, id, url.Values{}, 0, 50) //nolint:mnd // some
			return serious(err)
		},
		func(ctx context.Context) error {
			return serious(v.api.get(ctx, &reported, nil, "revisions", id, "validations"))
		},
		func(ctx context.Context) error { return serious(v.api.get(ctx, &newest, nil, "revisions", "latest")) },
	)
	if err != nil {
		return view{}, err
	}
	page.Verdict, page.Stamp, page.Required = judged.verdict, judged.stamp, judged.required
	page.Findings, page.More = judged.groups, judged.more
	page.Others = othersOf(reported.Results, judged.required)
	page.Documents, page.Next = documents.Results, documents.Next != nil
	page.Newest = newest.ID == described.ID
	page.May = v.allowed()
	return view{template: "revision", title: "Revision " + id, section: "revisions", data: page}, nil
}

// othersOf returns the validations that are not among the required ones.
func othersOf(all []client.Validation, required []required) (others []client.Validation) {
	known := map[string]bool{}
	for _, r := range required {
		known[r.Name] = true
	}
	for _, validation := range all {
		if !known[validation.Name] {
			others = append(others, validation)
		}
	}
	return others
}

// tagText returns the data of a tag as text, "" if it has none.
func tagText(data json.RawMessage) string {
	if text := string(data); text != "{}" && text != "null" {
		return text
	}
	return ""
}

// maxChanges is the number of changed documents on a page.
const maxChanges = 100

// changes returns the documents that differ between two revisions, as submitted or as rendered, without their
// differences: a page that begins at an offset, and the total number.
func (v *visit) changes(ctx context.Context, from, to string, rendered bool, offset int) (
	changes []comparison, count int, err error,
) {
	query := differencesQuery("documents", rendered, offset)
	var differing list[struct {
		client.Identity

		Change string `json:"change"`
	}]
	if err := v.api.get(ctx, &differing, query, "revisions", from, "deepdiff", to); err != nil {
		return nil, 0, err
	}
	changes = make([]comparison, len(differing.Results))
	for i, d := range differing.Results {
		changes[i] = comparison{Document: d.Identity, Change: wordFor(d.Change)}
	}
	return changes, differing.Count, nil
}

// differencesQuery returns the query for a page of the differences between two revisions in a form.
func differencesQuery(form string, rendered bool, offset int) url.Values {
	return url.Values{
		"format": {form}, "rendered": {strconv.FormatBool(rendered)}, "cleartext-secrets": {"false"},
		"offset": {strconv.Itoa(offset)}, "limit": {strconv.Itoa(maxChanges)},
	}
}

func wordFor(change string) string {
	switch change {
	case "created":
		return "added"
	case "modified":
		return "changed"
	}
	return change
}

// documents returns a page of the documents of a revision, without their data.
func (v *visit) documents(ctx context.Context, revision string, query url.Values, offset, limit int) (
	found list[storedDocument], err error,
) {
	wanted := limit + 1
	if v.Compat { // its lists have no offset
		wanted += offset
	}
	query.Set("limit", strconv.Itoa(wanted))
	query.Set("offset", strconv.Itoa(offset))
	query.Set("cleartext-secrets", "false")
	if err := v.api.get(ctx, &found.Results, query, "revisions", revision, "documents"); err != nil {
		return found, err
	}
	if v.Compat {
		found.Results = found.Results[min(offset, len(found.Results)):]
	}
	if len(found.Results) > limit {
		found.Results, found.Next = found.Results[:limit], new("")
	}
	return found, nil
}

// validationView is the content of the page of a validation's results.
type validationView struct {
	*paper

	Revision client.Revision
	Name     string
	Entries  []entry
	Pages    pager
	Newest   entry
}

// validation shows the results of a validation of a revision.
func (v *visit) validation() (view, error) {
	const limit = 100
	page := validationView{paper: v.paper, Name: v.PathValue("name"), Pages: v.pager(limit)}
	if err := v.api.get(v.Context(), &page.Revision, nil, "revisions", v.PathValue("revision")); err != nil {
		return view{}, err
	}
	id := strconv.FormatInt(page.Revision.ID, 10)
	var found list[entry]
	query := url.Values{"limit": {strconv.Itoa(limit)}, "offset": {strconv.Itoa(page.Pages.Offset)}}
	if err := v.api.get(v.Context(), &found, query, "revisions", id, "validations", page.Name); err != nil {
		return view{}, err
	}
	page.Pages.end(len(found.Results), found.Next != nil)
	page.Entries = found.Results
	if number := v.param("entry"); number != "" {
		err := v.api.get(v.Context(), &page.Newest, url.Values{"cleartext-secrets": {"false"}},
			"revisions", id, "validations", page.Name, "entries", number)
		if err != nil {
			return view{}, err
		}
		page.Newest.ID, _ = strconv.Atoi(number) // the API accepted it as a number
	} else if newest, err := v.newest(v.Context(), id, page.Name); err == nil {
		page.Newest = newest
		page.Newest.ID = -1
	} else if !refusedWith(err, http.StatusNotFound) {
		return view{}, err
	}
	return view{
		template: "validation", title: page.Name + " of revision " + id, section: "revisions", data: page,
	}, nil
}
