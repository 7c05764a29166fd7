package api

import (
	"context"
	"net/http"
	"unicode/utf8"

	"purser/internal/authz"
	"purser/internal/budget"
	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/sites"
)

// about reads the options of a write about a numbered revision. status is that of the answer if the write is made.
func (s *server) about(r *http.Request, revision int64, status int) (revisions.Options, error) {
	expected, err := expectedAbout(r, revision)
	return revisions.Options{Caller: s.caller(r), Audit: s.auditEvent(r, status), Expected: expected}, err
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
	return revisions.Options{
		Reason: revisions.Reason{User: s.user(r), Message: message}, Caller: s.caller(r), Expected: expected,
	}, nil
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
	detach := q.flag("detach", false)
	options, err := s.options(r, q)
	options.Detach = detach
	options.DryRun, options.CleartextOnly, options.Viewer = dryRun, !s.mayEncrypt(r), infoOf(r).viewer
	if err == nil {
		options.Rendered, _, err = s.renderedAsked(r, q, dryRun)
	}
	options.MaxDocuments = s.limits(r).Documents
	options.WithoutUse = !s.allows(r, authz.UseEncryptedDocuments)
	if most >= 0 {
		options.MaxDeleted = &most
	}
	options.Audit = s.auditEvent(r, status)
	if err == nil {
		options.Source, err = source(r)
	}
	return options, err
}

// limits returns the limits that the site of a request has of its own.
func (s *server) limits(r *http.Request) sites.Limits { return infoOf(r).settings.Limits }

// countedChange reads the options of a change that makes a revision, and counts it unless it is a dry run. Fault:
// Throttled.
func (s *server) countedChange(w http.ResponseWriter, r *http.Request, q *params, status int) (
	revisions.Options, error,
) {
	options, err := s.change(r, q, status)
	if err == nil && !options.DryRun {
		err = s.countChange(w, r, siteOf(r), s.limits(r))
	}
	return options, err
}

// keepRevisions prunes the site of a request that has made a revision, once in a tenth of the revisions that the site
// keeps. It does not wait for that.
func (s *server) keepRevisions(r *http.Request, revision int64) {
	const part = 10
	keep := s.Bounds.Keep
	if own := s.limits(r).Keep; own != nil {
		keep = *own
	}
	if keep == 0 || revision%max(1, keep/part) != 0 {
		return
	}
	service, site := s.at(r).Service, siteOf(r)
	ctx := budget.WithoutUser(context.WithoutCancel(r.Context()))
	go func() {
		if _, err := service.KeepPruned(ctx, int(keep)); err != nil {
			s.Log.WarnContext(ctx, "old revisions remain for now", "site", site, "error", err.Error())
		}
	}()
}

// commitURL says what a source is.
const commitURL = "the URL of a commit, such as https://git.example.com/acme/site/commit/8f2c41d"

// source reads the URL of the commit that a change is made from, which is empty if none is given.
func source(r *http.Request) (revisions.Source, error) {
	text := r.Header.Get("X-Purser-Source")
	if text == "" {
		return "", nil
	}
	source, err := revisions.ParseSource(text)
	if err != nil {
		return "", fault.New(fault.Invalid, "HTTPInvalidHeader",
			`The value provided for the "X-Purser-Source" header is invalid. It must be %s: %w.`, commitURL, err)
	}
	return source, nil
}

// mayEncrypt reports whether the caller may upload encrypted documents.
func (s *server) mayEncrypt(r *http.Request) bool {
	return s.allows(r, authz.CreateEncryptedDocuments)
}
