package api

import (
	"net/http"
	"unicode/utf8"

	"purser/internal/authz"
	"purser/internal/fault"
	"purser/internal/revisions"
)

// about reads the options of a write about a numbered revision. status is that of the answer if the write is made.
func (s *server) about(r *http.Request, revision int64, status int) (revisions.Options, error) {
	expected, err := expectedAbout(r, revision)
	return revisions.Options{Audit: s.auditEvent(r, status), Expected: expected}, err
}

// maxMessage bounds the message of a change, in characters.
const maxMessage = 1000

// options reads the precondition, the author and the message of a change.
func (s *server) options(r *http.Request, q *params) (revisions.Options, error) {
	expected, err := expectedRevision(r)
	if err != nil {
		return revisions.Options{}, err
	}
	message, name := r.Header.Get("X-Purser-Message"), "X-Purser-Message header"
	if message == "" {
		message, name = q.text("message"), "message parameter"
	}
	if err := q.err(); err != nil {
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
	if name := endUser(r); name != "" {
		return name
	}
	return s.callerName(r)
}

// change reads the options of a change. status is that of the answer if the change is made.
func (s *server) change(r *http.Request, q *params, status int) (revisions.Options, error) {
	dryRun, most := q.flag("dry-run", false), q.count("max-deleted", -1)
	options, err := s.options(r, q)
	options.DryRun, options.CleartextOnly, options.Viewer = dryRun, !s.mayEncrypt(r), infoOf(r).viewer
	if err == nil {
		options.Rendered, _, err = s.renderedAsked(r, q, dryRun)
	}
	options.WithoutUse = !s.allows(r, authz.UseEncryptedDocuments)
	if most >= 0 {
		options.MaxDeleted = &most
	}
	options.Audit = s.auditEvent(r, status)
	return options, err
}

// mayEncrypt reports whether the caller may upload encrypted documents.
func (s *server) mayEncrypt(r *http.Request) bool {
	return s.allows(r, authz.CreateEncryptedDocuments)
}
