package main

import (
	"context"
	"errors"
	"log/slog"

	lru "github.com/hashicorp/golang-lru/v2"

	"purser/api"
	"purser/internal/changes"
	"purser/internal/sites"
	"purser/internal/store"
	"purser/internal/webhooks"
)

// openSites is how many sites beside the default one are kept open. A site that is opened again loses no more than what
// it knew of its last change.
const openSites = 4096

// opened returns a function that opens the services of a site, which share everything with those of the first one that
// is not about a site.
func opened(db *store.Database, first api.Services) func(site string) *api.Services {
	open, err := lru.New[string, *api.Services](openSites)
	if err != nil {
		panic(err) // only for a size below one
	}
	return func(site string) *api.Services {
		if known, ok := open.Get(site); ok {
			return known
		}
		kept := db.Site(site)
		config := first.Service.Config
		config.Site, config.Store = site, kept
		of := &api.Services{
			Service: changes.NewService(config), Queries: first.Queries.Of(site, kept), Feed: first.Feed.Of(site),
			Webhooks: first.Webhooks.Of(site, kept), Claims: kept, Audit: kept,
		}
		if known, opened, _ := open.PeekOrAdd(site, of); opened { // by another request
			return known
		}
		return of
	}
}

// resealOthers returns a function that seals with the newest key what the documents of the default site have not: the
// secrets of its webhooks, and those of all other sites that have any of older keys.
func resealOthers(db *store.Database, keyset changes.Vault, hooks *webhooks.Service, others func(string) *api.Services,
) func(context.Context, *slog.Logger) (int, error) {
	return func(ctx context.Context, log *slog.Logger) (resealed int, err error) {
		resealed, err = hooks.Reseal(ctx, log)
		names, failed := db.SitesToReseal(ctx, keyset.Prefix(ctx))
		err = errors.Join(err, failed)
		for _, site := range names {
			if site == sites.Default {
				continue
			}
			of, log := others(site), log.With("site", site)
			documents, failed := of.Service.Reseal(ctx, log)
			secrets, lost := of.Webhooks.Reseal(ctx, log)
			resealed, err = resealed+documents+secrets, errors.Join(err, failed, lost)
		}
		return resealed, err
	}
}
