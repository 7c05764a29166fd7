package api_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"purser/api"
)

// A panic before the answer is an error of that request alone, and the error reveals no internals.
func TestHandler_panic(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(config *api.Config) {
		config.Ping = func(context.Context) error { panic("the cause") }
	})
	got := s.ask(t, http.MethodGet, "/readyz", "", asJSON...)
	if got.is(t, http.StatusInternalServerError); strings.Contains(got.text, "the cause") {
		t.Errorf("the answer tells the cause: %s", got.text)
	}
	for _, part := range []string{"the cause", "panic_test.go", `"status":500`, got.Header.Get("X-Deckhand-Req")} {
		if !strings.Contains(s.log.String(), part) {
			t.Errorf("the log does not tell %q: %s", part, s.log)
		}
	}
	s.get(t, "/versions").is(t, http.StatusOK)
}

// brittle is a response writer that panics when the body is written.
type brittle struct{ *httptest.ResponseRecorder }

// Write implements http.ResponseWriter.
func (brittle) Write([]byte) (int, error) { panic("the cause") }

// A panic after the answer has begun closes the connection, so that the answer does not look complete.
func TestHandler_panicAfterBeginning(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	recorder := httptest.NewRecorder()
	ended := func() (ended any) {
		defer func() { ended = recover() }()
		s.ServeHTTP(brittle{recorder}, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/versions", http.NoBody))
		return nil
	}()
	if err, _ := ended.(error); !errors.Is(err, http.ErrAbortHandler) {
		t.Errorf("the handler ends with %v, want %v", ended, http.ErrAbortHandler)
	}
	if recorder.Code != http.StatusOK || recorder.Body.Len() > 0 {
		t.Errorf("the client gets %d %q, want 200 and nothing more", recorder.Code, recorder.Body)
	}
	for _, part := range []string{`"level":"ERROR"`, "the cause", "panic_test.go"} {
		if !strings.Contains(s.log.String(), part) {
			t.Errorf("the log does not tell %q: %s", part, s.log)
		}
	}
}

// gone is a response writer for a client that has closed the connection.
type gone struct{ *httptest.ResponseRecorder }

// Write implements http.ResponseWriter.
func (gone) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

// An answer ends with the connection of its client. The log has the reason, without a stack.
func TestHandler_clientGone(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	const size = 2 << 20 // more than one write
	s.put(t, "a", strings.Replace(widget("large", "{}"), "data: {}", "data: "+strings.Repeat("x", size), 1)).is(t, http.StatusOK)
	s.log.Reset()
	ended := func() (ended any) {
		defer func() { ended = recover() }()
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1.0/revisions/1/documents", http.NoBody)
		s.ServeHTTP(gone{httptest.NewRecorder()}, request)
		return nil
	}()
	if err, _ := ended.(error); !errors.Is(err, http.ErrAbortHandler) {
		t.Errorf("the handler ends with %v, want %v", ended, http.ErrAbortHandler)
	}
	if log := s.log.String(); !strings.Contains(log, "broken pipe") || strings.Contains(log, "goroutine") {
		t.Errorf("the log says %s, want the reason alone", log)
	}
}
