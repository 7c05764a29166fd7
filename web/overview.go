package web

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"purser/internal/events"
	"purser/internal/wire"
)

// overviewView is the content of the first page.
type overviewView struct {
	*pageBuffer

	Empty    bool // there is no revision yet
	Revision wire.Revision
	Before   int64 // the revision before it; 0 if there is none
	judgement
	History  []revisionItem
	Expires  *requirement // the one whose result expires next; nil if none does
	LastGood int64        // the newest of History that may be deployed, if the newest of all may not; 0: none
	Buckets  []wire.Bucket
	Buckets2 bool // there are more
}

// revisionItem is a revision in a list, with its changes if they are known.
type revisionItem struct {
	wire.Revision

	Did *events.Created
}

// overview shows whether the newest revision may be deployed, and recent changes.
func (v *visit) overview() (view, error) {
	shown := view{template: "overview", Title: "Overview", Section: "overview"}
	page := overviewView{pageBuffer: v.pageBuffer}
	err := v.api.Get(v.Context(), &page.Revision, nil, "revisions", "latest")
	if refusedWith(err, http.StatusNotFound) || err == nil && page.Revision.ID == 0 {
		page.Empty = true
		shown.Data = page
		return shown, nil
	}
	if err != nil {
		return shown, err
	}
	const recent, maxBuckets = 10, 100
	page.Before = *page.Revision.Previous
	var buckets wire.List[wire.Bucket]
	err = together(v.Context(),
		func(ctx context.Context) (err error) {
			page.judgement, err = v.judge(ctx, page.Revision, 50) //nolint:mnd // some
			return err
		},
		func(ctx context.Context) (err error) {
			page.History, _, err = v.history(ctx, url.Values{}, 0, recent)
			return dropExpected(err)
		},
		func(ctx context.Context) error {
			return dropExpected(v.api.Get(ctx, &buckets, url.Values{"limit": {strconv.Itoa(maxBuckets)}}, "buckets"))
		},
	)
	if err != nil {
		return shown, err
	}
	page.Expires = expiringNext(page.Required, v.Now())
	page.Buckets, page.Buckets2 = buckets.Results, buckets.Next != nil
	if !page.Verdict.OK {
		page.LastGood = lastGood(page.History)
	}
	shown.Data = page
	return shown, nil
}

// lastGood returns the newest revision that may be deployed, 0 if there is none.
func lastGood(newestFirst []revisionItem) int64 {
	for _, item := range newestFirst {
		if item.Status == success {
			return item.ID
		}
	}
	return 0
}

// judgement has the data for the verdict on a revision.
type judgement struct {
	Verdict  verdict
	Stamp    string
	Findings shownFindings
	Required []requirement
}

// judge requests the verdict on a revision and a limited number of findings.
func (v *visit) judge(ctx context.Context, revision wire.Revision, most int) (judged judgement, err error) {
	id := strconv.FormatInt(revision.ID, 10)
	var status wire.Verdict
	var found wire.Findings
	hide := url.Values{"cleartext-secrets": {"false"}}
	err = together(ctx,
		func(ctx context.Context) error { return v.api.Get(ctx, &status, hide, "revisions", id, "status") },
		func(ctx context.Context) error {
			query := url.Values{"limit": {strconv.Itoa(most)}, "cleartext-secrets": {"false"}}
			return dropExpected(v.api.Get(ctx, &found, query, "revisions", id, "findings"))
		},
	)
	if err != nil {
		return judged, err
	}
	judged = judgement{Verdict: verdictOf(status, found), Stamp: status.Stamp, Findings: findingsToShow(found)}
	judged.Required, err = v.required(ctx, revision, status)
	return judged, err
}

// maxRequired is the number of validations whose newest results are read.
const maxRequired = 30

// required returns the validations that policies require or, without policies, the reported ones.
func (v *visit) required(ctx context.Context, revision wire.Revision, status wire.Verdict) (
	[]requirement, error,
) {
	all, id := requirementsOf(status), strconv.FormatInt(revision.ID, 10)
	var posts wire.List[wire.AuditEvent]
	work := []func(context.Context) error{}
	if v.may("deckhand:show_audit") {
		work = append(work, func(ctx context.Context) error {
			return dropExpected(v.api.Get(ctx, &posts, url.Values{"revision": {id}, "limit": {"200"}}, "audit"))
		})
	}
	for i := range all {
		if all[i].Own() {
			if all[i].Status != "missing" {
				all[i].Newest.CreatedAt = revision.CreatedAt // the server validates what it takes in
			}
			continue
		}
		if all[i].Unasked = i >= maxRequired; all[i].Unasked {
			continue
		}
		work = append(work, func(ctx context.Context) (err error) {
			var known bool
			all[i].Newest, known, err = v.newest(ctx, id, all[i].Name)
			all[i].Unasked = err == nil && !known
			return dropExpected(err)
		})
	}
	if err := together(ctx, work...); err != nil {
		return nil, err
	}
	for i := range all {
		all[i].Who = posterOf(posts.Results, all[i].Name, all[i].Newest.CreatedAt)
	}
	return all, nil
}

