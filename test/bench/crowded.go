package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"purser/internal/validations"
)

// perPut is the number of documents that the sites of row 28 are filled by.
const perPut = 10_000

// crowded is a server with a site of row 28, and the times of each request.
type crowded struct {
	*server

	documents int
	changes   int
	took      map[string][]time.Duration
}

// request is a request of a round.
type request struct {
	name    string
	do      func(c *crowded, ctx context.Context) error
	repeats int // in a round
}

// routine are the requests of a round to servers that check schemas only, in order. They take the same time in a site
// of any size.
var routine = []request{
	{"PUT of two documents", (*crowded).putTwo, 1},
	{"first GET of the status after it", getting("/revisions/latest/status"), 1},
	{"next GET of the status", getting("/revisions/latest/status"), often},
	{"the overview page", func(c *crowded, ctx context.Context) error { return c.get(ctx, "/ui/") }, rarely},
	{"GET of 100 documents", getting("/revisions/latest/documents?limit=100"), often},
	{"search for a text", getting("/revisions/latest/documents?search=no-such-text"), rarely},
}

// routineWhole are the requests of a round to servers that render each revision, as they do by default. A PUT renders
// what its change affects, but looks at the metadata of all documents.
var routineWhole = []request{
	{"PUT of two documents, rendered", (*crowded).putTwo, 1},
	{"rendering of one document", getting("/revisions/latest/rendered-documents?metadata.name=two-0"), 1},
}

func getting(path string) func(c *crowded, ctx context.Context) error {
	return func(c *crowded, ctx context.Context) error { return c.get(ctx, api+path) }
}

func (c *crowded) putTwo(ctx context.Context) error {
	c.changes++
	var body strings.Builder
	for i := range 2 {
		writeHead(&body, "bench/Endpoint/v1", fmt.Sprintf("two-%d", i), "two")
		fmt.Fprintf(&body, "  {host: two, port: %d, scheme: https, release: 1.0.0}\n", c.changes)
	}
	return c.put(ctx, "two", []byte(body.String()))
}

// fill fills the site, bucket by bucket.
func (c *crowded) fill(ctx context.Context) error {
	if err := c.put(ctx, "schemas", []byte(endpointSchema+layerOrder)); err != nil {
		return err
	}
	for first := 0; first < c.documents; first += perPut {
		var body strings.Builder
		for i := first; i < min(first+perPut, c.documents); i++ {
			writeEndpoint(&body, rand.New(rand.NewPCG(seed, uint64(i))), i, 0) //nolint:gosec // made up
		}
		if err := c.put(ctx, fmt.Sprintf("site-%d", first/perPut), []byte(body.String())); err != nil {
			return err
		}
	}
	return vacuum(ctx, c.db)
}

// crowds measures row 28: requests to a site of many documents, relative to those to a site of perPut. Neither server
// keeps all documents in memory. It takes long, so it is measured only if it is asked for.
func (b *bench) crowds(ctx context.Context) error {
	if b.rows == nil {
		return nil
	}
	b.sayf("row 28: sites of %d and %d documents", perPut, b.many)
	if err := b.crowdsOf(ctx, "crowd", routine, schemasOnly); err != nil {
		return err
	}
	whole := "--default-validations=" + strings.Join(validations.DefaultValidations(), ",")
	return b.crowdsOf(ctx, "crowd_whole", routineWhole, whole)
}

// crowdsOf measures requests to servers of small and large sites with a flag.
func (b *bench) crowdsOf(ctx context.Context, name string, requests []request, flag string) (err error) {
	var sites []*crowded
	defer func() {
		for _, c := range sites {
			err = c.stop(err)
		}
	}()
	for _, n := range []int{perPut, b.many} {
		s, err := b.start(ctx, fmt.Sprintf("%s_%d", name, n), "--site-documents="+strconv.Itoa(2*n), "--memory=128MiB",
			flag)
		if err != nil {
			return err
		}
		c := &crowded{server: s, documents: n, took: map[string][]time.Duration{}}
		sites = append(sites, c)
		if err := c.fill(ctx); err != nil {
			return err
		}
	}
	for range b.rounds + 1 {
		for _, c := range sites {
			if err := c.round(ctx, requests); err != nil {
				return err
			}
		}
	}
	for _, request := range requests {
		few, many := sites[0].median(request.name, request.repeats), sites[1].median(request.name, request.repeats)
		b.atMost(28, ratio(many, few), 1.5, fmt.Sprintf("%d documents to %d: %s", b.many, perPut, request.name),
			short(many)+", "+short(few))
	}
	return nil
}

// round makes each of some requests.
func (c *crowded) round(ctx context.Context, requests []request) error {
	for _, request := range requests {
		for range request.repeats {
			took, err := timed(func() error { return request.do(c, ctx) })
			if err != nil {
				return fmt.Errorf("%s: %w", request.name, err)
			}
			c.took[request.name] = append(c.took[request.name], took)
		}
	}
	return nil
}

// median returns the median time of a request in all rounds but the first.
func (c *crowded) median(request string, repeats int) time.Duration {
	return median(c.took[request][repeats:])
}
