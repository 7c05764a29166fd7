package api

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

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
	limit, waits := waitLimit(q)
	wanted := q.events(r.Header.Get(lastEvent))
	if err := q.err(); err != nil {
		return err
	}
	if wantsStream(r) {
		return s.stream(w, r, wanted)
	}
	page, err := s.waitForEvents(w, r, wanted, limit, waits)
	if err != nil {
		return err
	}
	s.answers.write(w, r, http.StatusOK, wire.Events[events.Cloud]{
		Cursor: strconv.FormatInt(page.Cursor, 10), Events: eventsOf(page.Events, infoOf(r).viewer),
	})
	return nil
}

// waitForEvents returns a page of events, which may be empty unless it waits for one.
func (s *server) waitForEvents(w http.ResponseWriter, r *http.Request, wanted eventQuery, limit time.Duration,
	waits bool,
) (page feed.Page, err error) {
	if !waits {
		return s.Feed.Page(r.Context(), wanted.since, wanted.types, wanted.limit)
	}
	if wanted.since.Now { // which is before the request counts as waiting
		after, err := s.Feed.NumberEvents(r.Context())
		if err != nil {
			return page, fmt.Errorf("number events: %w", err)
		}
		wanted.since = feed.Since{After: after}
	}
	err = s.await(w, r, limit, func() (_ look, err error) { //nolint:contextcheck // of the request
		page, err = s.Feed.Page(r.Context(), wanted.since, wanted.types, wanted.limit)
		return look{pending: isEmpty(page)}, err
	}, func(ctx context.Context, changed <-chan struct{}, _ time.Duration) error {
		return s.poll(ctx, changed, 0, func(ctx context.Context, turn int64) (look, error) {
			found, err := s.Feed.SharedPage(ctx, turn, page.Cursor, wanted.types, wanted.limit)
			if err == nil { // otherwise the last page still holds
				page = found
			}
			return look{pending: isEmpty(page)}, err
		})
	})
	return page, err
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
