// Package api serves the revisions over HTTP: Airship Deckhand's wire (spec/api.md) and what Purser adds to it.
//
// It translates and decides nothing: a handler parses, calls the service and writes a view. Faults become status codes
// in errors.go, bodies are read in body.go, answers are written in respond.go, and what they look like stands in
// views.go.
package api
