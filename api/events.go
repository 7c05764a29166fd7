package api

import (
	"fmt"
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
	q := paramsOf(r)
	wanted := q.events(r.Header.Get(lastEvent))
	if err := q.err(); err != nil {
		return err
	}
	if wantsStream(r) {
		return s.waiting.stream(w, r, wanted)
	}
	state := waitStateOf(r)
	if state.pinned != "" {
		after, err := strconv.ParseInt(state.pinned, 10, 64)
		if err != nil {
			return err //nolint:wrapcheck // it was written below
		}
		wanted.since = feed.Since{After: after}
	}
	page, err := s.Feed.Page(r.Context(), wanted.since, wanted.types, wanted.limit)
	if err != nil {
		return err
	}
	state.decides, state.pending = true, len(page.Events) == 0 && !page.More
	state.pinned = strconv.FormatInt(page.Cursor, 10)
	s.answers.write(w, r, http.StatusOK, wire.Events[events.Cloud]{
		Cursor: state.pinned, Events: eventsOf(page.Events, infoOf(r).viewer),
	})
	return nil
}

// pinEvents returns the cursor after which a request wants events, "" for all that are kept.
func (s *server) pinEvents(r *http.Request) (string, error) {
	q := paramsOf(r)
	wanted := q.events(r.Header.Get(lastEvent))
	if err := q.err(); err != nil || wanted.since.Oldest {
		return "", err
	}
	after := wanted.since.After
	if wanted.since.Now {
		var err error
		if after, err = s.Feed.NumberEvents(r.Context()); err != nil {
			return "", fmt.Errorf("number events: %w", err)
		}
	}
	return strconv.FormatInt(after, 10), nil
}

func eventsOf(all []events.Event, viewer authz.Viewer) []events.Cloud {
	views := make([]events.Cloud, len(all))
	for i, event := range all {
		views[i] = event.Cloud(viewer)
	}
	return views
}
