package api

import (
	"maps"
	"net/http"
	"strconv"
	"time"

	"purser/internal/budget"
	"purser/internal/fault"
	"purser/internal/feed"
)

// waitingRoom is where requests wait.
type waitingRoom struct {
	feed     *feed.Feed
	stopping <-chan struct{} // closed when the server stops, which ends all waits
	gate     *gate
	now      func() time.Time

	groups groups
	looks  *budget.Shares // limits how many groups look for another answer concurrently
}

// maxLooks is how many groups of waiting requests may look for another answer concurrently: an event wakes them all.
const maxLooks = 4

// newWaitingRoom returns a room for requests that wait for events of a feed. All waits end when stopping is closed; nil never
// ends them.
func newWaitingRoom(of *feed.Feed, stopping <-chan struct{}, gate *gate, now func() time.Time) *waitingRoom {
	return &waitingRoom{
		feed: of, stopping: stopping, gate: gate, now: now,
		groups: groups{of: map[question]*group{}}, looks: budget.NewShares(maxLooks),
	}
}

// waitEndpoint answers requests that may wait.
type waitEndpoint struct {
	// handle answers a request, or returns the error to answer with. It is called again to find out whether the answer
	// has changed.
	handle func(w http.ResponseWriter, r *http.Request) error
	// pin resolves the subject of a request, if it must stay the same while names such as latest move on; it returns ""
	// if the subject may change during the wait.
	pin func(r *http.Request) (string, error)
	// origin is the beginning of the links in answers, which requests with another one cannot share.
	origin string
}

// answer calls the handler of an endpoint. If the request waits, it calls the handler again until the client does not
// already have the answer (304) and the handler does not mark it as pending.
func (room *waitingRoom) answer(w http.ResponseWriter, r *http.Request, of waitEndpoint) error {
	q := paramsOf(r)
	limit, waits := waitLimit(q)
	if err := q.err(); err != nil {
		return err
	}
	r = withoutWait(r) // so that it does not affect ETags and links
	if !waits || wantsStream(r) {
		return of.handle(w, r)
	}
	return room.await(w, r, of, limit)
}

// maxWaitingHeader is the maximum size of the URL and the headers of a waiting request, in bytes, which stay in memory.
const maxWaitingHeader = 32 << 10

// place returns a place among the waiting requests. Faults: Invalid for a large request, Unavailable if all places are
// taken, Throttled if the caller has its share of them.
func (room *waitingRoom) place(r *http.Request) (end func(), err error) {
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
func (room *waitingRoom) await(w http.ResponseWriter, r *http.Request, of waitEndpoint, limit time.Duration) error {
	p, _ := r.Context().Value(pauseKey{}).(*pause) // Pausing has set it for every request with the parameter
	if p.over {
		return room.answerAfter(p, w, r, of)
	}
	info := infoOf(r)
	pinned, err := of.pin(r)
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
		return of.handle(w, withState(r, &waitState{pinned: pinned}))
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{})                               // the client sends nothing more
	_ = control.SetWriteDeadline(time.Now().Add(limit + waitedAnswerTime)) // tests have writers without deadlines
	p.began, p.limit, p.place, p.viewer, p.pinned = info.began, limit, place, info.viewer, pinned
	p.joined = time.Now()
	p.member = room.join(r, of, pinned)
	info.paused = true
	return nil
}

// answerAfter writes the answer of a request that has waited.
func (room *waitingRoom) answerAfter(p *pause, w http.ResponseWriter, r *http.Request, of waitEndpoint) error {
	info := infoOf(r)
	w.Header().Set(waitedHeader, strconv.FormatFloat(p.waited.Seconds(), 'f', 1, 64))
	answer, err := p.answer, p.err
	p.answer, p.err = nil, nil // if that is not the last word, the next try is made for this client alone
	if err != nil {
		return err
	}
	if answer == nil || p.viewer != info.viewer { // it is made for this client alone
		return of.handle(w, withState(r, &waitState{pinned: p.pinned}))
	}
	info.revision = answer.revision
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
