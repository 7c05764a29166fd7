package api

import (
	"cmp"
	"errors"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-chi/httprate"

	"purser/internal/authz"
	"purser/internal/budget"
	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/sites"
)

// Pseudo rules of endpoints that need no rule of package authz.
const (
	public        = "public"        // everybody passes, without a token
	authenticated = "authenticated" // every authenticated caller passes
)

// userRate bounds the requests of each user in a time, after which a throttled one may try again.
type userRate struct {
	*httprate.RateLimiter

	requests int
	window   time.Duration
}

// The time over which request rates are averaged, and how many requests may come within one second: burst times the
// rate, at least minBurst.
const (
	rateWindow      = 10 * time.Second
	burst, minBurst = 2, 10
)

// newUserRates returns the bounds for a number of requests per second of one user; none if it is 0.
func newUserRates(perSecond int) []userRate {
	if perSecond == 0 {
		return nil
	}
	return []userRate{
		newUserRate(perSecond*int(rateWindow/time.Second), rateWindow),
		newUserRate(max(minBurst, perSecond*burst), time.Second),
	}
}

func newUserRate(requests int, window time.Duration) userRate {
	unnamed := httprate.WithResponseHeaders(httprate.ResponseHeaders{})
	return userRate{httprate.NewRateLimiter(requests, window, unnamed), requests, window}
}

// authorize authenticates the caller, counts the request and checks that the caller passes a rule. As in Deckhand, 401
// comes before 403, and both come before anything is read or looked up.
func (s *server) authorize(w http.ResponseWriter, r *http.Request, rule string) error {
	if rule == public {
		return s.enterPublic(r)
	}
	if err := s.identify(w, r); err != nil {
		return err
	}
	if rule != authenticated {
		infoOf(r).rule = rule
	}
	if err := s.countRequest(w, r); err != nil {
		return err
	}
	if err := s.enter(r, rule); err != nil || rule == authenticated {
		return err
	}
	if infoOf(r).everywhere || slices.Contains(targeted, rule) {
		return s.requireEver(r, rule, authz.Target{})
	}
	return s.require(r, rule)
}

// targeted are the rules that can depend on a validation or a revision. Handlers of their routes check them again with
// these, and those of requests about all sites with each site.
var targeted = []string{authz.CreateValidation, authz.CreateWaiver}

// identify authenticates the caller and notes who it is and what it may see.
func (s *server) identify(w http.ResponseWriter, r *http.Request) error {
	caller, err := s.authenticate(r)
	if err != nil {
		return s.challenge(w, r, err)
	}
	infoOf(r).caller = caller
	infoOf(r).viewer = s.viewerOf(r)
	if !s.Access.Anonymous {
		w.Header().Set("X-User-Name", caller.UserID)
	}
	return nil
}

// countRequest counts a request of its caller. Fault: Throttled if the caller exceeds a rate.
func (s *server) countRequest(w http.ResponseWriter, r *http.Request) error {
	for _, rate := range s.rates {
		if rate.OnLimit(w, r, infoOf(r).caller.UserID) {
			f := fault.New(fault.Throttled, "HTTPTooManyRequests",
				"More than %d requests came from this user within %v (--request-rate: %d requests a second)", rate.requests,
				rate.window, s.Bounds.Rate)
			f.RetryAfter = rate.window
			return f
		}
	}
	return nil
}

// changeWindow is the time in which the changes of a site are counted.
const changeWindow = time.Minute

// countChange counts a change of a site, which may have limits of its own; that of the server is for a site beside
// others (budget.Shares). It keeps two numbers for each site that was changed within two minutes. Fault: Throttled if
// the site has as many changes as it may.
func (s *server) countChange(w http.ResponseWriter, r *http.Request, site string, limits sites.Limits) error {
	most, by := s.Bounds.Changes, "--site-changes"
	if limits.Changes != nil {
		most, by = *limits.Changes, "the limit of the site"
	}
	if most <= 0 || limits.Changes == nil && !s.Pool.IsShared(site) {
		return nil
	}
	limited := r.WithContext(httprate.WithRequestLimit(r.Context(), int(min(most, math.MaxInt32))))
	if !s.changed.OnLimit(w, limited, site) {
		return nil
	}
	f := fault.New(fault.Throttled, "HTTPTooManyRequests", "The site %s had %d changes by this server within a minute, "+
		"the most that %s allows; nothing was changed, send the change later", site, most, by)
	f.RetryAfter = changeWindow
	return f
}

// reauthorize checks that the caller of a stream still has the right to read it.
func (s *server) reauthorize(w http.ResponseWriter, r *http.Request) error {
	info := infoOf(r)
	caller, err := s.authenticate(r)
	if err != nil {
		return s.challenge(w, r, err)
	}
	needed := []string{info.rule}
	if info.viewer.Encrypted {
		needed = append(needed, authz.ListEncryptedDocuments)
	}
	for _, rule := range needed {
		if s.Access.Rules.Policy().Decide(rule, caller, onSite(r, authz.Target{})) != authz.Allowed {
			return forbidden(rule)
		}
	}
	return nil
}

// owner returns the user of a request for budget.Owner: the caller or, if callers are anonymous, the client's address.
func (s *server) owner(r *http.Request) string {
	if caller := infoOf(r).caller.UserID; caller != "" && !s.Access.Anonymous {
		return "user " + caller
	}
	return "address " + remoteAddress(r)
}

