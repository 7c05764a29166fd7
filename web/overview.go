package web

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"purser/internal/client"
)

// overviewView is the content of the first page.
type overviewView struct {
	*paper

	Empty    bool // there is no revision yet
	Revision client.Revision
	Verdict  verdict
	Findings []grouped
	More     int // findings that are not shown
	Required []required
	History  []revisionItem
	Expires  *required // the one whose result expires next; nil if none does
	LastGood int64     // the newest revision among these that may be deployed, if the newest may not; 0 if there is none
	Buckets  []client.Bucket
	Buckets2 bool // there are more
}

// revisionItem is a revision in a list, with its changes if they are known.
type revisionItem struct {
	client.Revision

	Did *madeBy
}

// madeBy counts versions of documents.
type madeBy struct{ Added, Removed int }

// overview shows whether the newest revision may be deployed, and recent changes.
func (v *visit) overview() (view, error) {
	shown := view{template: "overview", title: "Overview", section: "overview"}
	page := overviewView{paper: v.paper}
	err := v.api.get(v.Context(), &page.Revision, nil, "revisions", "latest")
	if refusedWith(err, http.StatusNotFound) || err == nil && page.Revision.ID == 0 {
		page.Empty = true
		shown.data = page
		return shown, nil
	}
	if err != nil {
		return shown, err
	}
	const recent, maxBuckets = 10, 100
	id := strconv.FormatInt(page.Revision.ID, 10)
	var judged judgement
	var buckets list[client.Bucket]
	err = together(v.Context(),
		func(ctx context.Context) (err error) {
			judged, err = v.judge(ctx, id, 50) //nolint:mnd // some
			return err
		},
		func(ctx context.Context) (err error) {
			page.History, _, err = v.history(ctx, url.Values{}, 0, recent)
			return serious(err)
		},
		func(ctx context.Context) error {
			return serious(v.api.get(ctx, &buckets, url.Values{"limit": {strconv.Itoa(maxBuckets)}}, "buckets"))
		},
	)
	if err != nil {
		return shown, err
	}
	page.Verdict, page.Findings, page.More = judged.verdict, judged.groups, judged.more
	page.Required, page.Expires = judged.required, expiringNext(judged.required, v.Now())
	page.Buckets, page.Buckets2 = buckets.Results, buckets.Next != nil
	if !page.Verdict.OK {
		page.LastGood = lastGood(page.History)
	}
	shown.data = page
	return shown, nil
}

// expiringNext returns the validation whose newest result is the next to expire, nil if none does.
func expiringNext(all []required, now time.Time) (next *required) {
	var soonest time.Time
	for i := range all {
		at, ok := parseTime(all[i].Newest.ExpiresAt)
		if ok && at.After(now) && (next == nil || at.Before(soonest)) {
			next, soonest = &all[i], at
		}
	}
	return next
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
	verdict  verdict
	stamp    string
	groups   []grouped
	more     int
	required []required
}

// judge requests the verdict on a revision and a limited number of findings.
func (v *visit) judge(ctx context.Context, revision string, most int) (judged judgement, err error) {
	var status client.Verdict
	var found findings
	hide := url.Values{"cleartext-secrets": {"false"}}
	err = together(ctx,
		func(ctx context.Context) error { return v.api.get(ctx, &status, hide, "revisions", revision, "status") },
		func(ctx context.Context) error {
			query := url.Values{"limit": {strconv.Itoa(most)}, "cleartext-secrets": {"false"}}
			return serious(v.api.get(ctx, &found, query, "revisions", revision, "findings"))
		},
	)
	if err != nil {
		return judged, err
	}
	judged = judgement{
		verdict: verdictOf(status, found), stamp: status.Stamp,
	}
	judged.groups, judged.more = byDocument(found.Findings), max(found.Total-len(found.Findings), 0)
	judged.required, err = v.required(ctx, revision, status)
	return judged, err
}

// required is a validation that a policy requires, with its newest result.
type required struct {
	Name, Status string
	Policies     []string
	Newest       entry
	Unasked      bool   // Newest is not known: there are too many
	Who          string // posted it; "" if unknown
}

// Own reports whether the server itself performs the validation.
func (r required) Own() bool { return client.Validation{Name: r.Name}.Own() }

// maxRequired is the number of validations whose newest results are read.
const maxRequired = 30

