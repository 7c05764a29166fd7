package api

import (
	"context"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"purser/internal/authz"
	"purser/internal/budget"
	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/sites"
	"purser/internal/wire"
	"purser/internal/words"
)

// GET /sites
func (s *server) listSites(w http.ResponseWriter, r *http.Request) error {
	q := paramsOf(r)
	page, query := q.page(), q.sites()
	if err := q.err(); err != nil {
		return err
	}
	var err error
	if query.Follows != "" {
		if !s.maySee(r, query.Follows) {
			return s.unknownSite(r, query.Follows)
		}
		if _, err = s.Sites.Directory.Settings(r.Context(), query.Follows); err != nil {
			return s.orUnknown(r, query.Follows, err)
		}
	}
	if query.Among, err = s.sitesWith(r, authz.ListRevisions); err != nil {
		return err
	}
	query.Limit, query.Offset = page.Limit, page.Offset
	if query.Follows != "" {
		query.Limit = min(query.Limit, maxFollowing)
	}
	if err := s.numberListed(r.Context(), query); err != nil {
		return err
	}
	found, more, err := s.Sites.Store.FindSites(r.Context(), query)
	if err != nil {
		return err
	}
	var upstreams []revisions.Upstream
	for i := range found {
		maps.DeleteFunc(found[i].Upstreams, func(_ string, from revisions.Upstream) bool {
			return from.Site != query.Follows
		})
		upstreams = slices.AppendSeq(upstreams, maps.Values(found[i].Upstreams))
	}
	behind, err := s.behind(r, upstreams)
	if err != nil {
		return err
	}
	return writePage(s, w, r, part{page, more}, found, func(of sites.Site) wire.Site { return siteView(of, behind) })
}

// maxFollowing bounds a page of sites that follow another one, each of which may have many upstreams.
const maxFollowing = 100

// numberListed numbers the events on which a list of sites depends: those of all sites if verdicts decide which sites
// are in it, or their order, else those of the sites in it.
func (s *server) numberListed(ctx context.Context, query sites.Query) error {
	if query.Status != "" || query.Sort == sites.ByStatus {
		return s.Feed.NumberSites(ctx, func(string) bool { return true })
	}
	listed, _, err := s.Sites.Store.FindSites(ctx, query)
	if err != nil {
		return err
	}
	names := map[string]bool{}
	for _, site := range listed {
		names[site.Name] = true
	}
	return s.Feed.NumberSites(ctx, func(site string) bool { return names[site] })
}

// sites reads the filters and the order of a list of sites.
func (q *params) sites() (query sites.Query) {
	query.Labels = map[string]string{}
	for _, text := range q.texts("label") {
		key, value, ok := strings.Cut(text, "=")
		if was, twice := query.Labels[key]; !ok || twice && was != value {
			q.fail("label", "It must be KEY=VALUE, once for each key.")
		}
		query.Labels[key] = value
	}
	if q.given("archived") {
		query.Archived = new(q.flag("archived", false))
	}
	query.Follows = q.text("follows")
	if query.Behind = q.given("behind"); query.Behind {
		if query.Follows != "" && query.Follows != q.text("behind") {
			q.fail("behind", "It must name the same site as follows=.")
		}
		query.Follows = q.text("behind")
	}
	query.Status = q.oneOf("status", "success", "failure")
	query.Sort = q.oneOf("sort", sites.Keys()...)
	query.Backwards = q.oneOf("order", "asc", "desc") == "desc"
	return query
}

// oneOf returns the value of a parameter that has one of some values, "" if it is absent.
func (q *params) oneOf(parameter string, values ...string) string {
	text := q.text(parameter)
	if text != "" && !slices.Contains(values, text) {
		q.fail(parameter, "It must be one of %s.", words.List(values))
	}
	return text
}

// GET /sites/{site}
func (s *server) showSite(w http.ResponseWriter, r *http.Request) error {
	name := revisionName(r, "site")
	if !s.maySee(r, name) {
		return s.unknownSite(r, name)
	}
	if _, err := s.Feed.Of(name).NumberEvents(r.Context()); err != nil {
		return s.orUnknown(r, name, err)
	}
	found, err := s.Sites.Store.FindSite(r.Context(), name)
	if err != nil {
		return s.orUnknown(r, name, err)
	}
	behind, err := s.behind(r, slices.Collect(maps.Values(found.Upstreams)))
	if err != nil {
		return err
	}
	s.answers.writeAs(w, r, http.StatusOK, negotiate(r), siteView(found, behind), found.Version()+".")
	return nil
}

// maxSite bounds the body of a site, in bytes.
const maxSite = 64 << 10

// PUT /sites/{site}
func (s *server) putSite(w http.ResponseWriter, r *http.Request) error {
	name := revisionName(r, "site")
	condition, err := settingsCondition(r)
	if err != nil {
		return err
	}
	body, err := s.readOne(w, r, maxSite)
	if err != nil {
		return err
	}
	settings, err := sites.Parse(name, body)
	if err != nil {
		return err
	}
	statuses := map[sites.Outcome]int{
		sites.Made: http.StatusCreated, sites.Changed: http.StatusOK, sites.Unchanged: http.StatusOK,
	}
	made, outcome, err := s.Sites.Set(r.Context(), name, settings, condition,
		func(outcome sites.Outcome) *revisions.AuditEvent { return s.auditEvent(r, statuses[outcome]) })
	if err != nil {
		return err
	}
	infoOf(r).audited = infoOf(r).caller.UserID != "" // with the change
	infoOf(r).unchanged = outcome == sites.Unchanged
	behind, err := s.behind(r, slices.Collect(maps.Values(made.Upstreams)))
	if err != nil {
		return err
	}
	w.Header().Set("ETag", `"`+settings.Version()+`"`)
	s.answers.write(w, r, statuses[outcome], siteView(made, behind))
	return nil
}

