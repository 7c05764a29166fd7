package api

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

// requestInfo collects data about a request for the log and the audit.
type requestInfo struct {
	began      time.Time
	caller     authn.Caller
	viewer     authz.Viewer // of the answer; the most restricted one until the caller is known
	rule       string       // the authz rule that was checked, if any
	parameters []string     // of the query, that the endpoint reads
	revision   int64        // the revision created or requested, if any
	audited    bool         // the audit event was stored with the change
	unchanged  bool         // the change stores nothing new
	errorType  string       // of the answer, if it is an error
	aborted    bool         // the connection was closed in the middle of the answer
	notes      []string     // errors, for the log

	paused  bool          // it has no answer yet, because it waits and will be handled again
	resumed *resumedWait  // it has waited and is handled again; otherwise nil
	waited  time.Duration // how long it has waited

	id     string
	marker string // X-Context-Marker, shortened
	answer middleware.WrapResponseWriter
}

type infoKey struct{}

// infoOf returns the record of a request; an empty one if no observer has seen the request.
func infoOf(r *http.Request) *requestInfo {
	if i, ok := r.Context().Value(infoKey{}).(*requestInfo); ok {
		return i
	}
	return &requestInfo{}
}

// note adds an error for the log.
func (i *requestInfo) note(text string) { i.notes = append(i.notes, text) }

// begun reports whether the status has been sent.
func (i *requestInfo) begun() bool { return i.answer != nil && i.answer.Status() != 0 }

// resumedWait is the wait of a request that is handled again after it.
type resumedWait struct {
	began  time.Time     // the request
	waited time.Duration // 0 if the first answer ended the wait
	ended  error         // why the request gets no answer; nil if it gets one
}

type waitKey struct{}

// resume returns a request that is handled again after a wait.
func resume(r *http.Request, after resumedWait) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), waitKey{}, &after))
}

// detach returns a copy of a request that may outlive it: chi reuses routing contexts.
func detach(r *http.Request) *http.Request {
	info, routing := infoOf(r), chi.NewRouteContext()
	own := &requestInfo{
		id: info.id, caller: info.caller, viewer: info.viewer, rule: info.rule, parameters: info.parameters,
	}
	parameters := chi.RouteContext(r.Context()).URLParams
	routing.URLParams = chi.RouteParams{Keys: slices.Clone(parameters.Keys), Values: slices.Clone(parameters.Values)}
	ctx := context.WithValue(context.WithoutCancel(r.Context()), infoKey{}, own)
	return r.Clone(context.WithValue(ctx, chi.RouteCtxKey, routing))
}
