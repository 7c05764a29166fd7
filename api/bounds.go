package api

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/go-chi/httprate"
	"golang.org/x/sync/semaphore"

	"purser/internal/authn"
	"purser/internal/fault"
)

// Bounds keep one caller, or all together, from taking what the others need.
type Bounds struct {
	Rate    int   // requests a second that one user may send, on average over ten seconds; 0: any number
	Ingests int   // bodies of documents that one user may have under way at once; 0: any number
	Memory  int64 // bytes that the bodies of documents under way may have together; at least 1
	// Patience is how long a request waits for its share of the memory, and then may take to arrive.
	Patience time.Duration
}

// bounds count what is under way.
type bounds struct {
	Bounds

	rate   *httprate.RateLimiter // nil: none
	memory *semaphore.Weighted

	mutex   sync.Mutex
	ingests map[string]int // by user, those under way
}

// rateWindow is what the rate is an average of, and how long one that was exceeded needs to be forgotten.
const rateWindow = 10 * time.Second

func newBounds(config Bounds) *bounds {
	b := &bounds{Bounds: config, memory: semaphore.NewWeighted(config.Memory), ingests: map[string]int{}}
	if config.Rate > 0 {
		b.rate = httprate.NewRateLimiter(config.Rate*int(rateWindow/time.Second), rateWindow,
			httprate.WithResponseHeaders(httprate.ResponseHeaders{}))
	}
	return b
}

// countRequest refuses a request of a user who sends too many.
func (b *bounds) countRequest(w http.ResponseWriter, r *http.Request, caller authn.Caller) error {
	if b.rate == nil || !b.rate.OnLimit(w, r, caller.UserID) {
		return nil
	}
	return throttled(w, rateWindow, "More than %d requests a second came from this user, on average over %v", b.Rate,
		rateWindow)
}

// beginIngest waits until there is memory for a body of documents; end gives it back. It refuses the body if the user
// has too many under way already, or if there is no memory in time.
func (b *bounds) beginIngest(w http.ResponseWriter, r *http.Request, size int64) (end func(), err error) {
	user := caller(r).UserID
	if !b.enter(user) {
		return nil, throttled(w, time.Second, "%d bodies of documents of this user are under way, the most that may be at "+
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

// reserve takes a share of the memory. The time in which a body must arrive begins anew for one that had to wait: it
// could not be read before.
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
		setRetryAfter(w, b.Patience)
		return fault.New(fault.Unavailable, "HTTPServiceUnavailable",
			"Bodies of other requests kept all memory that there is for them (--ingest-memory); nothing was stored")
	}
	// What cannot be told to wait longer, such as a recorder of tests, has no deadline.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(b.Patience))
	return nil
}

// enter counts an ingest of a user, unless there are too many.
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

func throttled(w http.ResponseWriter, wait time.Duration, format string, args ...any) error {
	setRetryAfter(w, wait)
	return fault.New(fault.Throttled, "HTTPTooManyRequests", format, args...)
}

func setRetryAfter(w http.ResponseWriter, wait time.Duration) {
	w.Header().Set("Retry-After", strconv.Itoa(max(1, int(wait.Seconds()))))
}
