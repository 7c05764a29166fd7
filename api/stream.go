package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"purser/internal/events"
	"purser/internal/feed"
	"purser/internal/revisions"
)

const (
	// streamAlive is the interval at which a keep-alive is sent and the caller's permission is checked again.
	streamAlive = 15 * time.Second
	// streamPatience is how long a client may take to read sent events.
	streamPatience = 30 * time.Second
	// streamPage is how many events are read at a time.
	streamPage = 100
)

// wantsStream reports whether a request asks for events as a stream.
func wantsStream(r *http.Request) bool {
	if r.Method != http.MethodGet || !strings.HasSuffix(r.URL.Path, "/events") {
		return false
	}
	return preferredType(r, typeXYAML,
		typeXYAML, typeYAML, typeJSON, typeEvents) == typeEvents
}

// stream sends events as they happen, until the client disconnects or loses the right to read them, or the server
// stops. An error ends the stream too; the client gets it when it reconnects.
func (s *server) stream(w http.ResponseWriter, r *http.Request, wanted eventQuery) error {
	place, err := s.waitPlace(r)
	if err != nil {
		return err
	}
	defer place()
	turn, changed := s.at(r).Feed.Next()
	page, err := s.at(r).Feed.Page(r.Context(), wanted.since, wanted.types, streamPage)
	if err != nil {
		return err
	}
	began := s.Now()
	defer func() { infoOf(r).waited += s.Now().Sub(began) }()
	w.Header().Set("Content-Type", typeEvents)
	w.Header().Set("Cache-Control", "no-store, "+noTransform)
	out := eventStream{w, r, http.NewResponseController(w)}
	_ = out.control.SetReadDeadline(time.Time{}) // the client sends nothing more
	alive := time.NewTicker(streamAlive)
	defer alive.Stop()
	err = out.comment("events")
	for err == nil && !s.stops() && r.Context().Err() == nil {
		if isEmpty(page) {
			select {
			case <-changed:
				turn, changed = s.at(r).Feed.Next()
			case <-alive.C:
				if err = s.reauthorize(w, r); err == nil {
					err = out.comment("alive")
				}
				continue
			case <-r.Context().Done():
				return nil
			case <-s.Stopping:
				return nil
			}
		} else if err = s.sendPage(w, r, out, page, alive.C); err != nil {
			break
		}
		page, err = s.at(r).Feed.SharedPage(r.Context(), turn, page.Cursor, wanted.types, streamPage)
	}
	if err != nil {
		infoOf(r).note("the stream ended: " + err.Error())
	}
	return nil
}

// sendPage sends the events of a page if the caller may still read them. That is checked periodically, and for each
// page until the stream has caught up.
func (s *server) sendPage(w http.ResponseWriter, r *http.Request, out eventStream, page feed.Page,
	alive <-chan time.Time,
) error {
	due := page.More
	select {
	case <-alive:
		due = true
	default:
	}
	if due {
		if err := s.reauthorize(w, r); err != nil {
			return err
		}
	}
	if len(page.Events) == 0 {
		return nil
	}
	return out.events(page.Events)
}

// eventStream writes a stream.
type eventStream struct {
	http.ResponseWriter

	request *http.Request
	control *http.ResponseController
}

func (s eventStream) comment(text string) error { return s.send([]byte(": " + text + "\n\n")) }

func (s eventStream) events(all []events.Event) error {
	var out []byte
	for _, event := range all {
		view := event.Cloud(revisions.SitePath(siteOf(s.request)), infoOf(s.request).viewer)
		text, err := json.Marshal(view) // without line breaks
		if err != nil {
			return fmt.Errorf("write an event: %w", err)
		}
		out = fmt.Appendf(out, "id: %s\nevent: %s\ndata: %s\n\n", view.ID, view.Type, text)
	}
	return s.send(out)
}

func (s eventStream) send(text []byte) error {
	// Writers without deadlines, such as those of tests, return errors here.
	_ = s.control.SetWriteDeadline(time.Now().Add(streamPatience))
	if _, err := s.Write(text); err != nil {
		return fmt.Errorf("write to the client: %w", err)
	}
	_ = s.control.Flush()
	return nil
}
