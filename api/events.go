package api

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"purser/api/parameters"
	"purser/api/requests"
	"purser/api/waiting"
	"purser/internal/authz"
	"purser/internal/events"
	"purser/internal/feed"
	"purser/internal/words"
)

// GET /api/v1.0/events
func (s *server) listEvents(w http.ResponseWriter, r *http.Request) error {
	q := parameters.Of(r)
	wanted := wantedEvents(q, r)
	if err := q.Err(); err != nil {
		return err
	}
	if waiting.WantsStream(r) {
		return s.waiting.Stream(w, r, wanted.since, wanted.types)
	}
	state := waiting.Of(r)
	if state.Pinned != "" {
		after, err := strconv.ParseInt(state.Pinned, 10, 64)
		if err != nil {
			return err //nolint:wrapcheck // it was written below
		}
		wanted.since = feed.Since{After: after}
	}
	page, err := s.Feed.Page(r.Context(), wanted.since, wanted.types, wanted.limit)
	if err != nil {
		return err
	}
	state.Decides, state.Pending = true, len(page.Events) == 0 && !page.More
	state.Pinned = strconv.FormatInt(page.Cursor, 10)
	s.answers.Write(w, r, http.StatusOK, eventPage{state.Pinned, eventsOf(page.Events, requests.Of(r).Viewer)})
	return nil
}

// pinEvents returns the cursor after which a request wants events, "" for all that are kept.
func (s *server) pinEvents(r *http.Request) (string, error) {
	q := parameters.Of(r)
	wanted := wantedEvents(q, r)
	if err := q.Err(); err != nil || wanted.since.Oldest {
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

// wanted selects events of the feed.
type wanted struct {
	since feed.Since
	types []events.Type
	limit int
}

// wantedEvents reads the selection of events. Clients of streams send Last-Event-ID when they reconnect.
func wantedEvents(q *parameters.Query, r *http.Request) (w wanted) {
	const defaultLimit = 100
	if w.limit = q.Count("limit", defaultLimit); w.limit < 1 || w.limit > feed.MaxPage {
		q.Fail("limit", "It must be from 1 to %d.", feed.MaxPage)
	}
	for _, name := range q.Texts("type") {
		kind := events.Type(name)
		if !slices.Contains(events.Types(), kind) {
			q.Fail("type", "%s", unknownType(name))
		}
		w.types = append(w.types, kind)
	}
	slices.Sort(w.types)
	w.types = slices.Compact(w.types)
	since := q.Text("since")
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		since = last
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
	if err != nil {
		q.Fail("since", "It must be the cursor of an answer, 0 for the oldest event that is kept, or now.")
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

// eventPage is a page of the feed.
type eventPage struct {
	Cursor string         `json:"cursor"`
	Events []events.Cloud `json:"events"`
}

func eventsOf(all []events.Event, viewer authz.Viewer) []events.Cloud {
	views := make([]events.Cloud, len(all))
	for i, event := range all {
		views[i] = event.Cloud(viewer)
	}
	return views
}
