package authn

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"purser/internal/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// clock is a clock that a test sets.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

var epoch = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

func newClock() *clock { return &clock{t: epoch} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// journal keeps the log.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

func (j *journal) log() *slog.Logger { return slog.New(slog.NewTextHandler(j, nil)) }

func (j *journal) complaints() int { return strings.Count(j.String(), "level=ERROR") }

// wantRejected checks that err is a *Rejected with that reason and contains no part of the token.
func wantRejected(t *testing.T, err error, reason, token string) {
	t.Helper()
	r, ok := errors.AsType[*Rejected](err)
	if !ok {
		t.Fatalf("got %v, want it rejected: %s", err, reason)
	}
	if !strings.Contains(r.Reason, reason) {
		t.Errorf("rejected because %q, want %q", r.Reason, reason)
	}
	wantNothingOf(t, token, err.Error())
}

// wantUnavailable checks that err is a fault of kind Unavailable.
func wantUnavailable(t *testing.T, err error) {
	t.Helper()
	if _, ok := errors.AsType[*Rejected](err); ok || err == nil || fault.KindOf(err) != fault.Unavailable {
		t.Fatalf("got %v, want it unavailable", err)
	}
}

// wantNothingOf checks that a text contains no part of a token.
func wantNothingOf(t *testing.T, token, text string) {
	t.Helper()
	const piece = 12
	for at := 0; at+piece <= len(token); at += piece {
		if part := token[at : at+piece]; strings.Contains(text, part) && strings.Trim(part, part[:1]) != "" {
			t.Fatalf("%q holds %q of the token", text, part)
		}
	}
}
