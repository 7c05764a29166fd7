package api

import (
	"net/http"
	"unicode/utf8"

	"purser/api/conditions"
	"purser/api/parameters"
	"purser/api/requests"
	"purser/internal/fault"
	"purser/internal/revisions"
)

// about reads the stamp of the numbered revision that a write is meant for, from the ETag in If-Match or the parameter
// revision-stamp. status is that of the answer if the write is made.
func (s *server) about(r *http.Request, revision int64, status int) (revisions.Options, error) {
	options := revisions.Options{Audit: s.recorder.Event(r, status)}
	var err error
	if options.Expected, err = conditions.Expected(r); err != nil {
		return options, err
	}
	q := parameters.Of(r)
	text := q.Text("revision-stamp")
	if text == "" || q.Err() != nil {
		return options, q.Err()
	}
	stamp, err := revisions.ParseStamp(text)
	if err != nil || stamp == 0 {
		q.Fail("revision-stamp", "It must be the stamp of a revision, as its status and its ETag show it.")
	}
	if options.Expected != nil {
		q.Fail("revision-stamp", "If-Match says the same: send one of them.")
	}
	options.Expected = revisions.Expected{{Revision: revision, Stamp: stamp}}
	return options, q.Err()
}

// maxMessage bounds the message of a change, in characters.
const maxMessage = 1000

// options reads the precondition, the author and the message of a change.
func (s *server) options(r *http.Request, q *parameters.Query) (revisions.Options, error) {
	expected, err := conditions.Expected(r)
	if err != nil {
		return revisions.Options{}, err
	}
	message, name := r.Header.Get("X-Purser-Message"), "X-Purser-Message header"
	if message == "" {
		message, name = q.Text("message"), "message parameter"
	}
	if err := q.Err(); err != nil {
		return revisions.Options{}, err
	}
	switch n := utf8.RuneCountInString(message); {
	case !utf8.ValidString(message):
		return revisions.Options{}, fault.New(fault.Invalid, "HTTPBadRequest", "The %s is not valid UTF-8.", name)
	case n > maxMessage:
		return revisions.Options{}, fault.New(fault.Invalid, "HTTPBadRequest",
			"The %s has %d characters, but at most %d are kept with a revision.", name, n, maxMessage)
	}
	return revisions.Options{Reason: revisions.Reason{User: s.user(r), Message: message}, Expected: expected}, nil
}

// user returns the user to record with a revision: X-End-User or, without it, the caller.
func (s *server) user(r *http.Request) string {
	if name := requests.EndUser(r); name != "" {
		return name
	}
	return s.gate.CallerName(r)
}
