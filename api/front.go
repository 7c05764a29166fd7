package api

import (
	"fmt"
	"net/http"
	"strings"

	"purser/internal/authz"
	"purser/internal/fault"
	"purser/internal/sites"
)

// GET /
func (s *server) front(w http.ResponseWriter, r *http.Request) error {
	view := s.links(r).front(map[string]bool{
		metricsPath: s.Access.MetricsElsewhere, pagesPath: !s.Pages, sitesPath: s.Compat || infoOf(r).prefix != "",
	})
	kind := preferredType(r, typeText,
		typeText, typeHTML, typeXYAML, typeYAML, typeJSON)
	switch kind {
	case typeText:
		s.answers.writeText(w, r, kind, []byte(view.text()))
	case typeHTML:
		s.answers.writeText(w, r, kind, []byte(view.hTML()))
	default:
		s.answers.writeAs(w, r, http.StatusOK, kind, view, "")
	}
	return nil
}

// GET /versions
func (s *server) versions(w http.ResponseWriter, r *http.Request) error {
	s.answers.write(w, r, http.StatusOK, map[string]any{"v1.0": map[string]string{"path": v1, "status": "stable"}})
	return nil
}

// GET /.well-known/oauth-protected-resource
func (s *server) resource(w http.ResponseWriter, r *http.Request) error {
	found := s.Access.Resource
	found.Resource, found.Methods = s.origin(r), []string{"header"}
	s.answers.writeAs(w, r, http.StatusOK, typeJSON, found, "")
	return nil
}

const healthPath, readyPath = "/api/v1.0/health", "/readyz"

// GET /api/v1.0/health
func (s *server) health(w http.ResponseWriter, _ *http.Request) error {
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// GET /readyz
func (s *server) ready(w http.ResponseWriter, r *http.Request) error {
	switch err := s.Ping(r.Context()); {
	case fault.KindOf(err) == fault.Unavailable: // the message has the cause
		return err
	case err != nil:
		return fault.New(fault.Unavailable, "HTTPServiceUnavailable", "The database does not answer").Because(err)
	}
	answer := map[string]string{"status": "ready"}
	if s.Problem != nil {
		if err := s.Problem(); err != nil {
			answer["problem"] = err.Error()
		}
	}
	s.answers.write(w, r, http.StatusOK, answer)
	return nil
}

// GET /metrics shows what the server knows of its sites. It needs the right in the default one, also below the path of
// another.
func (s *server) metrics(w http.ResponseWriter, r *http.Request) error {
	if err := s.requireFor(r, authz.ShowMetrics, authz.Target{Site: sites.Default}); err != nil {
		return err
	}
	s.exposition.ServeHTTP(w, r)
	return nil
}

// frontView describes the server, with links.
type frontView struct {
	Name  string      `json:"name"`
	About string      `json:"about"`
	Docs  string      `json:"docs"`
	Links []frontLink `json:"links"`

	paths []string // of the links
}

type frontLink struct {
	URL   string `json:"url"`
	About string `json:"about"`
}

const pagesPath = "/ui/"

// front returns the description of the server, or of a site, without the paths that are not served there.
func (l links) front(without map[string]bool) frontView {
	view := frontView{
		Name:  "Purser",
		About: "A revisioned, validating store of a site's configuration documents, with the API of Airship Deckhand.",
		Docs:  "README.md and docs/ of the source code",
	}
	for _, link := range []frontLink{
		{pagesPath, "web pages: the newest revision, its findings and its changes"},
		{"/docs", "the API: every operation, with examples"},
		{"/openapi.yaml", "the same as OpenAPI, for programs; also /openapi.json"},
		{"/versions", "the versions of the API"},
		{"/api/v1.0/health", "health: 204 while the server runs"},
		{"/readyz", "readiness: 503 while the database does not answer"},
		{metricsPath, "metrics, for Prometheus"},
		{sitesPath, "the sites; the API of each is below /sites/NAME, and here that of the site default"},
		{"/api/v1.0/buckets", "the buckets of documents"},
		{"/api/v1.0/revisions", "the revisions of the site"},
		{"/api/v1.0/revisions/latest/status", "whether the newest revision may be deployed, and why not"},
	} {
		if without[link.URL] {
			continue
		}
		view.paths = append(view.paths, link.URL)
		view.Links = append(view.Links, frontLink{l.base + link.URL, link.About})
	}
	return view
}

// text returns the description as text.
func (v frontView) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s\n\n", v.Name, v.About)
	for _, link := range v.Links {
		fmt.Fprintf(&b, "%s\n    %s\n", link.URL, link.About)
	}
	fmt.Fprintf(&b, "\nDocumentation: %s\n", v.Docs)
	return b.String()
}

// hTML returns a page with relative links.
func (v frontView) hTML() string {
	var b strings.Builder
	fmt.Fprintf(&b, "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>%s</title>\n<h1>%s</h1>\n"+
		"<p>%s</p>\n<ul>\n", v.Name, v.Name, v.About)
	for i, link := range v.Links {
		path := strings.TrimPrefix(v.paths[i], "/")
		fmt.Fprintf(&b, "<li><a href=\"%s\">%s</a>: %s</li>\n", path, path, link.About)
	}
	fmt.Fprintf(&b, "</ul>\n<p>Documentation: %s</p>\n</html>\n", v.Docs)
	return b.String()
}