// settingsCondition reads the preconditions of a request about a site: If-None-Match: *, by which it only makes one,
// and If-Match with the settings that it may change.
func settingsCondition(r *http.Request) (c sites.Condition, err error) {
	switch tags := strings.Join(r.Header.Values("If-None-Match"), ","); strings.TrimSpace(tags) {
	case "":
	case "*":
		c.New = true
	default:
		return c, fault.New(fault.Invalid, "HTTPInvalidHeader", "The value provided for the \"If-None-Match\" header is "+
			"invalid. It must be *, which only makes a site, and not %s.", quotedTag(tags))
	}
	if len(r.Header.Values("If-Match")) == 0 {
		return c, nil
	}
	for tag := range strings.SplitSeq(strings.Join(r.Header.Values("If-Match"), ","), ",") {
		tag = strings.TrimSpace(tag)
		parts := settingsTag.FindStringSubmatch(tag)
		if parts == nil {
			return c, fault.New(fault.Invalid, "HTTPInvalidHeader", "The value provided for the \"If-Match\" header is "+
				"invalid. It must be the ETag of GET or PUT /sites/{site}, or *, and not %s.", quotedTag(tag))
		}
		c.Match = append(c.Match, parts[1]+parts[2])
	}
	return c, nil
}

// settingsTag matches an item of If-Match: an ETag of a site, of which the settings' version counts.
var settingsTag = regexp.MustCompile(`^(?:(\*)|(?:W/)?"([0-9a-f]{16})(?:\.[0-9a-f]*)?")$`)

// DELETE /sites/{site}
func (s *server) deleteSite(w http.ResponseWriter, r *http.Request) error {
	name := revisionName(r, "site")
	q := paramsOf(r)
	confirm := q.text("confirm")
	if err := q.err(); err != nil {
		return err
	}
	condition, err := settingsCondition(r)
	if err != nil {
		return err
	}
	event := s.auditEvent(r, http.StatusAccepted)
	if err := s.Sites.Delete(r.Context(), name, confirm, condition, event); err != nil {
		return s.orUnknown(r, name, err)
	}
	infoOf(r).audited = event != nil
	w.WriteHeader(http.StatusAccepted)
	return nil
}

// maySee reports whether the caller may know a site.
func (s *server) maySee(r *http.Request, site string) bool {
	return s.decide(r, authz.ListRevisions, authz.Target{Site: site}) == authz.Allowed
}

// sitesWith returns the names of the sites in which the caller passes a rule, nil for all. It looks at each only if
// that depends on the site.
func (s *server) sitesWith(r *http.Request, rule string) ([]string, error) {
	if !slices.Contains(s.Access.Rules.Policy().Attributes(rule), "site") {
		if s.decide(r, rule, authz.Target{Site: sites.Default}) == authz.Allowed {
			return nil, nil
		}
		return []string{}, nil
	}
	names, err := s.Sites.Directory.Names(r.Context())
	if err != nil {
		return nil, err
	}
	meter, with := budget.NewMeter(r.Context()), []string{}
	for _, name := range names {
		if err := meter.Spend(decision); err != nil {
			return nil, err
		}
		if s.decide(r, rule, authz.Target{Site: name}) == authz.Allowed {
			with = append(with, name)
		}
	}
	return with, nil
}

// decision is what a decision of a rule costs, in steps.
const decision = 5000

// orUnknown returns the error of a request about a site; of one that does not exist, unknownSite.
func (s *server) orUnknown(r *http.Request, name string, err error) error {
	if fault.KindOf(err) == fault.NotFound {
		return s.unknownSite(r, name)
	}
	return err
}

// unknownSite returns the fault for a site that does not exist, or of which the caller may not know: there is no
// difference between them. It names the most similar site that the caller may know.
func (s *server) unknownSite(r *http.Request, name string) error {
	names, err := s.sitesWith(r, authz.ListRevisions)
	if err == nil && names == nil {
		names, err = s.Sites.Store.SiteNames(r.Context())
	}
	if err != nil {
		return err
	}
	names = slices.DeleteFunc(names, func(other string) bool { return other == name }) // made meanwhile
	if len(name) > maxSiteName {
		return sites.Unknown(words.Excerpt(name), "")
	}
	const perPair = 3 // steps, of characters
	steps := 0
	for _, other := range names {
		steps += perPair * len(name) * len(other)
	}
	if err := budget.NewMeter(r.Context()).Spend(steps); err != nil {
		return err
	}
	return sites.Unknown(name, words.Nearest(name, names))
}

// maxSiteName is the length of the longest name that a site can have.
const maxSiteName = 63

// siteView returns the view of a site, with how far it is behind its upstreams.
func siteView(s sites.Site, behind map[revisions.Upstream]*int) wire.Site {
	view := wire.Site{
		Name: s.Name, Labels: s.Labels, Limits: wire.SiteLimits(s.Limits), Archived: s.Archived, Revision: s.Revision,
		Status: wire.Optional(s.Status), Documents: s.Documents, CreatedAt: wire.TimeText(s.CreatedAt),
		ChangedAt: wire.TimeText(s.ChangedAt),
	}
	if view.Labels == nil {
		view.Labels = map[string]string{}
	}
	if len(s.Upstreams) > 0 {
		view.Sources = map[string]wire.Followed{}
		for bucket, from := range s.Upstreams {
			view.Sources[bucket] = wire.Followed{Upstream: from, Behind: behind[from]}
		}
	}
	if s.Revision > 0 {
		view.Stamp = wire.Optional(s.Stamp.String())
	}
	return view
}
