package bodies

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"purser/api/requests"
	"purser/internal/document"
	"purser/internal/fault"
)

// Uploads bounds the uploads of documents in progress: those of one user, and the memory of all.
type Uploads struct {
	perUser  int // 0: unlimited
	bytes    int64
	patience time.Duration
	memory   *semaphore.Weighted

	mutex sync.Mutex
	users map[string]int // uploads in progress, by user
}

// NewUploads returns bounds of perUser uploads of one user, 0 for any number, and bytes of all. A request waits for
// memory for as long as patience, and then as long for its body to arrive.
func NewUploads(perUser int, bytes int64, patience time.Duration) *Uploads {
	return &Uploads{
		perUser: perUser, bytes: bytes, patience: patience, memory: semaphore.NewWeighted(bytes), users: map[string]int{},
	}
}

// Read is the function Read, but waits for memory first; end releases it. Faults: Throttled if the user has too many
// uploads in progress, Unavailable if no memory becomes free in time.
func (u *Uploads) Read(w http.ResponseWriter, r *http.Request, limit int64) (
	text []byte, media document.Media, end func(), err error,
) {
	if end, err = u.begin(w, r, sizeOf(r, limit)); err != nil {
		return nil, 0, nil, err
	}
	if text, media, err = Read(w, r, limit); err != nil {
		end()
	}
	return text, media, end, advised(err)
}

// advised adds what helps to the fault of an upload that is too large. Other bodies have limits that no flag raises.
func advised(err error) error {
	f, isFault := errors.AsType[*fault.Fault](err)
	if !isFault || f.Kind != fault.TooLarge {
		return err
	}
	said := *f
	said.Message += "; documents can be sent as several buckets, or --max-body be raised"
	return &said
}

// begin reserves memory for an upload; end releases it.
func (u *Uploads) begin(w http.ResponseWriter, r *http.Request, size int64) (end func(), err error) {
	user := requests.Of(r).Caller.UserID
	if !u.enter(user) {
		f := fault.New(fault.Throttled, "HTTPTooManyRequests", "%d bodies of documents of this user are under way, the "+
			"most that may be at once; send the next when one is answered", u.perUser)
		f.RetryAfter = time.Second
		return nil, f
	}
	size = min(size, u.bytes)
	if err := u.reserve(w, r, size); err != nil {
		u.leave(user)
		return nil, err
	}
	return func() {
		u.memory.Release(size)
		u.leave(user)
	}, nil
}

// reserve waits for memory. After a wait, the read deadline of the body starts again, because the body could not be
// read in the meantime.
func (u *Uploads) reserve(w http.ResponseWriter, r *http.Request, size int64) error {
	if u.memory.TryAcquire(size) {
		return nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), u.patience)
	defer cancel()
	if err := u.memory.Acquire(ctx, size); err != nil {
		if err := r.Context().Err(); err != nil {
			return err
		}
		f := fault.New(fault.Unavailable, "HTTPServiceUnavailable",
			"Other uploads kept all memory for bodies in use (--ingest-memory); nothing was stored")
		f.RetryAfter = max(u.patience, time.Second)
		return f
	}
	// Writers without deadlines, such as those of tests, return an error.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(u.patience))
	return nil
}

// enter registers an upload of a user and reports whether it is allowed.
func (u *Uploads) enter(user string) bool {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	if u.perUser > 0 && u.users[user] >= u.perUser {
		return false
	}
	u.users[user]++
	return true
}

func (u *Uploads) leave(user string) {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	if u.users[user]--; u.users[user] == 0 {
		delete(u.users, user)
	}
}
