package authn

import (
	"crypto/sha256"
	"errors"
	"slices"
	"time"

	"purser/internal/cache"
	"purser/internal/document"
)

const (
	acceptedFor      = time.Minute     // how long a revoked token may still be accepted
	rejectedFor      = 5 * time.Second // how long a token that has become valid may still be rejected
	maxAcceptedBytes = 8 << 20         // some 20,000 tokens
	maxRejectedBytes = 4 << 20         // about as many tokens
)

// tokenCache caches results of authentication for a short time, by the hash of the token. Rejected tokens have a cache
// of their own, so that a flood of them cannot displace accepted ones.
type tokenCache struct {
	now      func() time.Time
	accepted *cache.Cache[document.Digest, accepted]
	rejected *cache.Cache[document.Digest, rejection]
}

type accepted struct {
	caller  Caller
	until   time.Time // when the cached result expires
	expires time.Time // when the token expires
}

// size estimates the memory of an entry, in bytes.
func (a accepted) size() int {
	const fixed, header = 200, 16
	size := fixed
	for _, text := range a.caller.texts() {
		size += header + len(text)
	}
	return size
}

type rejection struct {
	err   error
	until time.Time
}

func newTokenCache(now func() time.Time) *tokenCache {
	return &tokenCache{
		now:      now,
		accepted: cache.New[document.Digest, accepted](maxAcceptedBytes),
		rejected: cache.New[document.Digest, rejection](maxRejectedBytes),
	}
}

func hashOfToken(token string) document.Digest { return sha256.Sum256([]byte(token)) }

// lookup returns a cached result. known is false if there is none.
func (c *tokenCache) lookup(token document.Digest) (caller Caller, known bool, err error) {
	if a, ok := c.accepted.Get(token); ok && c.now().Before(a.until) {
		a.caller.Roles = slices.Clone(a.caller.Roles)
		return a.caller, true, nil
	}
	if r, ok := c.rejected.Get(token); ok && c.now().Before(r.until) {
		return Caller{}, true, r.err
	}
	return Caller{}, false, nil
}

// wasAccepted reports whether a token has been accepted and has not expired since.
func (c *tokenCache) wasAccepted(token document.Digest) bool {
	a, ok := c.accepted.Get(token)
	return ok && c.now().Before(a.expires)
}

// store caches a result, unless err means that the issuer did not answer.
func (c *tokenCache) store(token document.Digest, caller Caller, expires time.Time, err error) {
	if err == nil {
		until := c.now().Add(acceptedFor)
		if expires.Before(until) {
			until = expires
		}
		caller.Roles = slices.Clone(caller.Roles)
		entry := accepted{caller, until, expires}
		c.accepted.Add(token, entry, entry.size())
	} else if _, isRejected := errors.AsType[*Rejected](err); isRejected {
		const size = 200
		c.accepted.Remove(token)
		c.rejected.Add(token, rejection{err, c.now().Add(rejectedFor)}, size)
	}
}
