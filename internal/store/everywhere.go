package store

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"purser/internal/budget"
	"purser/internal/claims"
	"purser/internal/queries"
)

var (
	_ claims.Everywhere  = (*Database)(nil)
	_ queries.Everywhere = (*Database)(nil)
)

// restAfterLook is the shortest time from a look for work in all sites to the next one: any change of a site may begin
// one.
const restAfterLook = 150 * time.Millisecond

// FindWork implements claims.Everywhere.
func (d *Database) FindWork(ctx context.Context, look claims.Look) (claims.Found, error) {
	return d.looks.do(ctx, look, 0, d.findTogether)
}

// findTogether finds sites for a group of workers.
func (d *Database) findTogether(ctx context.Context, looks []claims.Look) ([]claims.Found, error) {
	ctx, end := budget.Begin(ctx) // it is for others too
	defer end()
	var names []string
	for _, look := range looks {
		names = append(names, look.Names...)
	}
	slices.Sort(names)
	var seconds *float64
	offers, err := collect(ctx, d, func(row pgx.CollectableRow) (o claims.Offer, err error) {
		err = row.Scan(&seconds, &o.Site, &o.Validation, &o.Works)
		return o, err
	}, stmt.OfferedWork, named{"names": slices.Compact(names)})
	if err != nil {
		return nil, err
	}
	offers = slices.DeleteFunc(offers, func(o claims.Offer) bool { return o.Works == 0 })
	rand.Shuffle(len(offers), func(i, j int) { offers[i], offers[j] = offers[j], offers[i] }) //nolint:gosec // as below
	all := make([]claims.Found, len(looks))
	for i, site := range claims.Spread(offers, looks, rand.N(1<<16)) { //nolint:gosec // needs no secrecy
		all[i] = claims.Found{Site: site, Next: untilNext(seconds)}
	}
	return all, nil
}

// WorkOfSites implements claims.Everywhere. It asks for one more than is wanted, which shows whether there are more.
func (d *Database) WorkOfSites(ctx context.Context, among []string, page queries.Page) (
	work []claims.Work, more bool, err error,
) {
	work, err = collect(ctx, d, func(row pgx.CollectableRow) (claims.Work, error) {
		var site string
		w, err := scanWork(row, &site)
		w.Site = site
		return w, err
	}, stmt.WorkOfSites, named{"sites": among, "offset": page.Offset, "limit": page.Limit + 1})
	if more = len(work) > page.Limit; more {
		work = work[:page.Limit]
	}
	return work, more, err
}

// WaiversOfSites implements queries.Everywhere. It asks for one more than is wanted, which shows whether there are
// more.
func (d *Database) WaiversOfSites(ctx context.Context, among []string, page queries.Page, active bool) (
	found queries.Waivers, err error,
) {
	found, err = d.waivers(ctx, stmt.WaiversOfSites, named{
		"sites": among, "active": active, "offset": page.Offset, "limit": page.Limit + 1,
	})
	if found.More = len(found.Waivers) > page.Limit; found.More {
		found.Waivers = found.Waivers[:page.Limit]
	}
	return found, err
}
