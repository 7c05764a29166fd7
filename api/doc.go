// Package api serves revisions over HTTP: Airship Deckhand's API (spec/api.md) and Purser's additions to it.
//
// It has no domain logic: a handler parses the request, calls a service and writes a view of the result.
//
//	middleware.go    routing, logging, metrics, recovery
//	authorize.go     authentication and authorization of each request
//	parameters.go    query parameters; body.go reads bodies, conditions.go preconditions and ETags
//	errors.go        maps faults to status codes
//	respond.go       content negotiation and answers; views.go and others define what they look like
package api
