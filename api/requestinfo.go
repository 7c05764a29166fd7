package api

import (
	"context"
	"net/http"
	"time"

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

	pinned  string        // what a request that waits asks about if its URL may come to mean another thing; see pin
	pending *bool         // whether a request that waits keeps waiting after this answer; nil: if it is a 304
	fresh   time.Duration // how long the answer holds if nothing changes; 0: for ever
	waited  time.Duration // how long it has waited
	stopped bool          // its wait ended because the server stops
	rest    func()        // waits and answers, after the handlers have returned; nil if they have answered

	id     string
	marker string // X-Context-Marker, shortened
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

// detach returns a copy of a request for work that may outlive it, with a record of its own. Its context is ctx, which
// is made from that of the request.
func detach(ctx context.Context, r *http.Request) *http.Request {
	info := infoOf(r)
	own := &requestInfo{
		id: info.id, caller: info.caller, viewer: info.viewer, rule: info.rule, parameters: info.parameters,
		pinned: info.pinned,
	}
	return r.WithContext(context.WithValue(ctx, infoKey{}, own))
}