// required returns the validations that policies require or, without policies, the reported ones.
func (v *visit) required(ctx context.Context, revision string, status client.Verdict) ([]required, error) {
	all := requiredOf(status)
	var posts list[auditEvent]
	work := []func(context.Context) error{}
	if v.may("deckhand:show_audit") {
		work = append(work, func(ctx context.Context) error {
			return serious(v.api.get(ctx, &posts, url.Values{"revision": {revision}, "limit": {"200"}}, "audit"))
		})
	}
	for i := range all {
		if all[i].Unasked = i >= maxRequired; all[i].Unasked {
			continue
		}
		work = append(work, func(ctx context.Context) (err error) {
			all[i].Newest, err = v.newest(ctx, revision, all[i].Name)
			return serious(err)
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

// requiredOf lists the validations of a verdict, each once.
func requiredOf(status client.Verdict) (all []required) {
	at := map[string]int{}
	add := func(name, state, policy string) {
		i, known := at[name]
		if !known {
			i = len(all)
			at[name] = i
			all = append(all, required{Name: name, Status: state})
		}
		if policy != "" {
			all[i].Policies = append(all[i].Policies, policy)
		}
	}
	for _, policy := range status.Policies {
		for _, validation := range policy.Validations {
			add(validation.Name, validation.Status, policy.Name)
		}
	}
	for _, validation := range status.Validations {
		add(validation.Name, validation.Status, "")
	}
	return all
}

// newest returns the newest result of a validation; the zero entry if there is none.
func (v *visit) newest(ctx context.Context, revision, name string) (found entry, err error) {
	const most = 1000
	var entries list[entry]
	query := url.Values{"limit": {strconv.Itoa(most)}}
	err = v.api.get(ctx, &entries, query, "revisions", revision, "validations", name)
	if err != nil || len(entries.Results) == 0 {
		return found, err
	}
	last := strconv.Itoa(entries.Results[len(entries.Results)-1].ID)
	err = v.api.get(ctx, &found, url.Values{"cleartext-secrets": {"false"}},
		"revisions", revision, "validations", name, "entries", last)
	return found, err
}

// posterOf returns the user who posted a result, from the audit, newest first, because results do not have it. A result
// and its event are stored by one statement; its time is the database's, and that of the event the server's. It is ""
// if the audit has no such event: it goes back less far, or the result was carried over from another revision.
func posterOf(events []auditEvent, validation, createdAt string) string {
	const skew = time.Minute
	created, known := parseTime(createdAt)
	for _, e := range events {
		at, err := url.Parse(e.Target)
		posted, ok := parseTime(e.At)
		if err != nil || e.Rule != "deckhand:create_validation" || e.Status/100 != 2 ||
			!known || !ok || posted.Sub(created).Abs() > skew {
			continue
		}
		if name, err := url.PathUnescape(at.EscapedPath()[strings.LastIndexByte(at.EscapedPath(), '/')+1:]); err == nil &&
			name == validation {
			return e.Who()
		}
	}
	return ""
}

// history returns a page of revisions, newest first, and whether there are more.
func (v *visit) history(ctx context.Context, query url.Values, offset, limit int) ([]revisionItem, bool, error) {
	query.Set("sort", "id")
	query.Set("order", "desc")
	query.Set("limit", strconv.Itoa(limit))
	query.Set("offset", strconv.Itoa(offset))
	var found list[client.Revision]
	if v.Compat && !query.Has("tag") {
		if err := v.byNumber(ctx, &found, offset, limit); err != nil {
			return nil, false, err
		}
	} else if err := v.api.get(ctx, &found, query, "revisions"); err != nil {
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
func (v *visit) byNumber(ctx context.Context, found *list[client.Revision], offset, limit int) error {
	var newest client.Revision
	if err := v.api.get(ctx, &newest, nil, "revisions", "latest"); err != nil {
		return serious(err)
	}
	first := newest.ID - int64(offset)
	last := max(first-int64(limit), 0)
	for id := first; id > last; id-- {
		var revision client.Revision
		switch err := v.api.get(ctx, &revision, nil, "revisions", strconv.FormatInt(id, 10)); {
		case err == nil:
			found.Results = append(found.Results, revision)
		case serious(err) != nil:
			return err
		}
	}
	if last > 0 {
		found.Next = new("")
	}
	return nil
}

// did returns the changes of the newest revisions that the feed of events still has.
func (v *visit) did(ctx context.Context) (map[int64]*madeBy, error) {
	const back = 1000
	type page struct {
		Cursor string `json:"cursor"`
		Events []struct {
			Data struct {
				Revision int64 `json:"revision"`
				Added    int   `json:"added"`
				Removed  int   `json:"removed"`
			} `json:"data"`
		} `json:"events"`
	}
	var now, last page
	if !v.may("purser:list_events") {
		return nil, nil
	}
	if err := v.api.get(ctx, &now, url.Values{"since": {"now"}}, "events"); err != nil {
		return nil, serious(err)
	}
	cursor, _ := strconv.ParseInt(now.Cursor, 10, 64) // the API's own number
	query := url.Values{
		"since": {strconv.FormatInt(max(cursor-back, 0), 10)}, "type": {"purser.revision.created"}, "limit": {"1000"},
	}
	if err := v.api.get(ctx, &last, query, "events"); err != nil {
		return nil, serious(err)
	}
	made := map[int64]*madeBy{}
	for _, e := range last.Events {
		made[e.Data.Revision] = &madeBy{e.Data.Added, e.Data.Removed}
	}
	return made, nil
}
