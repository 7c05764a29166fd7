package api

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/go-chi/httprate"
	"golang.org/x/sync/semaphore"

	"purser/api/requests"
	"purser/internal/authn"
	"purser/internal/fault"
)

// Bounds limit the requests in progress of one caller, and of all callers together.
type Bounds struct {
	Rate    int   // requests per second of one user, on average over ten seconds; 0: unlimited
	Ingests int   // uploads of documents that one user may have in progress; 0: unlimited
	Memory  int64 // bytes of all uploads in progress; at least 1
	// Patience is the maximum time that a request waits for memory, and then for its body to arrive.
	Patience time.Duration
}

// bounds enforces Bounds.
type bounds struct {
	Bounds

	rate   *httprate.RateLimiter // nil if the rate is unlimited
	memory *semaphore.Weighted

	mutex   sync.Mutex
	ingests map[string]int // uploads in progress, by user
}

// rateWindow is the time over which request rates are averaged, and after which a throttled user may try again.
const rateWindow = 10 * time.Second

func newBounds(config Bounds) *bounds {
	b := &bounds{
		Bounds: config, memory: semaphore.NewWeighted(config.Memory),
		ingests: map[string]int{},
	}
	if config.Rate > 0 {
		b.rate = httprate.NewRateLimiter(config.Rate*int(rateWindow/time.Second), rateWindow,
			httprate.WithResponseHeaders(httprate.ResponseHeaders{}))
	}
	return b
}

// countRequest counts a request of a caller. Fault: Throttled if the caller exceeds the rate.
func (b *bounds) countRequest(w http.ResponseWriter, r *http.Request, caller authn.Caller) error {
	if b.rate == nil || !b.rate.OnLimit(w, r, caller.UserID) {
		return nil
	}
	return throttled(rateWindow, "More than %d requests a second came from this user, on average over %v", b.Rate,
		rateWindow)
}

// beginIngest reserves memory for an upload of documents; end releases it. Faults: Throttled if the user has too many
// uploads in progress, Unavailable if no memory becomes free in time.
func (b *bounds) beginIngest(w http.ResponseWriter, r *http.Request, size int64) (end func(), err error) {
	user := requests.Of(r).Caller.UserID
	if !b.enter(user) {
		return nil, throttled(time.Second, "%d bodies of documents of this user are under way, the most that may be at "+
			"once; send the next when one is answered", b.Ingests)
	}
	size = min(size, b.Memory)
	if err := b.reserve(w, r, size); err != nil {
		b.leave(user)
		return nil, err
	}
	return func() {
		b.memory.Release(size)
		b.leave(user)
	}, nil
}

// reserve waits for memory. After a wait, the read deadline of the body starts again, because the body could not be
// read in the meantime.
func (b *bounds) reserve(w http.ResponseWriter, r *http.Request, size int64) error {
	if b.memory.TryAcquire(size) {
		return nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), b.Patience)
	defer cancel()
	if err := b.memory.Acquire(ctx, size); err != nil {
		if err := r.Context().Err(); err != nil {
			return err
		}
		f := fault.New(fault.Unavailable, "HTTPServiceUnavailable",
			"Other uploads kept all memory for bodies in use (--ingest-memory); nothing was stored")
		f.RetryAfter = max(b.Patience, time.Second)
		return f
	}
	// Writers without deadlines, such as those of tests, return an error.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(b.Patience))
	return nil
}

// enter registers an upload of a user and reports whether it is allowed.
func (b *bounds) enter(user string) bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.Ingests > 0 && b.ingests[user] >= b.Ingests {
		return false
	}
	b.ingests[user]++
	return true
}

func (b *bounds) leave(user string) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.ingests[user]--; b.ingests[user] == 0 {
		delete(b.ingests, user)
	}
}

func throttled(wait time.Duration, format string, args ...any) error {
	f := fault.New(fault.Throttled, "HTTPTooManyRequests", format, args...)
	f.RetryAfter = wait
	return f
}
