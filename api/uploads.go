package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
)

// uploads bounds the uploads of documents in progress: those of one user, and the memory of all, of which each user
// and each site has a share.
type uploads struct {
	perUser  int // 0: unlimited
	patience time.Duration
	first    *budget.Shares // memory of the first bytes of bodies
	rest     *budget.Shares // memory of all the others

	mutex sync.Mutex
	users map[string]int // uploads in progress, by user
}

// newUploads returns bounds of perUser uploads of one user, 0 for any number, and bytes of all, a tenth of which is
// kept for the first MiB of each body. A request waits for memory for as long as patience, and then as long for its
// body to arrive.
func newUploads(perUser int, bytes int64, patience time.Duration) *uploads {
	const parts = 10
	first := max(1, bytes/parts)
	return &uploads{
		perUser: perUser, patience: patience, users: map[string]int{},
		first: budget.NewShares(first), rest: budget.NewShares(max(1, bytes-first)),
	}
}

// readLarge is readSmall, but waits for memory first; end releases it. Faults: Throttled if the user has too many
// uploads in progress, Unavailable if no memory becomes free in time.
func (u *uploads) readLarge(w http.ResponseWriter, r *http.Request, limit int64) (
	text []byte, media document.Media, end func(), err error,
) {
	end, err = u.large(r, min(bodySize(r, limit), firstBytes), func(more func(bytes int64) error) (err error) {
		text, media, err = u.read(w, r, limit, more)
		return err
	})
	return text, media, end, advised(err)
}

// large waits for the memory of the first bytes of a body and calls read, which gets it and reserves more with more.
// end releases the memory. Faults: those of readLarge.
func (u *uploads) large(r *http.Request, first int64, read func(more func(bytes int64) error) error) (
	end func(), err error,
) {
	user := infoOf(r).caller.UserID
	if !u.enter(user) {
		f := fault.New(fault.Throttled, "HTTPTooManyRequests", "%d bodies of documents of this user are under way, the "+
			"most that may be at once; send the next when one is answered", u.perUser)
		f.RetryAfter = time.Second
		return nil, f
	}
	var held []func()
	var kept int64
	end = func() {
		for _, release := range held {
			release()
		}
		u.leave(user)
	}
	reserve := func(memory *budget.Shares, of budget.Claim) error {
		release, err := u.reserve(r, memory, of)
		if err == nil {
			held = append(held, release)
		}
		return err
	}
	if err = reserve(u.first, budget.Claim{Weight: first}); err == nil {
		err = read(func(bytes int64) error {
			of := budget.Claim{Weight: bytes, Kept: kept}
			kept += bytes
			return reserve(u.rest, of)
		})
	}
	if err != nil {
		end()
	}
	return end, err
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

// maxKeeping is how long a body that keeps some of the memory may wait for more of it.
const maxKeeping = 10 * time.Second

// reserve waits for memory, which release releases. If all bodies that keep memory wait for each other, one gives up
// first, and others go on.
func (u *uploads) reserve(r *http.Request, memory *budget.Shares, of budget.Claim) (release func(), err error) {
	patience := u.patience
	if of.Kept > 0 {
		patience = min(patience, maxKeeping/2+rand.N(maxKeeping/2)) //nolint:gosec // jitter needs no secrecy
	}
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	release, err = memory.Acquire(ctx, of)
	switch {
	case err == nil:
		return release, nil
	case r.Context().Err() != nil:
		return nil, fmt.Errorf("wait for memory: %w", context.Cause(r.Context()))
	}
	f := fault.New(fault.Unavailable, "HTTPServiceUnavailable",
		"Uploads of this user, of this site or of others kept the memory for bodies in use (--ingest-memory); nothing was "+
			"stored")
	f.RetryAfter = max(patience, time.Second).Round(time.Second)
	return nil, f.Unstored()
}

// enter registers an upload of a user and reports whether it is allowed.
func (u *uploads) enter(user string) bool {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	if u.perUser > 0 && u.users[user] >= u.perUser {
		return false
	}
	u.users[user]++
	return true
}

func (u *uploads) leave(user string) {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	if u.users[user]--; u.users[user] == 0 {
		delete(u.users, user)
	}
}

// After slowestStart, at least minPace bytes of a body must have arrived for each second.
const (
	minPace      = 4 << 10
	slowestStart = 10 * time.Second
)

// paced reads a body that must not arrive too slowly.
type paced struct {
	io.ReadCloser

	deadline func(time.Time) error // sets that of reading
	patience time.Duration         // for all of it
	began    time.Time
	received int64
}

// paceOf returns the body of a request. Reading it fails with os.ErrDeadlineExceeded if it takes longer than patience,
// or arrives too slowly.
func paceOf(w http.ResponseWriter, body io.ReadCloser, patience time.Duration) *paced {
	deadline := http.NewResponseController(w).SetReadDeadline
	return &paced{ReadCloser: body, deadline: deadline, patience: patience, began: time.Now()}
}

// pause stops the clock, and removes the deadline, until resume is called. Read sets it again.
func (p *paced) pause() (resume func()) {
	p.end()
	at := time.Now()
	return func() { p.began = p.began.Add(time.Since(at)) }
}

// Read implements io.Reader.
func (p *paced) Read(buffer []byte) (int, error) {
	_ = p.deadline(p.began.Add(p.due())) // writers without deadlines, such as those of tests, return an error
	n, err := p.ReadCloser.Read(buffer)
	p.received += int64(n)
	return n, err
}

// due returns the time since the beginning after which more must have arrived.
func (p *paced) due() time.Duration {
	return min(p.patience, max(slowestStart, time.Duration(p.received)*time.Second/minPace))
}

// end removes the deadline, which would otherwise end the request while it is handled.
func (p *paced) end() { _ = p.deadline(time.Time{}) }
