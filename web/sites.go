package web

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"purser/internal/client"
	"purser/internal/events"
	"purser/internal/fleet"
	"purser/internal/wire"
)

// meet finds out who the user is, and what all pages show of the site.
func (v *visit) meet(ctx context.Context) error {
	err := v.api.Get(ctx, &v.caller, nil, "whoami")
	if v.site != "" && refusedWith(err, http.StatusNotFound, http.StatusGone) {
		v.Base = v.server.base // there are no pages to link to
	}
	if err != nil || v.Compat {
		return err
	}
	if v.site == "" {
		alone, err := v.alone(ctx)
		if v.several = !alone; alone || err != nil {
			return err
		}
	}
	var of wire.Site
	err = v.api.sites().Get(ctx, &of, nil, v.siteName())
	v.Archived = of.Archived
	return dropExpected(err)
}

// alone reports whether the user sees no site but the default one, and then also finds out whether that is archived.
func (v *visit) alone(ctx context.Context) (bool, error) {
	var seen wire.List[wire.Site]
	err := v.api.sites().Get(ctx, &seen, url.Values{"limit": {"2"}})
	switch {
	case refusedWith(err, http.StatusServiceUnavailable): // the verdicts of many sites change at once
		v.many = true
		return false, nil
	case err != nil || len(seen.Results) == 0:
		return true, dropExpected(err)
	}
	first := seen.Results[0]
	if v.many = len(seen.Results) > 1; v.many || first.Name != client.DefaultSite {
		return false, nil
	}
	v.Archived = first.Archived
	return true, nil
}

// front shows the list of sites to users who see several, and else the overview.
func (v *visit) front() (view, error) {
	if v.site == "" && v.several {
		return v.sites()
	}
	return v.overview()
}

// sitesView is the content of the list of sites.
type sitesView struct {
	*pageBuffer

	Asked  []string // labels
	Status string
	siteList
	Error string
}

// siteList is a page of the list of sites.
type siteList struct {
	Follows string // the site that they follow; "" for any
	Items   []siteItem
	Pages   pager
}

// siteItem is a site in a list.
type siteItem struct {
	wire.Site

	Shown    []string // its labels
	Followed []followed
}

// followed is where the documents of a bucket of a site were copied from.
type followed struct {
	Bucket string
	From   events.Upstream
	Behind string // by how many revisions it is; "0" or a text
}

// sites lists the sites that the user may see, the failing ones first.
func (v *visit) sites() (view, error) {
	page := sitesView{pageBuffer: v.pageBuffer, Status: v.param("status")}
	for _, label := range v.URL.Query()["label"] {
		if label != "" && !slices.Contains(page.Asked, label) {
			page.Asked = append(page.Asked, label)
		}
	}
	query := url.Values{"label": page.Asked}
	if page.Status != "" {
		query.Set("status", page.Status)
	}
	if follows := v.param("follows"); follows != "" {
		query.Set("follows", follows)
	}
	var err error
	page.siteList, err = v.sitesOf(query, newPager(v.URL, sitesShown))
	if refusedWith(err, http.StatusBadRequest, http.StatusNotFound) {
		page.Error = err.Error()
	} else if err != nil {
		return view{}, err
	}
	return view{template: "sites", Title: "Sites", Section: "sites", Data: page}, nil
}

// sitesShown is the number of sites on a page of a list of them.
const sitesShown = 100

// sitesOf returns a page of a list of sites.
func (v *visit) sitesOf(query url.Values, pages pager) (page siteList, err error) {
	page = siteList{Follows: query.Get("follows"), Pages: pages}
	query.Set("sort", "status")
	query.Set("limit", strconv.Itoa(sitesShown))
	query.Set("offset", strconv.Itoa(page.Pages.Offset))
	var found wire.List[wire.Site]
	if err := v.api.sites().Get(v.Context(), &found, query); err != nil {
		return page, err
	}
	for _, site := range found.Results {
		item := siteItem{Site: site, Shown: labelLines(site.Labels)}
		for _, bucket := range slices.Sorted(maps.Keys(site.Sources)) {
			from := site.Sources[bucket]
			item.Followed = append(item.Followed, followed{bucket, from.Upstream, fleet.BehindText(from.Behind)})
		}
		page.Items = append(page.Items, item)
	}
	page.Pages.End(len(page.Items), found.Next != nil)
	return page, nil
}
