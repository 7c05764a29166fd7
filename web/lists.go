package web

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"purser/internal/wire"
)

// searchView is the content of the page that searches documents.
type searchView struct {
	*pageBuffer

	Revision int64
	Asked    string // the revision as requested
	Filters  []filter
	Items    []wire.Document
	Pages    pager
	Empty    bool   // there is no revision
	Why      string // nothing was searched
	Searched string // number of documents after which the search has stopped; "" if it has looked at all
	Further  string // link that continues it
}

// filter is a field of the search form.
type filter struct{ Name, Label, Value, Hint, parameter string }

// search lists the documents of a revision selected by text or properties.
func (v *visit) search() (view, error) {
	const limit = 50
	page := searchView{pageBuffer: v.pageBuffer, Asked: v.param("revision"), Pages: newPager(v.URL, limit)}
	page.Filters = []filter{
		{"q", "Text", v.param("q"), "in names, labels and values", "search"},
		{"schema", "Schema", v.param("schema"), "such as acme/Host/v1", "schema"},
		{"name", "Name", v.param("name"), "", "metadata.name"},
		{"layer", "Layer", v.param("layer"), "", "metadata.layeringDefinition.layer"},
		{"label", "Label", v.param("label"), "such as rack=r2", "metadata.label"},
		{"bucket", "Bucket", v.param("bucket"), "", "status.bucket"},
	}
	if page.Asked == "" {
		page.Asked = "latest"
	}
	shown := view{template: "search", Title: "Documents", Section: "search"}
	var revision wire.Revision
	err := v.api.Get(v.Context(), &revision, nil, "revisions", page.Asked)
	if page.Asked == "latest" && (refusedWith(err, http.StatusNotFound) || err == nil && revision.ID == 0) {
		page.Empty = true
		shown.Data = page
		return shown, nil
	}
	if err != nil {
		return view{}, v.aboutRevision(v.Context(), page.Asked, err)
	}
	page.Revision = revision.ID
	query := url.Values{"sort": {"schema", "metadata.name"}}
	for _, f := range page.Filters {
		if f.Value != "" {
			query.Set(f.parameter, f.Value)
		}
	}
	if searched := v.param("searched"); searched != "" {
		query.Set("searched", searched)
	}
	if v.Compat && v.param("q") != "" {
		page.Why = "This server behaves like Deckhand, which does not search texts. Search by schema, name, " +
			"layer, label or bucket."
		shown.Data = page
		return shown, nil
	}
	found, err := v.documents(v.Context(), strconv.FormatInt(revision.ID, 10), query, page.Pages.Offset, limit)
	if err != nil {
		return view{}, err
	}
	page.Items = found.Results
	page.Pages.End(len(page.Items), found.Next != nil)
	if found.Next == nil && found.Searched != "" {
		further := v.URL.Query()
		further.Del("offset")
		further.Set("searched", found.Searched)
		page.Searched, page.Further = found.Searched, "?"+further.Encode()
	}
	shown.Data = page
	return shown, nil
}

// auditView is the content of the page of the audit.
type auditView struct {
	*pageBuffer

	User, Revision, Since, Until string
	Items                        []auditItem
	Pages                        pager
	Error                        string
}

// audit lists the audit, newest first.
func (v *visit) audit() (view, error) {
	const limit = 100
	page := auditView{
		pageBuffer: v.pageBuffer,
		User:       v.param("user"), Revision: v.param("revision"), Since: v.param("since"), Until: v.param("until"),
		Pages: newPager(v.URL, limit),
	}
	query := url.Values{"limit": {strconv.Itoa(limit)}, "offset": {strconv.Itoa(page.Pages.Offset)}}
	for name, value := range map[string]string{
		"user": page.User, "revision": page.Revision, "since": fullTime(page.Since), "until": fullTime(page.Until),
	} {
		if value != "" {
			query.Set(name, value)
		}
	}
	var found wire.List[wire.AuditEvent]
	err := v.api.Get(v.Context(), &found, query, "audit")
	if refusedWith(err, http.StatusBadRequest) {
		page.Error = err.Error()
	} else if err != nil {
		return view{}, err
	}
	made, err := v.did(v.Context())
	if err != nil {
		return view{}, err
	}
	for _, e := range found.Results {
		page.Items = append(page.Items, inWords(e, made))
	}
	page.Pages.End(len(page.Items), found.Next != nil)
	return view{template: "audit", Title: "Audit", Section: "audit", Data: page}, nil
}

// fullTime completes a date, or a time without zone as forms send it, to a time in UTC.
func fullTime(text string) string {
	for _, format := range []string{time.DateOnly, "2006-01-02T15:04", "2006-01-02T15:04:05"} {
		if at, err := time.Parse(format, text); err == nil {
			return at.Format(time.RFC3339)
		}
	}
	return text
}

// schemasView is the content of the list of schemas.
type schemasView struct {
	*pageBuffer

	Revision int64
	Filter   string
	Items    []wire.Schema
	Count    int // of the schemas that the filter selects
	Pages    pager
}

// schemas lists the schemas of a revision.
func (v *visit) schemas() (view, error) {
	const limit = 200
	page := schemasView{pageBuffer: v.pageBuffer, Filter: v.param("filter"), Pages: newPager(v.URL, limit)}
	var revision wire.Revision
	if err := v.api.Get(v.Context(), &revision, nil, "revisions", v.PathValue("revision")); err != nil {
		return view{}, err
	}
	page.Revision = revision.ID
	id := strconv.FormatInt(revision.ID, 10)
	var found wire.List[wire.Schema]
	if err := v.api.Get(v.Context(), &found, nil, "revisions", id, "schemas"); err != nil {
		return view{}, err
	}
	for _, item := range found.Results {
		if strings.Contains(strings.ToLower(item.Name), strings.ToLower(page.Filter)) {
			page.Items = append(page.Items, item)
		}
	}
	page.Count = len(page.Items)
	from := min(page.Pages.Offset, page.Count)
	to := min(from+limit, page.Count)
	page.Items = page.Items[from:to]
	page.Pages.End(to-from, to < page.Count)
	return view{template: "schemas", Title: "Schemas of revision " + id, Section: "schemas", Data: page}, nil
}
