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
	History  []wire.Revision
	Expires  *requirement // the one whose result expires next; nil if none does
	Buckets  []wire.Bucket
	Buckets2 bool // there are more
	Settings bool // the user may change those of the site
}

// overview shows whether the newest revision may be deployed, and recent changes.
func (v *visit) overview() (view, error) {
	const findings = 50
	shown := view{template: "overview", Title: "Overview", Section: "overview"}
	page := overviewView{pageBuffer: v.pageBuffer, Settings: v.may("purser:manage_sites") && !v.Compat}
	status, err := v.status(v.Context(), "latest", findings, "history", "buckets")
	if refusedWith(err, http.StatusNotFound) {
		page.Empty = true
		shown.Data = page
		return shown, nil
	}
	if err != nil {
		return shown, err
	}
	details := status.Details
	page.Revision, page.judgement = *details.Revision, v.judge(status)
	page.Before = *page.Revision.Previous
	page.Expires = expiringNext(page.Required, v.Now())
	var claims map[string]wire.Work
	if claimed(page.Required) {
		if claims, err = v.work(v.Context(), page.Revision.ID); err != nil {
			return shown, err
		}
	}
	workOn(page.Required, claims)
	if details.Buckets != nil {
		page.Buckets, page.Buckets2 = details.Buckets.Results, details.Buckets.Next != nil
	}
	if details.History != nil {
		page.History = details.History.Results
	}
	page.way = v.wayOut(page.Revision.ID, true, lastGood(page.History))
	page.History = page.History[:min(len(page.History), shownRecent)]
	shown.Title, shown.Data = page.Verdict.Title(), page
	return shown, nil
}

// status requests the verdict on a revision with what the pages show beside it: the revision itself, the first findings
// and the newest results, and further details by the names that the API has for them.
func (v *visit) status(ctx context.Context, revision string, findings int, further ...string) (
	status wire.Verdict, err error,
) {
	query := url.Values{
		"cleartext-secrets": {"false"}, "limit": {strconv.Itoa(findings)},
		"details": append([]string{"revision", "findings", "results"}, further...),
	}
	err = v.api.Get(ctx, &status, query, "revisions", revision, "status")
	return status, err
}

// recent returns the newest revisions of the site, the last one first.
func (v *visit) recent(ctx context.Context, revision string) ([]wire.Revision, error) {
	var status wire.Verdict
	err := v.api.Get(ctx, &status, url.Values{"details": {"history"}}, "revisions", revision, "status")
	if err != nil || status.Details.History == nil {
		return nil, err
	}
	return status.Details.History.Results, nil
}

// shownRecent is the number of recent revisions that the overview shows.
const shownRecent = 10

// way has the actions that lead to a revision that may be deployed.
type way struct {
	May      allowed
	LastGood int64 // the newest revision that may be deployed; 0 if it is this one, or if none is known
	Waived   int   // validations of it that were waived
	Back     int64 // the revision to roll back to; 0 if there is none, or if the user has no right to
}

// wayOut returns the actions beside the verdict on a revision: from the newest one back to the last good one. The
// page of an older one has a form to roll back to it.
func (v *visit) wayOut(revision int64, newest bool, lastGood wire.Revision) (out way) {
	out.May = v.allowed()
	if newest && lastGood.ID != revision {
		out.LastGood, out.Waived = lastGood.ID, lastGood.Waived
	}
	if out.May.RollBack {
		out.Back = out.LastGood
	}
	return out
}

// lastGood returns the newest revision that may be deployed, the zero Revision if there is none.
func lastGood(newestFirst []wire.Revision) (good wire.Revision) {
	for _, item := range newestFirst {
		if item.Status == success {
			return item
		}
	}
	return good
}

// judgement has the data for the verdict on a revision.
type judgement struct {
	Verdict  verdict
	Stamp    string
	Findings shownFindings
	Unlisted bool // the user may see findings, but they take too much work
	Required []requirement
	Others   []wire.Validation // validations that no policy requires
}

// judge returns what pages show of a verdict with its details.
func (v *visit) judge(status wire.Verdict) judgement {
	var found wire.Findings
	if status.Details.Findings != nil {
		found = *status.Details.Findings
	}
	var reported []wire.Validation
	if status.Details.Results != nil {
		reported = status.Details.Results.Results
	}
	required := requirementsOf(status)
	for i, r := range required {
		required[i] = r.with(newestIn(reported, r.Name), *status.Details.Revision, v.offers())
	}
	return judgement{
		Verdict: verdictOf(status, found), Stamp: status.Stamp, Findings: findingsToShow(found), Required: required,
		Unlisted: status.Details.Findings == nil && v.may("deckhand:list_validations"),
		Others:   unrequired(reported, required),
	}
}

// history returns a page of revisions, newest first, with their changes, and whether there are more.
func (v *visit) history(ctx context.Context, query url.Values, offset, limit int) (
	items []wire.Revision, more bool, err error,
) {
	var did map[int64]events.Created
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
		if made, known := did[item.ID]; known {
			items[i].Changes = new(made.Effect())
		}
	}
	return items, more, err
}

// revisionPage returns a page of revisions, newest first, and whether there are more.
func (v *visit) revisionPage(ctx context.Context, query url.Values, offset, limit int) ([]wire.Revision, bool, error) {
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
	return found.Results, more, nil
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
func (v *visit) did(ctx context.Context) (map[int64]events.Created, error) {
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
	made := map[int64]events.Created{}
	for _, e := range last.Events {
		made[e.Data.Revision] = e.Data
	}
	return made, nil
}
