package requests

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"purser/internal/authn"
	"purser/internal/authz"
)

// Info collects data about a request for the log and the audit.
type Info struct {
	Began      time.Time
	Caller     authn.Caller
	Viewer     authz.Viewer // of the answer; the most restricted one until the caller is known
	Rule       string       // the authz rule that was checked, if any
	Parameters []string     // of the query, that the endpoint reads
	Revision   int64        // the revision created or requested, if any
	Audited    bool         // the audit event was stored with the change
	Unchanged  bool         // the change stores nothing new
	ErrorType  string       // of the answer, if it is an error
	Aborted    bool         // the connection was closed in the middle of the answer
	Notes      []string     // errors, for the log

	Paused  bool          // it has no answer yet, because it waits and will be handled again
	Resumed *Wait         // it has waited and is handled again; otherwise nil
	Waited  time.Duration // how long it has waited

	id     string
	marker string // X-Context-Marker, shortened
	answer middleware.WrapResponseWriter
}

type infoKey struct{}

// Of returns the Info of a request; an empty one if no Observer has seen the request.
func Of(r *http.Request) *Info {
	if i, ok := r.Context().Value(infoKey{}).(*Info); ok {
		return i
	}
	return &Info{}
}

// Note adds an error for the log.
func (i *Info) Note(text string) { i.Notes = append(i.Notes, text) }

// Begun reports whether the status has been sent.
func (i *Info) Begun() bool { return i.answer != nil && i.answer.Status() != 0 }

// Wait is the wait of a request that is handled again after it.
type Wait struct {
	Began  time.Time     // the request
	Waited time.Duration // 0 if the first answer ended the wait
	Ended  error         // why the request gets no answer; nil if it gets one
}

type waitKey struct{}

// Resume returns a request that is handled again after a wait.
func Resume(r *http.Request, after Wait) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), waitKey{}, &after))
}

// Detach returns a copy of a request that may outlive it: chi reuses routing contexts.
func Detach(r *http.Request) *http.Request {
	info, routing := Of(r), chi.NewRouteContext()
	own := &Info{
		id: info.id, Caller: info.Caller, Viewer: info.Viewer, Rule: info.Rule, Parameters: info.Parameters,
	}
	parameters := chi.RouteContext(r.Context()).URLParams
	routing.URLParams = chi.RouteParams{Keys: slices.Clone(parameters.Keys), Values: slices.Clone(parameters.Values)}
	ctx := context.WithValue(context.WithoutCancel(r.Context()), infoKey{}, own)
	return r.Clone(context.WithValue(ctx, chi.RouteCtxKey, routing))
}
