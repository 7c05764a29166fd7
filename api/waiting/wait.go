package waiting

import (
	"maps"
	"net/http"
	"strconv"
	"time"

	"purser/api/access"
	"purser/api/parameters"
	"purser/api/requests"
	"purser/internal/budget"
	"purser/internal/fault"
	"purser/internal/feed"
)

// Room is where requests wait.
type Room struct {
	feed     *feed.Feed
	stopping <-chan struct{} // closed when the server stops, which ends all waits
	gate     *access.Gate
	now      func() time.Time

	groups groups
	looks  *budget.Shares // limits how many groups look for another answer concurrently
}

// maxLooks is how many groups of waiting requests may look for another answer concurrently: an event wakes them all.
const maxLooks = 4

// NewRoom returns a room for requests that wait for events of a feed. All waits end when stopping is closed; nil never
// ends them.
func NewRoom(of *feed.Feed, stopping <-chan struct{}, gate *access.Gate, now func() time.Time) *Room {
	return &Room{
		feed: of, stopping: stopping, gate: gate, now: now,
		groups: groups{of: map[question]*group{}}, looks: budget.NewShares(maxLooks),
	}
}

// Endpoint answers requests that may wait.
type Endpoint struct {
	// Handle answers a request, or returns the error to answer with. It is called again to find out whether the answer
	// has changed.
	Handle func(w http.ResponseWriter, r *http.Request) error
	// Pin resolves the subject of a request, if it must stay the same while names such as latest move on; it returns ""
	// if the subject may change during the wait.
	Pin func(r *http.Request) (string, error)
	// Origin is the beginning of the links in answers, which requests with another one cannot share.
	Origin string
}

// Answer calls the handler of an endpoint. If the request waits, it calls the handler again until the client does not
// already have the answer (304) and the handler does not mark it as pending.
func (room *Room) Answer(w http.ResponseWriter, r *http.Request, of Endpoint) error {
	q := parameters.Of(r)
	limit, waits := limitOf(q)
	if err := q.Err(); err != nil {
		return err
	}
	r = Without(r) // so that it does not affect ETags and links
	if !waits || WantsStream(r) {
		return of.Handle(w, r)
	}
	return room.await(w, r, of, limit)
}

// maxWaitingHeader is the maximum size of the URL and the headers of a waiting request, in bytes, which stay in memory.
const maxWaitingHeader = 32 << 10

// place returns a place among the waiting requests. Faults: Invalid for a large request, Unavailable if all places are
// taken, Throttled if the caller has its share of them.
func (room *Room) place(r *http.Request) (end func(), err error) {
	size := len(r.RequestURI)
	for name, values := range r.Header {
		for _, value := range values {
			size += len(name) + len(value)
		}
	}
	if size > maxWaitingHeader {
		return nil, fault.New(fault.Invalid, "HTTPBadRequest", "The URL and the headers of a request that waits may "+
			"have %d bytes; these have %d. Send fewer, or ask without wait.", maxWaitingHeader, size)
	}
	return room.feed.Wait(budget.Owner(r.Context()))
}

// await makes a request wait for an answer, or answers one that has waited.
func (room *Room) await(w http.ResponseWriter, r *http.Request, of Endpoint, limit time.Duration) error {
	p, _ := r.Context().Value(pauseKey{}).(*pause) // Pausing has set it for every request with the parameter
	if p.over {
		return room.answerAfter(p, w, r, of)
	}
	info := requests.Of(r)
	pinned, err := of.Pin(r)
	if err != nil {
		return err
	}
	place, err := room.place(r)
	if err != nil {
		return err
	}
	if limit == 0 {
		defer place()
		w.Header().Set(waitedHeader, "0.0")
		return of.Handle(w, withState(r, &State{Pinned: pinned}))
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{})                               // the client sends nothing more
	_ = control.SetWriteDeadline(time.Now().Add(limit + waitedAnswerTime)) // tests have writers without deadlines
	p.began, p.limit, p.place, p.viewer, p.pinned = info.Began, limit, place, info.Viewer, pinned
	p.joined = time.Now()
	p.member = room.join(r, of, pinned)
	info.Paused = true
	return nil
}

// answerAfter writes the answer of a request that has waited.
func (room *Room) answerAfter(p *pause, w http.ResponseWriter, r *http.Request, of Endpoint) error {
	info := requests.Of(r)
	w.Header().Set(waitedHeader, strconv.FormatFloat(p.waited.Seconds(), 'f', 1, 64))
	answer, err := p.answer, p.err
	p.answer, p.err = nil, nil // if that is not the last word, the next try is made for this client alone
	if err != nil {
		return err
	}
	if answer == nil || p.viewer != info.Viewer { // it is made for this client alone
		return of.Handle(w, withState(r, &State{Pinned: p.pinned}))
	}
	info.Revision = answer.revision
	maps.Copy(w.Header(), answer.header)
	w.WriteHeader(answer.status)
	_, _ = w.Write(answer.body.Bytes()) // the client may have disconnected
	return nil
}

// waitedAnswerTime is the time to make and write an answer after the wait.
const waitedAnswerTime = 5 * time.Minute

const waitedHeader = "Purser-Waited"

// errStopping returns the fault of a request that is waiting when the server stops.
func errStopping() error {
	f := fault.New(fault.Unavailable, "HTTPServiceUnavailable", "The server stops; ask another one, or this one again")
	f.RetryAfter = time.Second
	return f
}
