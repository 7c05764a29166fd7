package bodies

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"purser/api/requests"
	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
)

// Uploads bounds the uploads of documents in progress: those of one user, and the memory of all, of which each user has
// a share.
type Uploads struct {
	perUser  int // 0: unlimited
	patience time.Duration
	first    *budget.Shares // memory of the first bytes of bodies
	rest     *budget.Shares // memory of all the others

	mutex sync.Mutex
	users map[string]int // uploads in progress, by user
}

// NewUploads returns bounds of perUser uploads of one user, 0 for any number, and bytes of all, a tenth of which is
// kept for the first MiB of each body. A request waits for memory for as long as patience, and then as long for its
// body to arrive.
func NewUploads(perUser int, bytes int64, patience time.Duration) *Uploads {
	const parts = 10
	first := max(1, bytes/parts)
	return &Uploads{
		perUser: perUser, patience: patience, users: map[string]int{},
		first: budget.NewShares(first), rest: budget.NewShares(max(1, bytes-first)),
	}
}

// Read is ReadSmall, but waits for memory first; end releases it. Faults: Throttled if the user has too many
// uploads in progress, Unavailable if no memory becomes free in time.
func (u *Uploads) Read(w http.ResponseWriter, r *http.Request, limit int64) (
	text []byte, media document.Media, end func(), err error,
) {
	user := requests.Of(r).Caller.UserID
	if !u.enter(user) {
		f := fault.New(fault.Throttled, "HTTPTooManyRequests", "%d bodies of documents of this user are under way, the "+
			"most that may be at once; send the next when one is answered", u.perUser)
		f.RetryAfter = time.Second
		return nil, 0, nil, f
	}
	first, rest := func() {}, func() {}
	end = func() {
		rest()
		first()
		u.leave(user)
	}
	if first, err = u.reserve(r, u.first, min(sizeOf(r, limit), firstBytes)); err != nil {
		u.leave(user)
		return nil, 0, nil, err
	}
	text, media, err = u.read(w, r, limit, func(bytes int64) (err error) {
		rest, err = u.reserve(r, u.rest, bytes)
		return err
	})
	if err != nil {
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

// reserve waits for memory, which release releases.
func (u *Uploads) reserve(r *http.Request, memory *budget.Shares, bytes int64) (release func(), err error) {
	ctx, cancel := context.WithTimeout(r.Context(), u.patience)
	defer cancel()
	release, err = memory.Acquire(ctx, bytes, false)
	switch {
	case err == nil:
		return release, nil
	case r.Context().Err() != nil:
		return func() {}, fmt.Errorf("wait for memory: %w", context.Cause(r.Context()))
	}
	f := fault.New(fault.Unavailable, "HTTPServiceUnavailable",
		"Other uploads kept all memory for bodies in use (--ingest-memory); nothing was stored")
	f.RetryAfter = max(u.patience, time.Second)
	return func() {}, f
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
