package api

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"purser/internal/fault"
)

// Starting returns a handler for a server that is not ready yet: GET /api/v1.0/health shows that the process is alive,
// and all other requests get the reason, a fault of kind Unavailable. For changes it adds that nothing was stored.
func Starting(reason *fault.Fault, log *slog.Logger, observe Observe, now func() time.Time) http.Handler {
	s := &server{Config: Config{Log: log, Now: now}}
	router := chi.NewRouter()
	router.Use((&observer{log, now, observe}).middleware, unsniffed, s.recoverer, routeEscaped)
	unavailable := func(w http.ResponseWriter, r *http.Request) { s.fail(w, r, unstored(r, reason)) }
	router.NotFound(unavailable)
	router.MethodNotAllowed(unavailable)
	router.Handle(healthPath, s.dispatch(methods{"GET": {public, s.health, nil}}))
	return router
}
