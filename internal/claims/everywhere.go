package claims

import (
	"context"
	"time"

	"purser/internal/queries"
)

// Everywhere knows the work of all sites that are not archived. Fault: Unavailable if the database does not answer.
type Everywhere interface {
	// FindWork finds a site with work for a worker. Concurrent calls share a statement, of which there are a few a second
	// at most: it tells workers apart, so that each of them can expect work there.
	FindWork(ctx context.Context, look Look) (Found, error)
	// WorkOfSites returns a page of the work of sites, or of all if among is nil, in the order of their names and then as
	// Store.Work does. It reports whether there is more.
	WorkOfSites(ctx context.Context, among []string, page queries.Page) (work []Work, more bool, err error)
}

// Look is the question of a worker where there is work.
type Look struct {
	Names []string   // of validations
	Among []SiteName // what to choose from; nil for all names in all sites
}

// SiteName is a validation in a site.
type SiteName struct{ Site, Validation string }

// Found is the answer to a Look.
type Found struct {
	Site string // empty if there is no work
	// Next is how long it takes until there may be work although nothing happens; 0 if that does not happen.
	Next time.Duration
}

// Offer is claimable work on a validation in a site.
type Offer struct {
	Site, Validation string
	Works            int
}

// Spread returns a site with work for each worker that looks, in the order in which they ask; empty for those for whom
// there is none. Sites take turns, however much work each of them has: for each name in the order of the offers. The
// turn says with which of its names and sites a worker begins, so that none of these is always the last one.
func Spread(offers []Offer, looks []Look, turn int) []string {
	left, queues := map[SiteName]int{}, map[string][]string{} // of works; of the sites by validation
	for _, o := range offers {
		left[SiteName{o.Site, o.Validation}] += o.Works
		queues[o.Validation] = append(queues[o.Validation], o.Site)
	}
	found := make([]string, len(looks))
	for i, look := range looks {
		if look.Among != nil {
			found[i] = takeAmong(left, look.Among, turn+i)
			continue
		}
		for n := range look.Names {
			name := look.Names[(turn+i+n)%len(look.Names)]
			if found[i], queues[name] = takeFirst(left, name, queues[name]); found[i] != "" {
				break
			}
		}
	}
	return found
}

// takeFirst takes work on a validation from the first site of a queue that has any left, empty for none. It returns the
// queue that remains, with that site at its end.
func takeFirst(left map[SiteName]int, name string, queue []string) (site string, rest []string) {
	for len(queue) > 0 {
		site, queue = queue[0], queue[1:]
		if at := (SiteName{site, name}); left[at] > 0 {
			left[at]--
			return site, append(queue, site)
		}
	}
	return "", nil
}

// takeAmong takes work from the first of some sites that has any left, beginning at the turn. It returns the site,
// empty for none.
func takeAmong(left map[SiteName]int, among []SiteName, turn int) string {
	for i := range among {
		if at := among[(turn+i)%len(among)]; left[at] > 0 {
			left[at]--
			return at.Site
		}
	}
	return ""
}
