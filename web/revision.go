package web

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"

	"purser/internal/client"
	"purser/internal/document"
	"purser/internal/wire"
	"purser/internal/words"
)

// revisionsView is the content of the list of revisions.
type revisionsView struct {
	*pageBuffer

	Items []wire.Revision
	Tag   string
	Pages pager
}

// revisions lists the revisions, newest first.
func (v *visit) revisions() (view, error) {
	const limit = 50
	page := revisionsView{pageBuffer: v.pageBuffer, Tag: v.param("tag"), Pages: newPager(v.URL, limit)}
	query := url.Values{}
	if page.Tag != "" {
		query.Set("tag", page.Tag)
	}
	var more bool
	var err error
	if page.Items, more, err = v.history(v.Context(), query, page.Pages.Offset, limit); err != nil {
		return view{}, err
	}
	page.Pages.End(len(page.Items), more)
	return view{template: "revisions", Title: "Revisions", Section: "revisions", Data: page}, nil
}

// revisionView is the content of the page of a revision.
type revisionView struct {
	*pageBuffer

	Revision wire.Revision
	Newest   bool
	judgement
	way
	Before    int64 // the revision before that is left; 0 if there is none
	After     int64
	Weakened  []string     // policies since Before
	Changes   []comparison // the first ones
	Changed   int          // number of all
	Unshown   string       // why there are no changes
	Documents []wire.Document
	Next      bool // there are more documents
	Tags      []tag
	Post      string // the validation that the form for a result names
	Waivers   []wire.Waiver
}

// tag is a tag with its data.
type tag struct {
	Name string
	Data string // JSON; "" without any
}

