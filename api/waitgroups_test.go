package api

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-chi/chi/v5"

	"purser/internal/budget"
	"purser/internal/feed"
)

// The work of a group belongs to the user who waits alone, and is an owner of its own once another user waits too.
func TestRoom_owners(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		users []string
		alone bool
	}{
		"one user":  {[]string{"a", "a"}, true},
		"two users": {[]string{"a", "b"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				room := newWaitingRoom(feed.New(feed.Config{MaxWaits: 100}), nil, nil, time.Now)
				begun, look, owner := false, make(chan struct{}), ""
				answer := func(w http.ResponseWriter, r *http.Request) error { //nolint:unparam // an endpoint's handler
					if !begun {
						begun = true
						<-look
						owner = budget.Owner(r.Context())
					}
					w.WriteHeader(http.StatusOK)
					return nil
				}
				pin := func(*http.Request) (string, error) { return "", nil }
				handler := room.pausing(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if err := room.answer(w, r, waitEndpoint{handle: answer, pin: pin}); err != nil {
						t.Error(err)
					}
				}))
				for _, user := range c.users {
					ctx := context.WithValue(budget.WithOwner(t.Context(), user), chi.RouteCtxKey, chi.NewRouteContext())
					ctx, end := budget.NewPool(1, time.Minute).Begin(ctx)
					defer end()
					r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/x?wait=60s", nil)
					go handler.ServeHTTP(httptest.NewRecorder(), r)
					synctest.Wait()
				}
				close(look)
				synctest.Wait()
				if alone := owner == "a"; alone != c.alone || strings.HasPrefix(owner, "b") {
					t.Errorf("the owner of the work is %q", owner)
				}
			})
		})
	}
}
