package api

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"purser/internal/budget"
	"purser/internal/fault"
	"purser/internal/sites"
)

// The changes of each site count apart, within a minute, up to its own limit or that of the server.
func TestServer_countChange(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		config := Config{Bounds: Bounds{Changes: 5}, Pool: budget.NewPool(1, 0)}
		s := &server{Config: config, changed: newUserRate(0, changeWindow)}
		count := func(site string, own *int64, want int, by string) {
			t.Helper()
			for n := range 100 {
				w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPut, "/", http.NoBody)
				err := s.countChange(w, r, site, sites.Limits{Changes: own})
				if err == nil && n < want {
					continue
				}
				f, _ := errors.AsType[*fault.Fault](err)
				if n != want || f == nil || f.Kind != fault.Throttled || f.RetryAfter != time.Minute ||
					!strings.Contains(f.Message, by) {
					t.Errorf("%s: change %d: %v", site, n, err)
				}
				return
			}
			if want < 100 {
				t.Errorf("%s had 100 changes, want %d", site, want)
			}
		}
		s.Pool.Uses("a")
		count("a", nil, 100, "") // alone
		count("a", new(int64(3)), 3, "the most that the limit of the site allows")
		time.Sleep(2 * changeWindow)
		s.Pool.Uses("b")
		count("a", nil, 5, "the most that --site-changes allows")
		count("b", new(int64(60)), 60, "the most that the limit of the site allows")
		count("c", new(int64(1)), 1, "The site c had 1 changes")
		count("d", new(int64(0)), 100, "")
		count("a", nil, 0, "")
		count("a", new(int64(7)), 2, "") // raised
		time.Sleep(2 * changeWindow)
		count("a", nil, 5, "")
		time.Sleep(10 * time.Minute)
		count("a", nil, 100, "") // alone again
	})
}
