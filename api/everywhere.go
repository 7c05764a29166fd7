package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"purser/internal/authn"
	"purser/internal/authz"
	"purser/internal/budget"
	"purser/internal/claims"
)

// POST /sites/-/api/v1.0/claims
func (s *server) claimAnywhere(w http.ResponseWriter, r *http.Request) error {
	ask, limit, err := s.askOf(w, r)
	if err != nil {
		return err
	}
	return s.seek(w, r, limit, seeker{
		ask, func(ctx context.Context, ask claims.Ask) (claims.Granted, error) { return s.claimAt(ctx, r, ask) },
		func(ctx context.Context) error {
			_, err := s.workplaces(ctx, r, ask.Names)
			return err
		},
	})
}

// claimAt claims work in a site where there is some. If others are faster it looks again, a few times.
func (s *server) claimAt(ctx context.Context, r *http.Request, ask claims.Ask) (claims.Granted, error) {
	const tries = 10
	look := claims.Look{Names: ask.Names}
	for range tries {
		var err error
		if look.Among, err = s.workplaces(ctx, r, look.Names); err != nil {
			return claims.Granted{}, err
		}
		found, err := s.Everywhere.FindWork(ctx, look)
		if err != nil || found.Site == "" {
			return claims.Granted{Next: found.Next}, err
		}
		ask.Names = namesAt(s.Access.Rules.Policy(), infoOf(r).caller, found.Site, look.Names)
		if len(ask.Names) == 0 { // no longer
			continue
		}
		granted, err := s.services(found.Site).Claims.Claim(ctx, ask)
		if err != nil || granted.Found {
			granted.Site = found.Site
			return granted, err
		}
	}
	return claims.Granted{Next: time.Second}, nil // many others are faster
}

// namesAt selects the validations whose results a caller may post in a site, whoever made the revision.
func namesAt(policy *authz.Policy, caller authn.Caller, site string, names []string) (allowed []string) {
	for _, name := range names {
		if policy.Decide(authz.CreateValidation, caller, authz.Target{Site: site, Validation: name}) != authz.Refused {
			allowed = append(allowed, name)
		}
	}
	return allowed
}

// workplaces returns the sites in which the caller may post results of which of some validations, nil for all of both.
// They may be some seconds old: namesAt decides. Fault: Forbidden if the caller may post those of one of them nowhere.
func (s *server) workplaces(ctx context.Context, r *http.Request, names []string) ([]claims.SiteName, error) {
	policy, caller := s.Access.Rules.Policy(), infoOf(r).caller
	depends := slices.Contains(policy.Attributes(authz.CreateValidation), "site") &&
		slices.ContainsFunc(names, func(name string) bool {
			return s.decide(r, authz.CreateValidation, authz.Target{Validation: name}) == authz.Depends
		})
	if !depends {
		return nil, s.requireAll(r, names)
	}
	const lasts = 5 // seconds: who waits asks at each change of any site
	key := fmt.Sprintf("%p %#v %q %d", policy, caller, names, s.Now().Unix()/lasts)
	return s.waits.workplaces.Do(ctx, key, func(ctx context.Context) ([]claims.SiteName, int, error) {
		const each = 32 // bytes
		found, err := s.findWorkplaces(ctx, policy, caller, names)
		return found, len(key) + each*len(found), err
	})
}

// findWorkplaces is workplaces for a caller for whom they depend on the site.
func (s *server) findWorkplaces(ctx context.Context, policy *authz.Policy, caller authn.Caller, names []string) (
	found []claims.SiteName, err error,
) {
	known, err := s.Sites.Directory.Names(ctx)
	if err != nil {
		return nil, fmt.Errorf("list sites: %w", err)
	}
	meter, somewhere := budget.NewMeter(ctx), map[string]bool{}
	for _, site := range known {
		if err := meter.Spend(decision * len(names)); err != nil {
			return nil, err
		}
		for _, name := range namesAt(policy, caller, site, names) {
			found, somewhere[name] = append(found, claims.SiteName{Site: site, Validation: name}), true
		}
	}
	if len(somewhere) < len(names) {
		return nil, forbidden(authz.CreateValidation)
	}
	return found, nil
}

// GET /sites/-/api/v1.0/claims
func (s *server) listWorkEverywhere(w http.ResponseWriter, r *http.Request) error {
	q := paramsOf(r)
	page := q.page()
	if err := q.err(); err != nil {
		return err
	}
	among, err := s.listable(r)
	if err != nil {
		return err
	}
	if _, err := s.at(r).Feed.NumberEvents(r.Context()); err != nil { // which may open work
		return fmt.Errorf("number events: %w", err)
	}
	found, more, err := s.Everywhere.WorkOfSites(r.Context(), among, page)
	if err != nil {
		return err
	}
	return writePage(s, w, r, part{page, more}, found, workView)
}

// GET /sites/-/api/v1.0/waivers
func (s *server) listWaiversEverywhere(w http.ResponseWriter, r *http.Request) error {
	q := paramsOf(r)
	page, active := q.page(), q.flag("active", false)
	if err := q.err(); err != nil {
		return err
	}
	among, err := s.listable(r)
	if err != nil {
		return err
	}
	found, err := s.questions(r).WaiversOfSites(r.Context(), s.Everywhere, among, page, active)
	if err != nil {
		return err
	}
	return writePage(s, w, r, part{page, found.More}, found.Waivers, waiverViewAt(found.Now))
}

// listable returns the sites in which the caller may list validations, nil for all. Fault: Forbidden if there is none.
func (s *server) listable(r *http.Request) ([]string, error) {
	among, err := s.sitesWith(r, authz.ListValidations)
	if err == nil && among != nil && len(among) == 0 {
		err = forbidden(authz.ListValidations)
	}
	return among, err
}
