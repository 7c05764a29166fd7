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

// A panic before the answer is an error of this one request, which says nothing of the server's insides.
func TestHandler_panic(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(config *api.Config) {
		config.Ping = func(context.Context) error { panic("the cause") }
	})
	got := s.get(t, "/readyz", asJSON...)
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

// brittle is a response whose body cannot be written.
type brittle struct{ *httptest.ResponseRecorder }

// Write implements http.ResponseWriter.
func (brittle) Write([]byte) (int, error) { panic("the cause") }

// A panic after the answer began ends the connection: nothing may look like the rest of the answer.
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
