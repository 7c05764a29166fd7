package web

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"purser/internal/client"
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
		return false, nil
	case err != nil || len(seen.Results) == 0:
		return true, dropExpected(err)
	}
	first := seen.Results[0]
	if len(seen.Results) > 1 || first.Name != client.DefaultSite {
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
	Items  []siteItem
	Pages  pager
	Error  string
}

// siteItem is a site in a list.
type siteItem struct {
	wire.Site

	Shown []string // its labels
}

// sites lists the sites that the user may see, the failing ones first.
func (v *visit) sites() (view, error) {
	const limit = 100
	page := sitesView{pageBuffer: v.pageBuffer, Status: v.param("status"), Pages: newPager(v.URL, limit)}
	for _, label := range v.URL.Query()["label"] {
		if label != "" && !slices.Contains(page.Asked, label) {
			page.Asked = append(page.Asked, label)
		}
	}
	query := url.Values{
		"sort": {"status"}, "limit": {strconv.Itoa(limit)}, "offset": {strconv.Itoa(page.Pages.Offset)},
		"label": page.Asked,
	}
	if page.Status != "" {
		query.Set("status", page.Status)
	}
	var found wire.List[wire.Site]
	err := v.api.sites().Get(v.Context(), &found, query)
	if refusedWith(err, http.StatusBadRequest) {
		page.Error = err.Error()
	} else if err != nil {
		return view{}, err
	}
	for _, site := range found.Results {
		page.Items = append(page.Items, siteItem{site, labelLines(site.Labels)})
	}
	page.Pages.End(len(page.Items), found.Next != nil)
	return view{template: "sites", Title: "Sites", Section: "sites", Data: page}, nil
}
