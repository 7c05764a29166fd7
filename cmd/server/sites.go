package main

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2"

	"purser/api"
	"purser/internal/changes"
	"purser/internal/store"
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
	var mu sync.Mutex
	return func(site string) *api.Services {
		mu.Lock()
		defer mu.Unlock()
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
		open.Add(site, of)
		return of
	}
}
