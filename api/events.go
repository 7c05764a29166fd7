package api

import (
	"fmt"
	"net/http"
	"strconv"

	"purser/api/parameters"
	"purser/api/requests"
	"purser/api/waiting"
	"purser/internal/authz"
	"purser/internal/events"
	"purser/internal/feed"
	"purser/internal/wire"
)

// lastEvent is the header in which clients of streams send their cursor when they reconnect.
const lastEvent = "Last-Event-ID"

// GET /api/v1.0/events
func (s *server) listEvents(w http.ResponseWriter, r *http.Request) error {
	q := parameters.Of(r)
	wanted := q.Events(r.Header.Get(lastEvent))
	if err := q.Err(); err != nil {
		return err
	}
	if waiting.WantsStream(r) {
		return s.waiting.Stream(w, r, wanted)
	}
	state := waiting.Of(r)
	if state.Pinned != "" {
		after, err := strconv.ParseInt(state.Pinned, 10, 64)
		if err != nil {
			return err //nolint:wrapcheck // it was written below
		}
		wanted.Since = feed.Since{After: after}
	}
	page, err := s.Feed.Page(r.Context(), wanted.Since, wanted.Types, wanted.Limit)
	if err != nil {
		return err
	}
	state.Decides, state.Pending = true, len(page.Events) == 0 && !page.More
	state.Pinned = strconv.FormatInt(page.Cursor, 10)
	s.answers.Write(w, r, http.StatusOK, wire.Events[events.Cloud]{
		Cursor: state.Pinned, Events: eventsOf(page.Events, requests.Of(r).Viewer),
	})
	return nil
}

// pinEvents returns the cursor after which a request wants events, "" for all that are kept.
func (s *server) pinEvents(r *http.Request) (string, error) {
	q := parameters.Of(r)
	wanted := q.Events(r.Header.Get(lastEvent))
	if err := q.Err(); err != nil || wanted.Since.Oldest {
		return "", err
	}
	after := wanted.Since.After
	if wanted.Since.Now {
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
