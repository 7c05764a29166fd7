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
	way
	History  []revisionItem
	Expires  *requirement // the one whose result expires next; nil if none does
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
	const maxBuckets = 100
	recent := maxRecent
	if v.Compat {
		recent = shownRecent // each is a request
	}
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
	page.way = v.wayOut(page.Revision.ID, true, lastGood(page.History))
	page.History = page.History[:min(len(page.History), shownRecent)]
	shown.Title, shown.Data = page.Verdict.Title(), page
	return shown, nil
}

// maxRecent is the number of revisions among which one that may be deployed is looked for, and shownRecent the number
// of those that the overview shows.
const maxRecent, shownRecent = 50, 10

// way has the actions that lead to a revision that may be deployed.
type way struct {
	May      allowed
	LastGood int64 // the newest revision that may be deployed; 0 if it is this one, or if none is known
	Back     int64 // the revision to roll back to; 0 if there is none, or if the user has no right to
}

// wayOut returns the actions beside the verdict on a revision: from the newest one back to the last good one. The
// page of an older one has a form to roll back to it.
func (v *visit) wayOut(revision int64, newest bool, lastGood int64) (out way) {
	out.May = v.allowed()
	if newest && lastGood != revision {
		out.LastGood = lastGood
	}
	if out.May.RollBack {
		out.Back = out.LastGood
	}
	return out
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
	Others   []wire.Validation // validations that no policy requires
}

// judge requests the verdict on a revision, a limited number of findings, and the newest results.
func (v *visit) judge(ctx context.Context, revision wire.Revision, most int) (judged judgement, err error) {
	id := strconv.FormatInt(revision.ID, 10)
	var status wire.Verdict
	var found wire.Findings
	var reported wire.List[wire.Validation]
	var posts wire.List[wire.AuditEvent]
	hide := url.Values{"cleartext-secrets": {"false"}}
	err = together(ctx,
		func(ctx context.Context) error { return v.api.Get(ctx, &status, hide, "revisions", id, "status") },
		func(ctx context.Context) error {
			query := url.Values{"limit": {strconv.Itoa(most)}, "cleartext-secrets": {"false"}}
			return dropExpected(v.api.Get(ctx, &found, query, "revisions", id, "findings"))
		},
		func(ctx context.Context) error {
			return dropExpected(v.api.Get(ctx, &reported, url.Values{"newest": {"true"}}, "revisions", id, "validations"))
		},
		func(ctx context.Context) error {
			if !v.may("deckhand:show_audit") {
				return nil
			}
			return dropExpected(v.api.Get(ctx, &posts, url.Values{"revision": {id}, "limit": {"200"}}, "audit"))
		},
	)
	required := requirementsOf(status)
	for i, r := range required {
		required[i] = r.with(newestIn(reported.Results, r.Name), revision, posts.Results, v.may("deckhand:create_validation"))
	}
	return judgement{
		Verdict: verdictOf(status, found), Stamp: status.Stamp, Findings: findingsToShow(found), Required: required,
		Others: unrequired(reported.Results, required),
	}, err
}

// history returns a page of revisions, newest first, with their changes, and whether there are more.
func (v *visit) history(ctx context.Context, query url.Values, offset, limit int) (
	items []revisionItem, more bool, err error,
) {
	var did map[int64]*events.Created
	err = together(ctx,
		func(ctx context.Context) (err error) {
			items, more, err = v.revisionPage(ctx, query, offset, limit)
			return err
		},
		func(ctx context.Context) (err error) {
			did, err = v.did(ctx)
			return err
		},
	)
	for i, item := range items {
		items[i].Did = did[item.ID]
	}
	return items, more, err
}

// revisionPage returns a page of revisions, newest first, and whether there are more.
func (v *visit) revisionPage(ctx context.Context, query url.Values, offset, limit int) ([]revisionItem, bool, error) {
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
	items := make([]revisionItem, len(found.Results))
	for i, revision := range found.Results {
		items[i] = revisionItem{Revision: revision}
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
