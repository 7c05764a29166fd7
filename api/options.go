package api

import (
	"net/http"
	"unicode/utf8"

	"purser/api/conditions"
	"purser/api/parameters"
	"purser/api/requests"
	"purser/internal/authz"
	"purser/internal/fault"
	"purser/internal/revisions"
)

// about reads the options of a write about a numbered revision. status is that of the answer if the write is made.
func (s *server) about(r *http.Request, revision int64, status int) (revisions.Options, error) {
	expected, err := conditions.About(r, revision)
	return revisions.Options{Audit: s.recorder.Event(r, status), Expected: expected}, err
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

// change reads the options of a change. status is that of the answer if the change is made.
func (s *server) change(r *http.Request, q *parameters.Query, status int) (revisions.Options, error) {
	dryRun, most := q.Flag("dry-run", false), q.Count("max-deleted", -1)
	options, err := s.options(r, q)
	options.DryRun, options.CleartextOnly, options.Viewer = dryRun, !s.mayEncrypt(r), requests.Of(r).Viewer
	options.WithoutUse = !s.gate.Allows(r, authz.UseEncryptedDocuments)
	if most >= 0 {
		options.MaxDeleted = &most
	}
	options.Audit = s.recorder.Event(r, status)
	return options, err
}

// mayEncrypt reports whether the caller may upload encrypted documents.
func (s *server) mayEncrypt(r *http.Request) bool {
	return s.gate.Allows(r, authz.CreateEncryptedDocuments)
}
