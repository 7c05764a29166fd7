package signin

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// at is the time of a test, which may go on.
type at struct{ time.Time }

func (a *at) now() time.Time { return a.Time }

func newCookies(t *testing.T, key string, clock *at) *Cookies {
	t.Helper()
	c, err := NewCookies(bytes.Repeat([]byte(key), 32), "/", "/ui/", false, clock.now)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// with returns a request with the cookies that were set by an answer.
func with(t *testing.T, target string, w *httptest.ResponseRecorder) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
	for _, cookie := range w.Result().Cookies() {
		if cookie.MaxAge >= 0 {
			r.AddCookie(cookie)
		}
	}
	return r
}

func TestCookies_Session(t *testing.T) {
	t.Parallel()
	clock := &at{time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)}
	c := newCookies(t, "k", clock)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/ui/", nil)
	refused := httptest.NewRecorder()
	if err := c.Begin(refused, r, strings.Repeat("t", 22<<10)); !errors.Is(err, ErrLong) || len(refused.Header()) > 0 {
		t.Errorf("a long token: %v, %v", err, refused.Header())
	}
	w, token := httptest.NewRecorder(), strings.Repeat("t", 16<<10)
	if err := c.Begin(w, r, token); err != nil {
		t.Fatal(err)
	}
	r = with(t, "/ui/", w)
	if got := c.Session(r); got.Token != token || !got.Until.Equal(clock.Add(maxSession)) {
		t.Errorf("session of %d bytes until %v", len(got.Token), got.Until)
	}
	if got := newCookies(t, "x", clock).Session(r); got != (Session{}) {
		t.Errorf("a session of another key: %v", got)
	}
	clock.Time = clock.Add(maxSession)
	if got := c.Session(r); got != (Session{}) {
		t.Errorf("a session that has ended: %v", got)
	}
}

func TestCookies_Take(t *testing.T) {
	t.Parallel()
	clock := &at{time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)}
	c := newCookies(t, "k", clock)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/ui/", nil)
	for next, want := range map[string]string{"/ui/search": "/ui/search", "/ui/" + strings.Repeat("a", maxCookie): "/ui/"} {
		w := httptest.NewRecorder()
		if err := c.Keep(w, r, Attempt{State: "s", Next: next, Until: clock.Add(maxAttempt)}); err != nil {
			t.Fatal(err)
		}
		for target, ok := range map[string]bool{"/ui/?state=s": true, "/ui/?state=x": false, "/ui/": false} {
			taken := httptest.NewRecorder()
			got, found := c.Take(taken, with(t, target, w))
			if found != ok || ok && got.Next != want {
				t.Errorf("%s: %t, %v", target, found, got)
			}
			if left := with(t, target, taken).Cookies(); len(left) > 0 || len(taken.Result().Cookies()) != 1 {
				t.Errorf("%s: the attempt is not deleted: %v", target, left)
			}
		}
	}
	w := httptest.NewRecorder()
	if err := c.Keep(w, r, Attempt{State: "s", Until: clock.Time}); err != nil {
		t.Fatal(err)
	}
	if _, found := c.Take(httptest.NewRecorder(), with(t, "/ui/?state=s", w)); found {
		t.Error("an attempt counts that took too long")
	}
}
