package web

import (
	"context"
	"net/http"
	"net/url"
	"path"
	"strings"
)

// place is where the path of a page puts it: in a site, or in none.
type place struct {
	site   string // its name, "" for none
	prefix string // of the path, in front of /ui/: /sites/{site}, "" for none
}

type placeKey struct{}

// placeOf returns the place of a request.
func placeOf(ctx context.Context) place {
	at, _ := ctx.Value(placeKey{}).(place)
	return at
}

// placed returns a handler that takes the site from the path of a request, and passes it on as one of /ui/.
func (s *server) placed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if at, below, ok := splitSite(r.URL); ok && !s.Compat {
			r = r.WithContext(context.WithValue(r.Context(), placeKey{}, at))
			r.URL = below
		}
		next.ServeHTTP(w, r)
	})
}

// Has reports whether a URL is that of a page: below /ui, or below that of a site.
func (c Config) Has(at *url.URL) bool {
	_, _, ok := splitSite(at)
	return isBelowUI(at.Path) || ok && !c.Compat
}

func isBelowUI(path string) bool { return path == "/ui" || strings.HasPrefix(path, "/ui/") }

// sitesPath is the path in front of the name of a site.
const sitesPath = "/sites/"

// splitSite splits the URL of a page in a site into its place and the URL without that. ok is false for all others, and
// for paths that are not clean, which could lead out of the site.
func splitSite(at *url.URL) (in place, below *url.URL, ok bool) {
	rest, found := strings.CutPrefix(at.EscapedPath(), sitesPath)
	name, page, _ := strings.Cut(rest, "/")
	page = "/" + page
	unescaped, err := url.PathUnescape(page)
	if !found || err != nil || !mayBeSite(name) || !isBelowUI(page) || path.Clean(page) != strings.TrimSuffix(page, "/") {
		return place{}, at, false
	}
	stripped := *at
	stripped.Path, stripped.RawPath = unescaped, page
	return place{name, sitesPath + name}, &stripped, true
}

// mayBeSite reports whether a part of a path can be the name of a site, of which the API decides whether it exists. It
// has nothing that is escaped, is no step to another folder, and does not stand for all sites.
func mayBeSite(name string) bool {
	return strings.Trim(name, ".") != "" && name != "-" && url.PathEscape(name) == name
}

// baseOf returns the path of the overview of a site, or of /ui/ for none.
func (s *server) baseOf(at place) basePath { return basePath(s.root + at.prefix + "/ui/") }
