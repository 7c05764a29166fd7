package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/http"
	"os"
	"strings"
	"time"

	"purser/internal/validations"
)

// fivefold is the ratio of the larger site of row 27 to the site of rows 8 to 10.
const fivefold = 5

// mostRounds bounds the rounds of row 27, which take long.
const mostRounds = 3

// pageRepeats is the number of times that a page is read in a round. It is large enough that the garbage of earlier
// stages is collected during it.
const pageRepeats = 2000

// sized is a server with a site of a given size, and the times of each stage.
type sized struct {
	*server

	site  *site
	took  map[string][]time.Duration
	times int // number of changes to the site
}

// stages are the steps of a round, in order.
var stages = []struct {
	name    string
	whole   bool // the time may grow with the number of documents
	do      func(s *sized, ctx context.Context) error
	repeats int // in a round; 0 means once
}{
	{"PUT into an empty site", true, (*sized).putAll, 0},
	{"first GET of the rendered documents", true, (*sized).rendered, 0},
	{"the same again", true, (*sized).rendered, 0},
	{"PUT of the same again", true, (*sized).putAll, 0},
	{"PUT with one document changed", true, (*sized).change, 0},
	{"first GET of the rendered documents after that", true, (*sized).rendered, 0},
	{"GET of the documents", true, (*sized).documents, 0},
	{"GET of the first 100 of the documents", false, (*sized).firstPage, pageRepeats},
	{"GET of the last 100 of the documents", true, (*sized).lastPage, pageRepeats},
}

func (s *sized) rendered(ctx context.Context) error {
	return s.get(ctx, api+"/revisions/latest/rendered-documents")
}

const allDocuments = api + "/revisions/latest/documents"

func (s *sized) documents(ctx context.Context) error { return s.get(ctx, allDocuments) }

func (s *sized) firstPage(ctx context.Context) error { return s.get(ctx, allDocuments+"?limit=100") }

func (s *sized) lastPage(ctx context.Context) error {
	return s.get(ctx, fmt.Sprintf("%s?limit=100&offset=%d", allDocuments, len(s.site.documents)-100))
}

func (s *sized) putAll(ctx context.Context) error { return s.put(ctx, "site", s.site.body()) }

func (s *sized) change(ctx context.Context) error {
	s.times++
	s.site.change(len(s.site.documents)/2, s.times)
	return s.put(ctx, "site", s.site.body())
}

// round runs all stages on a purged site.
func (s *sized) round(ctx context.Context) error {
	if err := s.send(ctx, http.MethodDelete, api+"/revisions", nil, io.Discard); err != nil {
		return err
	}
	if err := s.put(ctx, "schemas", []byte(s.site.schema+layerOrder)); err != nil {
		return err
	}
	if err := vacuum(ctx, s.db); err != nil {
		return err
	}
	for _, stage := range stages {
		for range max(1, stage.repeats) {
			took, err := timed(func() error { return stage.do(s, ctx) })
			if err != nil {
				return fmt.Errorf("%s: %w", stage.name, err)
			}
			s.took[stage.name] = append(s.took[stage.name], took)
		}
	}
	return nil
}

// least returns the shortest time of a stage, which other processes have disturbed least.
func (s *sized) least(stage string) time.Duration {
	least := time.Duration(math.MaxInt64)
	for _, took := range s.took[stage] {
		least = min(least, took)
	}
	return least
}

// sizes measures row 27: the cost of a document in a large site, relative to that in a site of a fifth of the size, and
// the memory that the large site needs.
func (b *bench) sizes(ctx context.Context) (err error) {
	few := b.wide
	many := fivefold * few
	b.sayf("row 27: sites of %d and %d documents of %s", few, many, small().label)
	var sites []*sized
	defer func() {
		for _, s := range sites {
			err = s.stop(err)
		}
	}()
	own := "--default-validations=" + strings.Join(validations.DefaultValidations(), ",")
	for _, of := range []struct {
		name  string
		n     int
		flags []string
	}{{"sized_few", few, nil}, {"sized_many", many, nil}, {"sized_bound", many, []string{"--memory=512MiB"}}} {
		s, err := b.start(ctx, of.name, append(of.flags, own)...)
		if err != nil {
			return err
		}
		sites = append(sites, &sized{server: s, site: newSite(small(), of.n), took: map[string][]time.Duration{}})
	}
	for range min(b.rounds, mostRounds) {
		for _, s := range sites {
			if err := s.round(ctx); err != nil {
				return err
			}
		}
	}
	return b.sized(sites[0], sites[1], sites[2])
}

// sized adds the measurements of the three sites of row 27 to the table.
func (b *bench) sized(few, many, bound *sized) error {
	n := len(many.site.documents)
	var all, bounded time.Duration
	for _, stage := range stages {
		one, five := few.least(stage.name), many.least(stage.name)
		what, times := stage.name, 1.0
		if stage.whole {
			what, times = what+", per document", fivefold
		}
		b.atMost(27, ratio(five, one)/times, 1.2, fmt.Sprintf("%d documents to %d: %s", n, len(few.site.documents), what),
			short(five)+", "+short(one))
		all, bounded = all+five, bounded+bound.least(stage.name)
	}
	b.atMost(27, ratio(bounded, all), 3, fmt.Sprintf("%d documents: all that with --memory=512MiB to without it", n),
		short(bounded)+", "+short(all))
	if _, err := os.Stat("/proc/self/status"); errors.Is(err, fs.ErrNotExist) {
		b.infof(27, "memory", "not measured: there is no /proc here")
		return nil
	}
	for _, of := range []struct {
		*sized

		what  string
		limit float64
	}{{many, "most memory meanwhile, MiB", 1536}, {bound, "the same with --memory=512MiB", 512}} {
		most, err := of.resident("VmHWM")
		if err != nil {
			return err
		}
		b.add(27, most <= of.limit, fmt.Sprintf("<= %g", of.limit), fmt.Sprintf("%d documents: %s", n, of.what),
			fmt.Sprintf("%.0f", most))
	}
	return nil
}
