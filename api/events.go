package api

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"purser/internal/authz"
	"purser/internal/events"
	"purser/internal/feed"
	"purser/internal/revisions"
	"purser/internal/wire"
	"purser/internal/words"
)

// lastEvent is the header in which clients of streams send their cursor when they reconnect.
const lastEvent = "Last-Event-ID"

// GET /api/v1.0/events
func (s *server) listEvents(w http.ResponseWriter, r *http.Request) error {
	q, info := paramsOf(r), infoOf(r)
	wanted := q.events(cmp.Or(info.pinned, r.Header.Get(lastEvent)))
	if err := q.err(); err != nil {
		return err
	}
	if wantsStream(r) {
		return s.stream(w, r, wanted)
	}
	page, err := s.at(r).Feed.Page(r.Context(), wanted.since, wanted.types, wanted.limit)
	if err != nil {
		return err
	}
	cursor := strconv.FormatInt(page.Cursor, 10)
	info.pending, info.pinned = new(isEmpty(page)), cursor // a request that waits goes on from there
	s.answers.write(w, r, http.StatusOK, wire.Events[events.Cloud]{
		Cursor: cursor, Events: eventsOf(page.Events, siteOf(r), info.viewer),
	})
	return nil
}

// isEmpty reports whether a page has no events, and the feed none after it.
func isEmpty(page feed.Page) bool { return len(page.Events) == 0 && !page.More }

func eventsOf(all []events.Event, site string, viewer authz.Viewer) []events.Cloud {
	views := make([]events.Cloud, len(all))
	for i, event := range all {
		views[i] = event.Cloud(revisions.SitePath(site), viewer)
	}
	return views
}

// eventQuery selects events of the feed.
type eventQuery struct {
	since feed.Since
	types []events.Type
	limit int
}

// events reads the selection of events. A cursor that is not empty replaces the parameter since.
func (q *params) events(cursor string) (w eventQuery) {
	const defaultLimit = 100
	if w.limit = q.count("limit", defaultLimit); w.limit < 1 || w.limit > feed.MaxPage {
		q.fail("limit", "It must be from 1 to %d.", feed.MaxPage)
	}
	for _, name := range q.texts("type") {
		kind := events.Type(name)
		if !slices.Contains(events.Types(), kind) {
			q.fail("type", "%s", unknownType(name))
		}
		w.types = append(w.types, kind)
	}
	slices.Sort(w.types)
	w.types = slices.Compact(w.types)
	since := q.text("since")
	if cursor != "" {
		since = cursor
	}
	switch since {
	case "", "0":
		w.since.Oldest = true
		return w
	case "now":
		w.since.Now = true
		return w
	}
	after, err := strconv.ParseUint(since, 10, 63)
	switch {
	case err != nil && cursor != "":
		q.failHeader("Last-Event-ID", "It must be the id of an event of this stream, and not %q.", words.Excerpt(cursor))
	case err != nil:
		q.fail("since", "It must be the cursor of an answer, 0 for the oldest event that is kept, or now.")
	}
	w.since.After = int64(after)
	return w
}

func unknownType(name string) string {
	var known []string
	for _, kind := range events.Types() {
		known = append(known, string(kind))
	}
	if nearest := words.Nearest(name, known); nearest != "" {
		return "No event has this type; did you mean " + nearest + "?"
	}
	return "No event has this type; the types are " + strings.Join(known, ", ") + "."
}
