package authn

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestMemory_recall(t *testing.T) {
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
		"wrong":            {err: rejected("x"), after: refusedFor - 1, known: true, expired: true},
		"wrong before":     {err: rejected("x"), after: refusedFor, expired: true},
		"nobody answered":  {err: unavailable(errors.New("x"), "x"), expired: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock := newClock()
			m, token := newMemory(clock.now), hashed(name)
			m.learn(token, caller, epoch.Add(c.ends), c.err)
			clock.advance(c.after)
			got, known, err := m.recall(token)
			if diff := cmp.Diff(c.caller, got); diff != "" || known != c.known || known && !errors.Is(err, c.err) {
				t.Error(known, err, diff)
			}
			if m.wasAccepted(token) == c.expired {
				t.Error("it is taken for an acquaintance, or is not:", c.expired)
			}
		})
	}
}

// A token that was good and is no more is forgotten at once.
func TestMemory_refuse(t *testing.T) {
	t.Parallel()
	m, token := newMemory(newClock().now), hashed("token")
	m.learn(token, Caller{UserID: "u"}, epoch.Add(time.Hour), nil)
	m.learn(token, Caller{}, time.Time{}, rejected("revoked"))
	_, known, err := m.recall(token)
	if !known || err == nil || m.wasAccepted(token) {
		t.Error("a refused token counts:", known, err)
	}
}

// However many wrong tokens come, memory is bounded and the good ones stay.
func TestMemory_flood(t *testing.T) {
	t.Parallel()
	m, token := newMemory(newClock().now), hashed("token")
	m.learn(token, Caller{UserID: "u"}, epoch.Add(time.Hour), nil)
	for n := range 2 * remembered {
		m.learn(hashed(strconv.Itoa(n)), Caller{}, time.Time{}, rejected("x"))
	}
	if _, known, err := m.recall(token); !known || err != nil {
		t.Error("wrong tokens pushed a good one out:", known, err)
	}
	if got := m.refused.Len(); got != remembered {
		t.Errorf("%d wrong tokens are kept, want %d", got, remembered)
	}
}
