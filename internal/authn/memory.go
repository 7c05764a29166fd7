package authn

import (
	"crypto/sha256"
	"errors"
	"slices"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"purser/internal/document"
)

const (
	acceptedFor = time.Minute     // at most; a token that was revoked counts no longer than this
	refusedFor  = 5 * time.Second // and one that begins to count is held up no longer than this
	remembered  = 10_000          // tokens of each kind
)

// memory keeps what was found out about tokens, by their hash, for a short time. Wrong tokens, of which anybody can
// make as many as they like, are kept apart from good ones and cannot push them out.
type memory struct {
	now      func() time.Time
	accepted *lru.Cache[document.Digest, accepted]
	refused  *lru.Cache[document.Digest, refused]
}

type accepted struct {
	caller Caller
	until  time.Time // it must be asked for again
	ends   time.Time // it expires
}

type refused struct {
	err   error
	until time.Time
}

func newMemory(now func() time.Time) *memory {
	m := &memory{now: now}
	m.accepted, _ = lru.New[document.Digest, accepted](remembered) // fails for sizes below one only
	m.refused, _ = lru.New[document.Digest, refused](remembered)
	return m
}

func hashed(token string) document.Digest { return sha256.Sum256([]byte(token)) }

// recall returns what was found out a moment ago; known is false if that must be found out anew.
func (m *memory) recall(token document.Digest) (caller Caller, known bool, err error) {
	if a, ok := m.accepted.Get(token); ok && m.now().Before(a.until) {
		a.caller.Roles = slices.Clone(a.caller.Roles)
		return a.caller, true, nil
	}
	if r, ok := m.refused.Get(token); ok && m.now().Before(r.until) {
		return Caller{}, true, r.err
	}
	return Caller{}, false, nil
}

// wasAccepted tells whether a token that has not expired was good some time ago.
func (m *memory) wasAccepted(token document.Digest) bool {
	a, ok := m.accepted.Peek(token)
	return ok && m.now().Before(a.ends)
}

// learn takes note of what was found out. That somebody did not answer is nothing to remember.
func (m *memory) learn(token document.Digest, caller Caller, ends time.Time, err error) {
	_, isRejected := errors.AsType[*Rejected](err)
	switch {
	case err == nil:
		m.accept(token, caller, ends)
	case isRejected:
		m.refuse(token, err)
	}
}

func (m *memory) accept(token document.Digest, caller Caller, ends time.Time) {
	until := m.now().Add(acceptedFor)
	if ends.Before(until) {
		until = ends
	}
	caller.Roles = slices.Clone(caller.Roles)
	m.accepted.Add(token, accepted{caller, until, ends})
}

func (m *memory) refuse(token document.Digest, err error) {
	m.accepted.Remove(token)
	m.refused.Add(token, refused{err, m.now().Add(refusedFor)})
}
