package api

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"purser/internal/authz"
	"purser/internal/fault"
	"purser/internal/feed"
	"purser/internal/queries"
	"purser/internal/sites"
)

// splitSite splits the URL of a request below /sites/{site} into the name of the site, its prefix and the URL without
// that. ok is false for other URLs, among them that of the site itself, and for those about all sites.
func splitSite(at *url.URL) (site, prefix string, rest *url.URL, ok bool) {
	below, found := strings.CutPrefix(at.EscapedPath(), sitesPath+"/")
	name, path, deep := strings.Cut(below, "/")
	if !found || !deep || path == "" || name == allSites {
		return "", "", at, false
	}
	site, err := url.PathUnescape(name)
	unescaped, failed := url.PathUnescape(path)
	if err != nil || failed != nil {
		return "", "", at, false
	}
	stripped := *at
	stripped.Path, stripped.RawPath = "/"+unescaped, "/"+path
	return site, sitesPath + "/" + name, &stripped, true
}

// allSites stands for all sites in a path, below everywhere.
const (
	allSites   = "-"
	everywhere = sitesPath + "/" + allSites + "/"
)

// siteOf returns the name of the site that a request is about, allSites if it is about all.
func siteOf(r *http.Request) string {
	switch info := infoOf(r); {
	case info.everywhere:
		return allSites
	case info.site != "":
		return info.site
	}
	return sites.Default
}

// at returns the services of the site that a request is about: those of the default site until enter has found another.
// A request about all sites has those of the default site with the feed of all.
func (s *server) at(r *http.Request) *Services {
	if of := infoOf(r).services; of != nil {
		return of
	}
	return &s.Services
}

// enter opens the site that a request of a known caller is about. Faults: NotFound if there is no such site or the
// caller has no right there, which are answered alike; Conflict if the request would change an archived site.
func (s *server) enter(r *http.Request, rule string) error {
	info, site := infoOf(r), siteOf(r)
	if s.Sites == nil || info.prefix == "" && r.URL.Path == metricsPath { // metrics tell that the database is away
		return nil
	}
	if info.everywhere {
		all := s.Services
		all.Feed, info.services = all.Feed.Of(feed.All), &all
		return nil
	}
	if info.prefix != "" && (!sites.IsName(site) || !s.hasRights(r, rule)) {
		return s.unknownSite(r, site)
	}
	settings, err := s.Sites.Directory.Settings(r.Context(), site)
	switch {
	case fault.KindOf(err) == fault.NotFound:
		return s.unknownSite(r, site)
	case err != nil:
		info.unopened = fault.KindOf(err) != fault.Gone
		return err
	}
	info.settings = settings
	s.Pool.Uses(site)
	info.services = s.services(site)
	return nil
}

// auditOf returns the audit that records a request: that of its site, or of the default site if there is no such site.
// It looks the site up again if that failed before.
func (s *server) auditOf(ctx context.Context, r *http.Request) (queries.Audit, error) {
	if !infoOf(r).unopened {
		return s.at(r).Audit, nil
	}
	_, err := s.Sites.Directory.Settings(ctx, siteOf(r))
	if kind := fault.KindOf(err); kind == fault.NotFound || kind == fault.Gone {
		return s.Audit, nil
	}
	return s.services(siteOf(r)).Audit, err
}

// services returns the services of a site, whether that exists or not.
func (s *server) services(site string) *Services {
	if site == sites.Default {
		return &s.Services
	}
	return s.Others(site)
}

// hasRights reports whether the caller has any right in the site of a request.
func (s *server) hasRights(r *http.Request, rule string) bool {
	if rule != authenticated && s.decide(r, rule, authz.Target{}) != authz.Refused {
		return true
	}
	passed, depending := s.Access.Rules.Policy().Passed(infoOf(r).caller, onSite(r, authz.Target{}))
	return len(passed)+len(depending) > 0
}

// enterPublic is enter for a request that needs no caller. One that names no caller, or names it wrongly, is answered
// as if the site existed: who has no rights must not learn whether it does.
func (s *server) enterPublic(r *http.Request) error {
	if infoOf(r).prefix == "" {
		return nil
	}
	caller, err := s.authenticate(r)
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	infoOf(r).caller = caller
	return s.enter(r, authenticated)
}

// checkOpen returns the fault of a request that would change an archived site. Settings are changed: they open it.
func checkOpen(r *http.Request, of route) error {
	reads := isReading(r.Method) || of.rule == readDocuments || of.path == checkPath || of.rule == authz.ManageSites
	if infoOf(r).settings.Archived && !reads {
		return sites.Archived(siteOf(r))
	}
	return nil
}
