package api

import (
	"cmp"
	"net/http"
	"strconv"

	"purser/internal/authz"
	"purser/internal/events"
	"purser/internal/feed"
	"purser/internal/wire"
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
	page, err := s.Feed.Page(r.Context(), wanted.since, wanted.types, wanted.limit)
	if err != nil {
		return err
	}
	cursor := strconv.FormatInt(page.Cursor, 10)
	info.pending, info.pinned = new(isEmpty(page)), cursor // a request that waits goes on from there
	s.answers.write(w, r, http.StatusOK, wire.Events[events.Cloud]{
		Cursor: cursor, Events: eventsOf(page.Events, info.viewer),
	})
	return nil
}

// isEmpty reports whether a page has no events, and the feed none after it.
func isEmpty(page feed.Page) bool { return len(page.Events) == 0 && !page.More }

func eventsOf(all []events.Event, viewer authz.Viewer) []events.Cloud {
	views := make([]events.Cloud, len(all))
	for i, event := range all {
		views[i] = event.Cloud(viewer)
	}
	return views
}