// revision shows one revision.
func (v *visit) revision() (view, error) {
	const findings = 200
	status, err := v.status(v.Context(), v.PathValue("revision"), findings)
	if err != nil {
		return view{}, err
	}
	described := *status.Details.Revision
	page := revisionView{
		pageBuffer: v.pageBuffer, Revision: described, Weakened: described.Weakened, judgement: v.judge(status),
		Before: *described.Previous, After: *described.Next, Newest: *described.Next == 0,
	}
	for _, name := range described.Tags.Names {
		page.Tags = append(page.Tags, tag{name, tagText(described.Tags.Data[name])})
	}
	id := strconv.FormatInt(described.ID, 10)
	var documents documentPage
	var newest []wire.Revision
	var claims map[string]wire.Work
	err = together(v.Context(),
		func(ctx context.Context) (err error) {
			claims, err = v.work(ctx, described.ID)
			return err
		},
		func(ctx context.Context) (err error) {
			page.Waivers, err = v.waivers(ctx, id)
			return err
		},
		func(ctx context.Context) (err error) {
			page.Changes, page.Changed, err = v.changes(ctx, strconv.FormatInt(page.Before, 10), id, false, 0)
			if err != nil && dropExpected(err) == nil {
				page.Unshown = err.Error()
			}
			return dropExpected(err)
		},
		func(ctx context.Context) (err error) {
			documents, err = v.documents(ctx, id, url.Values{}, 0, 50) //nolint:mnd // some
			return dropExpected(err)
		},
		func(ctx context.Context) (err error) {
			if page.Newest && described.Status != success {
				newest, err = v.recent(ctx, id)
			}
			return dropExpected(err)
		},
	)
	if err != nil {
		return view{}, err
	}
	workOn(page.Required, claims)
	page.Documents, page.Next = documents.Results, documents.Next != nil
	page.way = v.wayOut(page.Revision.ID, page.Newest, lastGood(newest))
	if page.Post = v.param("post"); words.Line(page.Post) != page.Post {
		page.Post = "" // a form cannot hold it
	}
	return view{
		template: "revision", Title: page.Verdict.Title(), Section: "revisions", Data: page,
	}, nil
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
	var differing wire.List[wire.Difference]
	if err := v.api.Get(ctx, &differing, query, "revisions", from, "deepdiff", to); err != nil {
		return nil, 0, err
	}
	changes = make([]comparison, len(differing.Results))
	for i, d := range differing.Results {
		changes[i] = comparison{Document: d.Identity(), Change: wordFor(d.Change)}
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

// documentPage is a page of documents.
type documentPage struct {
	wire.List[wire.Document]

	Searched string // number of documents after which a search has stopped; "" if it has looked at all
}

// documents returns a page of the documents of a revision, without their data.
func (v *visit) documents(ctx context.Context, revision string, query url.Values, offset, limit int) (
	found documentPage, err error,
) {
	wanted := limit + 1
	if v.Compat { // its lists have no offset
		wanted += offset
	}
	query.Set("limit", strconv.Itoa(wanted))
	query.Set("offset", strconv.Itoa(offset))
	query.Set("cleartext-secrets", "false")
	answer, err := v.api.Do(ctx, client.Request{Path: []string{"revisions", revision, "documents"}, Query: query})
	if err != nil {
		return found, err
	}
	if err := answer.Decode(&found.Results); err != nil {
		return found, err
	}
	found.Searched = answer.Header.Get("Purser-Searched")
	if v.Compat {
		found.Results = found.Results[min(offset, len(found.Results)):]
	}
	if len(found.Results) > limit {
		found.Results, found.Next = found.Results[:limit], new(wire.Optional(""))
	}
	return found, nil
}

// validationView is the content of the page of a validation's results.
type validationView struct {
	*pageBuffer

	Revision wire.Revision
	requirement
	Problem  problem
	Refused  attempt
	Findings shownFindings
	Shown    wire.Entry // the entry that was asked for
	Entry    string     // its position; "" if none was asked for
	Entries  []wire.EntryItem
	Pages    pager
	passing
}

// passing are documents of a revision without findings of one of the server's own validations.
type passing struct {
	Passing  []wire.Document // on this page
	Checked  int             // documents among which these are, on this page
	Withheld bool            // there are findings that do not say which documents they are about
	Unknown  bool            // there are findings that are not listed, which may be about any document
}

// validation shows the status of a validation of a revision, its findings and its results. The server's own validations
// have a result for each document, which the findings name.
func (v *visit) validation() (view, error) { return v.validationAfter(attempt{}) }

// validationAfter is validation with a form that was refused.
func (v *visit) validationAfter(refused attempt) (view, error) {
	const limit, listed, most = 100, 100, 10_000
	name, hide := v.PathValue("name"), url.Values{"cleartext-secrets": {"false"}}
	page := validationView{
		pageBuffer: v.pageBuffer, Pages: newPager(v.URL, limit), Entry: v.param("entry"), Refused: refused,
	}
	if err := v.api.Get(v.Context(), &page.Revision, nil, "revisions", v.PathValue("revision")); err != nil {
		return view{}, err
	}
	id, own := strconv.FormatInt(page.Revision.ID, 10), wire.Validation{Name: name}.Own()
	var status wire.Verdict
	var found wire.Findings
	var reported wire.List[wire.Validation]
	var entries wire.List[wire.EntryItem]
	var documents documentPage
	var claims map[string]wire.Work
	known := false // the findings
	err := together(v.Context(),
		func(ctx context.Context) (err error) {
			if !own {
				claims, err = v.work(ctx, page.Revision.ID)
			}
			return err
		},
		func(ctx context.Context) error { return v.api.Get(ctx, &status, hide, "revisions", id, "status") },
		func(ctx context.Context) error {
			query := url.Values{"validation": {name}, "limit": {strconv.Itoa(most)}, "cleartext-secrets": {"false"}}
			err := v.api.Get(ctx, &found, query, "revisions", id, "findings")
			known = err == nil
			return dropExpected(err)
		},
		func(ctx context.Context) error {
			return dropExpected(v.api.Get(ctx, &reported, url.Values{"newest": {"true"}}, "revisions", id, "validations"))
		},
		func(ctx context.Context) (err error) {
			if own {
				query := url.Values{"sort": {"schema", "metadata.name"}}
				documents, err = v.documents(ctx, id, query, page.Pages.Offset, limit)
				return dropExpected(err)
			}
			query := url.Values{"limit": {strconv.Itoa(limit)}, "offset": {strconv.Itoa(page.Pages.Offset)}}
			return v.api.Get(ctx, &entries, query, "revisions", id, "validations", name)
		},
		func(ctx context.Context) error {
			if page.Entry == "" {
				return nil
			}
			return v.api.Get(ctx, &page.Shown, hide, "revisions", id, "validations", name, "entries", page.Entry)
		},
	)
	if err != nil {
		return view{}, err
	}
	all := []requirement{requirementIn(status, name).with(newestIn(reported.Results, name), page.Revision, v.offers())}
	workOn(all, claims)
	page.requirement = all[0]
	page.Pages.End(len(entries.Results)+len(documents.Results), entries.Next != nil || documents.Next != nil)
	if known && (page.Status == success || page.Status == "failure") {
		page.passing = withoutFindings(documents.Results, found)
	}
	found.Findings = found.Findings[:min(len(found.Findings), listed)]
	page.Problem, page.Findings = problemOf(page.Validation, found), findingsToShow(found)
	page.Findings.Validation = name
	if page.Status != "missing" || page.Newest.CreatedAt != "" { // else they are failures that stand for it
		page.Entries = failuresFirst(entries.Results)
	} else {
		page.Entry = ""
	}
	return view{
		template: "validation", status: refused.Status, Title: name + " of revision " + id, Section: "revisions", Data: page,
	}, nil
}

// withoutFindings returns those documents that no finding is about.
func withoutFindings(all []wire.Document, found wire.Findings) passing {
	shown := passing{Checked: len(all), Unknown: found.More || found.Total > len(found.Findings)}
	about := map[document.Identity]bool{}
	for _, f := range found.Findings {
		if shown.Withheld = shown.Withheld || f.Secret; f.Document != nil {
			about[f.Document.Plain()] = true
		}
		for _, other := range f.Others {
			about[document.Identity{Schema: other.Schema, Layer: string(other.Layer), Name: other.Name}] = true
		}
	}
	for _, doc := range all {
		if !about[doc.Identity().Plain()] && !shown.Unknown {
			shown.Passing = append(shown.Passing, doc)
		}
	}
	return shown
}

// failuresFirst returns the entries of a page, those that are no success first.
func failuresFirst(entries []wire.EntryItem) []wire.EntryItem {
	return slices.SortedStableFunc(slices.Values(entries), func(a, b wire.EntryItem) int {
		return cmp.Compare(strconv.FormatBool(a.Status == success), strconv.FormatBool(b.Status == success))
	})
}
