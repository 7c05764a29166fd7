package api

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"purser/api/access"
	"purser/api/answers"
	"purser/api/requests"
	"purser/internal/fault"
)

// Starting returns a handler for a server that is not ready yet: GET /api/v1.0/health shows that the process is alive,
// and all other requests get the reason, a fault of kind Unavailable. For changes it adds that nothing was stored.
func Starting(reason *fault.Fault, log *slog.Logger, observe requests.Observe, now func() time.Time) http.Handler {
	s := &server{answers: answers.NewWriter()}
	seen := &requests.Observer{Log: log, Now: now, Count: observe, Health: healthPath}
	router := chi.NewRouter()
	router.Use(seen.Middleware, unsniffed, s.answers.Recover, requests.RouteEscaped)
	unavailable := func(w http.ResponseWriter, r *http.Request) { s.answers.Fail(w, r, answers.Unstored(r, reason)) }
	router.NotFound(unavailable)
	router.MethodNotAllowed(unavailable)
	router.Handle(healthPath, s.dispatch(methods{"GET": {access.Public, s.health, nil}}))
	return router
}
