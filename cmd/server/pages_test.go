package main

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"purser/web"
)

// Pages are at /ui/ and below that of each site; all else is the API's, and with --compat=deckhand all of sites is.
func TestPages_mounted(t *testing.T) {
	t.Parallel()
	answers := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	for target, where := range map[string]struct{ page, compat bool }{
		"/ui/static/app.css": {true, true}, "/sites/atl1/ui/static/app.css": {true, false}, "/sites/atl1/ui": {true, false},
		"/": {}, "/uix": {}, "/sites": {}, "/sites/atl1": {}, "/sites/atl1/api/v1.0/revisions": {}, "/sites/-/ui/": {},
		"/sites/atl1/uix": {}, "/sites/atl1/ui//": {},
	} {
		for _, compat := range []bool{false, true} {
			handler, err := (&serveCommand{pagesFlags: pagesFlags{UI: true}}).withPages(answers, web.Config{
				Key: make([]byte, minKey), Now: time.Now, Log: slog.New(slog.DiscardHandler), Compat: compat,
				Observe: func(string, string, int, time.Duration) {},
			})
			if err != nil {
				t.Fatal(err)
			}
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, http.NoBody))
			want := where.page && !compat || where.compat
			if isPage := w.Code != http.StatusTeapot; isPage != want {
				t.Errorf("%s, compat %t: status %d", target, compat, w.Code)
			}
		}
	}
}
