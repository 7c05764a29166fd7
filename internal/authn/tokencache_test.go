package authn

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTokenCache_lookup(t *testing.T) {
	t.Parallel()
	caller := Caller{UserID: "u", Roles: []string{"admin"}}
	for name, c := range map[string]struct {
		ends    time.Duration // after now
		err     error
		after   time.Duration
		known   bool
		caller  Caller
		expired bool
	}{
		"good":             {ends: time.Hour, after: acceptedFor - 1, known: true, caller: caller},
		"good a while ago": {ends: time.Hour, after: acceptedFor},
		"good until then":  {ends: time.Second, after: time.Second, expired: true},
		"wrong":            {err: rejected("x"), after: rejectedFor - 1, known: true, expired: true},
		"wrong before":     {err: rejected("x"), after: rejectedFor, expired: true},
		"nobody answered":  {err: unavailable(errors.New("x"), "x"), expired: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock := newClock()
			m, token := newTokenCache(clock.now), hashOfToken(name)
			m.store(token, caller, epoch.Add(c.ends), c.err)
			clock.advance(c.after)
			got, known, err := m.lookup(token)
			if diff := cmp.Diff(c.caller, got); diff != "" || known != c.known || known && !errors.Is(err, c.err) {
				t.Error(known, err, diff)
			}
			if m.wasAccepted(token) == c.expired {
				t.Error("want it accepted before, or not:", c.expired)
			}
		})
	}
}

// A token that is no longer valid is forgotten immediately.
func TestTokenCache_reject(t *testing.T) {
	t.Parallel()
	m, token := newTokenCache(newClock().now), hashOfToken("token")
	m.store(token, Caller{UserID: "u"}, epoch.Add(time.Hour), nil)
	m.store(token, Caller{}, time.Time{}, rejected("revoked"))
	_, known, err := m.lookup(token)
	if !known || err == nil || m.wasAccepted(token) {
		t.Error("a refused token counts:", known, err)
	}
}

// A flood of invalid tokens does not grow the cache without bound or displace valid ones.
func TestTokenCache_flood(t *testing.T) {
	t.Parallel()
	m, token := newTokenCache(newClock().now), hashOfToken("token")
	m.store(token, Caller{UserID: "u"}, epoch.Add(time.Hour), nil)
	for n := range 40_000 {
		m.store(hashOfToken(strconv.Itoa(n)), Caller{}, time.Time{}, rejected("x"))
	}
	if _, known, err := m.lookup(token); !known || err != nil {
		t.Error("wrong tokens pushed a good one out:", known, err)
	}
	if got := m.rejected.Bytes(); got < maxRejectedBytes/2 || got > maxRejectedBytes {
		t.Errorf("wrong tokens take %d bytes, want up to %d", got, maxRejectedBytes)
	}
	if _, known, _ := m.lookup(hashOfToken("0")); known {
		t.Error("the oldest wrong token is still kept")
	}
}
