package api

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-chi/chi/v5"

	"purser/internal/authn"
	"purser/internal/authz"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/queries"
	"purser/internal/sites"
	"purser/internal/validations"
)

// handler answers a request, or returns the error to answer with.
type handler func(w http.ResponseWriter, r *http.Request) error

// questions returns the queries of a request, as its caller may see their results.
func (s *server) questions(r *http.Request) queries.View {
	view := s.at(r).Queries.For(infoOf(r).viewer).Noting(&infoOf(r).fresh)
	if infoOf(r).unwaived {
		return view.WithoutWaivers()
	}
	return view
}

// revision resolves the revision in the path.
func (s *server) revision(r *http.Request) (id int64, err error) {
	id, err = s.questions(r).Resolve(r.Context(), revisionName(r, "revision"))
	infoOf(r).revision = id
	return id, err
}

// revisionOrEmpty returns the revision that a parameter names; 0 names the empty revision before the first one.
func (s *server) revisionOrEmpty(r *http.Request, parameter string) (int64, error) {
	if revisionName(r, parameter) == "0" {
		return 0, nil
	}
	return s.questions(r).Resolve(r.Context(), revisionName(r, parameter))
}

// revisionName returns a part of the path that names a revision.
func revisionName(r *http.Request, parameter string) string {
	text := chi.URLParam(r, parameter)
	name, err := url.PathUnescape(text)
	if err != nil || !utf8.ValidString(name) || strings.ContainsRune(name, 0) {
		return text // not the name of a revision
	}
	return name
}

// pathName returns a part of the path that is the name of a bucket, a tag or a validation.
func pathName(r *http.Request, parameter string) (string, error) {
	text, err := url.PathUnescape(chi.URLParam(r, parameter))
	if err != nil {
		text = "\xff" // also invalid
	}
	return text, validations.CheckName(text, "The {"+parameter+"} of the path")
}

// asHTTPNotFound changes RevisionNotFound to HTTPNotFound, for the routes where Deckhand does.
func asHTTPNotFound(err error) error {
	var f *fault.Fault
	if errors.As(err, &f) && f.Type == "RevisionNotFound" {
		renamed := *f
		renamed.Type = "HTTPNotFound"
		return &renamed
	}
	return err
}

// origin returns the beginning of links in answers: PublicURL or, without it, the scheme and host by which the
// client says that it reached the server. Anybody may have chosen the host that a request names, so no page shows it.
func (s *server) origin(r *http.Request) string {
	if s.PublicURL != "" {
		return s.PublicURL
	}
	return schemeOf(r) + "://" + r.Host
}

// links returns the writer of views with links for a request.
func (s *server) links(r *http.Request) links {
	return links{base: s.base(r), compat: s.Compat}
}

// base returns origin with the path of the site, if the request has one.
func (s *server) base(r *http.Request) string { return s.origin(r) + infoOf(r).prefix }

// readOne reads a body of one document of at most limit bytes.
func (s *server) readOne(w http.ResponseWriter, r *http.Request, limit int64) (any, error) {
	text, media, err := s.uploads.readSmall(w, r, min(s.Limits.Body, limit))
	if err != nil {
		return nil, err
	}
	return document.ParseOne(r.Context(), text, media, s.Limits)
}

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
	unwaived   bool         // the answer shows verdicts without waivers
	aborted    bool         // the connection was closed in the middle of the answer
	notes      []string     // errors, for the log

	pinned  string        // the revision or the event that latest, a tag or now meant when the request began to wait
	pending *bool         // whether a request that waits keeps waiting after this answer; nil: if it is a 304
	fresh   time.Duration // how long the answer holds if nothing changes; 0: for ever
	waited  time.Duration // how long it has waited
	stopped bool          // its wait ended because the server stops
	rest    func()        // waits and answers, after the handlers have returned; nil if they have answered

	site       string         // in the path; empty if there is none
	prefix     string         // that is cut off the path before it is routed: /sites/{site}, or empty
	everywhere bool           // the request is about all sites
	settings   sites.Settings // of the site, if it is known to exist
	services   *Services      // of the site; nil: of the default site
	unopened   bool           // it is not known whether the site exists, because looking it up failed

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

// copied returns a record for work that may outlive the request.
func (i *requestInfo) copied() *requestInfo {
	return &requestInfo{
		site: i.site, prefix: i.prefix, everywhere: i.everywhere, settings: i.settings,
		services: i.services, id: i.id, caller: i.caller, viewer: i.viewer, rule: i.rule, parameters: i.parameters,
		pinned: i.pinned,
	}
}
