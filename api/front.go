package api

import (
	"fmt"
	"net/http"
	"strings"

	"purser/api/mediatype"
)

// frontView describes the server, with links.
type frontView struct {
	Name  string     `json:"name"`
	About string     `json:"about"`
	Docs  string     `json:"docs"`
	Links []linkView `json:"links"`

	paths []string // of the links
}

type linkView struct {
	URL   string `json:"url"`
	About string `json:"about"`
}

// pagesPath is the path of the web pages, which are served beside the API.
const pagesPath = "/ui/"

// GET /
func (s *server) front(w http.ResponseWriter, r *http.Request) error {
	view := s.frontView(r)
	switch kind := mediatype.Preferred(r, mediatype.Text, mediatype.Text, mediatype.HTML, mediatype.XYAML, mediatype.YAML, mediatype.JSON); kind {
	case mediatype.Text:
		s.writeText(w, r, kind, []byte(view.text()))
	case mediatype.HTML:
		s.writeText(w, r, kind, []byte(view.html()))
	default:
		s.writeAs(w, r, http.StatusOK, kind, view, "")
	}
	return nil
}

func (s *server) frontView(r *http.Request) frontView {
	view := frontView{
		Name:  "Purser",
		About: "A revisioned, validating store of a site's configuration documents, with the API of Airship Deckhand.",
		Docs:  "README.md and docs/ of the source code",
	}
	for _, link := range []linkView{
		{pagesPath, "web pages: the newest revision, its findings and its changes"},
		{"/openapi.yaml", "the contract: every operation, with examples"},
		{"/versions", "the versions of the API"},
		{healthPath, "health: 204 while the server runs"},
		{"/readyz", "readiness: 503 while the database does not answer"},
		{metricsPath, "metrics, for Prometheus"},
		{"/api/v1.0/buckets", "the buckets of documents"},
		{"/api/v1.0/revisions", "the revisions of the site"},
		{"/api/v1.0/revisions/latest/status", "whether the newest revision may be deployed, and why not"},
	} {
		if link.URL == metricsPath && s.Access.MetricsElsewhere || link.URL == pagesPath && !s.Pages {
			continue
		}
		view.paths = append(view.paths, link.URL)
		view.Links = append(view.Links, linkView{s.origin(r) + link.URL, link.About})
	}
	return view
}

func (v frontView) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s\n\n", v.Name, v.About)
	for _, link := range v.Links {
		fmt.Fprintf(&b, "%s\n    %s\n", link.URL, link.About)
	}
	fmt.Fprintf(&b, "\nDocumentation: %s\n", v.Docs)
	return b.String()
}

// html returns a page with relative links.
func (v frontView) html() string {
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