// withOwner returns a request whose context names its owner: the user and the site.
func (s *server) withOwner(r *http.Request) *http.Request {
	return r.WithContext(budget.WithOwner(r.Context(), budget.Owner{User: s.owner(r), Site: siteOf(r)}))
}

// caller returns the user who authenticated for a request; zero if callers are anonymous.
func (s *server) caller(r *http.Request) revisions.Caller {
	if s.Access.Anonymous {
		return revisions.Caller{}
	}
	return revisions.Caller{ID: infoOf(r).caller.UserID, Name: s.callerName(r)}
}

// callerName returns the name of the caller, or its id if it has no name. It is empty if callers are anonymous.
func (s *server) callerName(r *http.Request) string {
	caller := infoOf(r).caller
	switch {
	case s.Access.Anonymous:
		return ""
	case caller.UserName != "":
		return caller.UserName
	}
	return caller.UserID
}

// require returns a fault if the caller does not pass a rule, whatever is asked for on the site of the request.
func (s *server) require(r *http.Request, rule string) error {
	return s.requireFor(r, rule, authz.Target{Site: revisionName(r, "site")})
}

// requireFor returns a fault if the caller does not pass a rule about a target.
func (s *server) requireFor(r *http.Request, rule string, target authz.Target) error {
	if s.decide(r, rule, target) != authz.Allowed {
		return forbidden(rule)
	}
	return nil
}

// requireEver returns a fault if the caller does not pass a rule, whatever the target has that is not known yet.
func (s *server) requireEver(r *http.Request, rule string, target authz.Target) error {
	if s.decide(r, rule, target) == authz.Refused {
		return forbidden(rule)
	}
	return nil
}

// requireAbout returns a fault if the caller does not pass a rule about a validation of a revision. It reads the
// author only if the rule depends on that, and then adds to what the options of the request expect that the revision
// is the one that was read.
func (s *server) requireAbout(r *http.Request, rule string, options revisions.Options, revision int64,
	validation string,
) (revisions.Options, error) {
	target := authz.Target{Validation: validation}
	if s.decide(r, rule, target) != authz.Depends {
		return options, s.requireFor(r, rule, target)
	}
	author, version, err := s.at(r).Service.Author(r.Context(), revision)
	if err != nil {
		return options, err
	}
	target.Author, options.Expected = author, options.Expected.Only(version)
	if author == "" {
		return options, forbidden(rule).Hint("It is not known who made revision %d.", revision)
	}
	return options, s.requireFor(r, rule, target)
}

// decide decides whether a rule allows the caller something about a target on this site.
func (s *server) decide(r *http.Request, rule string, target authz.Target) authz.Verdict {
	return s.Access.Rules.Policy().Decide(rule, infoOf(r).caller, onSite(r, target))
}

// onSite returns a target on the site of a request, unless it is on another one. A request about all sites has none.
func onSite(r *http.Request, target authz.Target) authz.Target {
	if infoOf(r).everywhere {
		return target
	}
	target.Site = cmp.Or(target.Site, siteOf(r))
	return target
}

// allows reports whether the caller passes a rule, whatever is asked for.
func (s *server) allows(r *http.Request, rule string) bool { return s.require(r, rule) == nil }

// viewerOf returns the view of documents that the authenticated caller of a request may have.
func (s *server) viewerOf(r *http.Request) authz.Viewer {
	return authz.Viewer{
		Encrypted: s.allows(r, authz.ListEncryptedDocuments),
		Redacted:  !paramsOf(r).flag(cleartextSecrets, true),
	}
}

// forbidden returns the fault of a caller that does not pass a rule, with Deckhand's message.
func forbidden(rule string) *fault.Fault {
	return fault.New(fault.Forbidden, "HTTPForbidden", "Policy doesn't allow %s to be performed", rule).Lacking(rule)
}

// withHolders adds to the fault of a caller that lacks a rule which roles pass it.
func (s *server) withHolders(r *http.Request, err error) error {
	f, isFault := errors.AsType[*fault.Fault](err)
	if !isFault || f.Rule == "" {
		return err
	}
	said := *f
	said.Messages = slices.Clip(f.Messages)
	policy := s.Access.Rules.Policy()
	holders := policy.Holders(f.Rule, onSite(r, authz.Target{}))
	depends := dependence(policy.Attributes(f.Rule), infoOf(r).everywhere)
	switch {
	case len(holders) == 0:
		return said.Hint("None of the built-in roles is enough: the server's --policy-file says who has this right%s.",
			depends)
	case depends != "":
		return said.Hint("These roles always have this right: %s. Others have it%s.", strings.Join(holders, ", "), depends)
	}
	return said.Hint("These roles have this right: %s.", strings.Join(holders, ", "))
}

// dependence says on which attributes of a target, with its site if that is not known, a right depends; "" if on none.
func dependence(attributes []string, everywhere bool) string {
	var parts []string
	for _, attribute := range attributes {
		switch attribute {
		case "author":
			parts = append(parts, "who made the revision")
		case "site":
			if everywhere {
				parts = append(parts, "the site")
			}
		case "validation":
			parts = append(parts, "which validation it is about")
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return ", depending on " + strings.Join(parts, " and ")
}
