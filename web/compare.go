package web

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"

	"purser/internal/client"
	"purser/internal/wire"
)

// compareView is the content of the page that compares two revisions.
type compareView struct {
	*pageBuffer

	From, To string // as they were asked for
	Before   int64  // their numbers
	After    int64
	Sides    []wire.Revision // those of them that are revisions
	Split    bool            // side by side
	Rendered bool            // rendered documents, not submitted ones
	Errors   []string        // why there is no comparison
	Absent   bool            // one of them does not exist
	Newest   int64           // the revision to look at instead; 0 if there is none
	Ready    bool            // both were named
	differences
}

// differences is a page of the differences between two revisions.
type differences struct {
	Documents  []comparison // of which the first ones are shown
	Count      int          // of all
	Shown      []*comparison
	First      int // number of the first one shown, from 1
	Last       int // of the last one shown
	Listed     int // of the last one of Documents
	Next, Back string
}

// compare shows how two revisions differ.
func (v *visit) compare() (view, error) {
	page := compareView{
		pageBuffer: v.pageBuffer, From: v.param("from"), To: v.param("to"), Split: v.param("view") == "split",
		Rendered: v.param("rendered") == "true",
	}
	shown := view{template: "compare", Title: "Compare revisions", Section: "compare"}
	if page.To == "" {
		page.To = "latest"
	}
	if page.From == "" {
		shown.Data = page
		return shown, nil
	}
	page.Ready = true
	names, sides := [2]string{page.From, page.To}, [2]wire.Revision{}
	refused, err := bothSides(v.Context(), func(ctx context.Context, side int) (err error) {
		sides[side], err = v.side(ctx, names[side])
		return err
	})
	if err != nil {
		return shown, err
	}
	page.Before, page.After = sides[0].ID, sides[1].ID
	page.Sides = slices.DeleteFunc(sides[:], func(r wire.Revision) bool { return r.ID == 0 })
	if refused == [2]error{} {
		shown.Title = "Revision " + strconv.FormatInt(page.Before, 10) + " and revision " + strconv.FormatInt(page.After, 10)
		page.differences, err = v.differences(page)
		if refused, err = v.whyNot(page, err); err != nil {
			return shown, err
		}
	}
	for _, err := range refused {
		if err == nil {
			continue
		}
		if refused, ok := errors.AsType[*refusal](err); ok && refused.Absent {
			page.Absent, page.Newest = true, max(page.Newest, refused.Newest)
		}
		if text := err.Error(); !slices.Contains(page.Errors, text) {
			page.Errors = append(page.Errors, text)
		}
	}
	shown.Data = page
	return shown, nil
}

// bothSides does something for both revisions of a comparison concurrently, and returns why it was refused for each;
// err is any other error.
func bothSides(ctx context.Context, do func(ctx context.Context, side int) error) (refused [2]error, err error) {
	work := func(side int) func(context.Context) error {
		return func(ctx context.Context) error {
			err := do(ctx, side)
			if dropExpected(err) == nil {
				refused[side] = err
				return nil
			}
			return err
		}
	}
	err = together(ctx, work(0), work(1))
	return refused, err
}

// whyNot returns why two revisions were not compared, err being the first reason: which of them cannot be rendered, and
// else err. It returns any other error than a refusal.
func (v *visit) whyNot(page compareView, err error) (refused [2]error, other error) {
	if err == nil || dropExpected(err) != nil {
		return refused, err
	}
	if page.Rendered {
		refused, other = bothSides(v.Context(), func(ctx context.Context, side int) error {
			revision := strconv.FormatInt([2]int64{page.Before, page.After}[side], 10)
			_, _, err := v.changes(ctx, "0", revision, true, 0)
			return cannotRender(revision, err)
		})
	}
	if refused == [2]error{} {
		refused[0] = err
	}
	return refused, other
}

// cannotRender returns the refusal to render a revision, with its number.
func cannotRender(revision string, err error) error {
	refused, ok := errors.AsType[*refusal](err)
	if !ok || dropExpected(err) != nil || refusedWith(err, http.StatusForbidden, http.StatusNotFound, http.StatusGone) {
		return err
	}
	named := *refused
	named.Message, named.messages = "The documents of revision "+revision+" cannot be rendered: "+refused.Error(), nil
	return &named
}

// side returns a revision; 0 is the zero Revision, without documents.
func (v *visit) side(ctx context.Context, name string) (revision wire.Revision, err error) {
	if name != "0" {
		err = v.aboutRevision(ctx, name, v.api.Get(ctx, &revision, nil, "revisions", name))
	}
	return revision, err
}

// differences requests a page of the differences, and keeps as many of them as fit.
func (v *visit) differences(page compareView) (shown differences, err error) {
	before, after := strconv.FormatInt(page.Before, 10), strconv.FormatInt(page.After, 10)
	skip, _ := strconv.Atoi(v.param("skip")) // another one: none
	skip = max(skip, 0)
	var text string
	var changes []comparison
	err = together(v.Context(),
		func(ctx context.Context) (err error) {
			query := differencesQuery("unified", page.Rendered, skip)
			text, err = v.api.Text(ctx, client.Text, query, "revisions", before, "deepdiff", after)
			return err
		},
		func(ctx context.Context) (err error) {
			changes, shown.Count, err = v.changes(ctx, before, after, page.Rendered, skip)
			return err
		},
	)
	if err != nil {
		return shown, err
	}
	all := arranged(parseUnified(text), changes)
	if page.Rendered {
		if err := v.unlinkBorrowed(all, before, after); err != nil {
			return shown, err
		}
	}
	for _, c := range all {
		shown.Documents = append(shown.Documents, comparison{
			Document: c.Document, Title: c.Title, Change: c.Change, Note: c.Note, Added: c.Added, Removed: c.Removed,
		})
	}
	shown.Shown = fitComparisons(all, page.Split, func(id wire.Identity) int { return len(v.Base.Document(0, id)) })
	shown.First, shown.Last, shown.Listed = skip+1, skip+len(shown.Shown), skip+len(all)
	link := func(skip int) string {
		query := v.URL.Query()
		query.Set("skip", strconv.Itoa(skip))
		return "?" + query.Encode()
	}
	if shown.Last < shown.Count {
		shown.Next = link(shown.Last)
	}
	if skip > 0 {
		shown.Back = link(0)
	}
	return shown, nil
}

// unlinkBorrowed removes the identities of LayeringPolicies of other revisions, which have no pages in these revisions.
func (v *visit) unlinkBorrowed(all []*comparison, before, after string) error {
	for _, c := range all {
		revision := after
		if c.Change == "deleted" {
			revision = before
		}
		borrowed, err := v.borrowed(revision, c.Document)
		if err != nil {
			return err
		}
		if borrowed {
			c.Document, c.Title = wire.Identity{}, "LayeringPolicy of another revision"
		}
	}
	return nil
}