// newest returns the newest result that was posted of a validation of others; the zero result if there is none. known
// is false if there are too many to look for it.
func (v *visit) newest(ctx context.Context, revision, name string) (found wire.Entry, known bool, err error) {
	const most, maxPages = 1000, 5
	last := ""
	for offset := 0; ; offset += most {
		if offset == most*maxPages {
			return found, false, nil
		}
		var entries wire.List[wire.EntryItem]
		query := url.Values{"limit": {strconv.Itoa(most)}, "offset": {strconv.Itoa(offset)}}
		err = v.api.Get(ctx, &entries, query, "revisions", revision, "validations", name)
		if n := len(entries.Results); n > 0 {
			last = strconv.Itoa(entries.Results[n-1].ID)
		}
		if err != nil || last == "" {
			return found, true, err
		}
		if entries.Next == nil {
			break
		}
	}
	err = v.api.Get(ctx, &found, url.Values{"cleartext-secrets": {"false"}},
		"revisions", revision, "validations", name, "entries", last)
	return found, true, err
}

// history returns a page of revisions, newest first, and whether there are more.
func (v *visit) history(ctx context.Context, query url.Values, offset, limit int) ([]revisionItem, bool, error) {
	query.Set("sort", "id")
	query.Set("order", "desc")
	query.Set("limit", strconv.Itoa(limit))
	query.Set("offset", strconv.Itoa(offset))
	var found wire.List[wire.Revision]
	var err error
	if v.Compat && !query.Has("tag") {
		found, err = v.byNumber(ctx, offset, limit)
	} else {
		err = v.api.Get(ctx, &found, query, "revisions")
	}
	if err != nil {
		return nil, false, err
	}
	more := found.Next != nil
	if len(found.Results) > limit { // those with a tag, all of them
		rest := found.Results[min(offset, len(found.Results)):]
		more = len(rest) > limit
		found.Results = rest[:min(limit, len(rest))]
	}
	did, err := v.did(ctx)
	if err != nil {
		return nil, false, err
	}
	items := make([]revisionItem, len(found.Results))
	for i, revision := range found.Results {
		items[i] = revisionItem{Revision: revision, Did: did[revision.ID]}
	}
	return items, more, nil
}

// byNumber requests limit revisions one by one, because the list would have all of them. It omits deleted revisions.
func (v *visit) byNumber(ctx context.Context, offset, limit int) (found wire.List[wire.Revision], err error) {
	var newest wire.Revision
	if err := v.api.Get(ctx, &newest, nil, "revisions", "latest"); err != nil {
		return found, dropExpected(err)
	}
	first := newest.ID - int64(offset)
	last := max(first-int64(limit), 0)
	for id := first; id > last; id-- {
		var revision wire.Revision
		switch err := v.api.Get(ctx, &revision, nil, "revisions", strconv.FormatInt(id, 10)); {
		case err == nil:
			found.Results = append(found.Results, revision)
		case dropExpected(err) != nil:
			return found, err
		}
	}
	if last > 0 {
		found.Next = new(wire.Optional(""))
	}
	return found, nil
}

// did returns the changes of the newest revisions that the feed of events still has.
func (v *visit) did(ctx context.Context) (map[int64]*events.Created, error) {
	const back = 1000
	var now, last wire.Events[struct {
		Data events.Created `json:"data"`
	}]
	if !v.may("purser:list_events") {
		return nil, nil
	}
	if err := v.api.Get(ctx, &now, url.Values{"since": {"now"}}, "events"); err != nil {
		return nil, dropExpected(err)
	}
	cursor, _ := strconv.ParseInt(now.Cursor, 10, 64) // the API's own number
	query := url.Values{
		"since": {strconv.FormatInt(max(cursor-back, 0), 10)}, "type": {"purser.revision.created"}, "limit": {"1000"},
	}
	if err := v.api.Get(ctx, &last, query, "events"); err != nil {
		return nil, dropExpected(err)
	}
	made := map[int64]*events.Created{}
	for _, e := range last.Events {
		made[e.Data.Revision] = &e.Data
	}
	return made, nil
}
