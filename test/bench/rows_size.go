package main

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// stage is a request to a site, which is repeated in a round.
type stage struct {
	name    string
	repeats int
	do      func()
}

// measureStages makes all requests in order.
func measureStages(stages []stage, took series) {
	for _, stage := range stages {
		for range stage.repeats {
			took.time(stage.name, stage.do)
		}
	}
}

// fivefold is the ratio of the larger site of row 27 to the site of rows 8 to 10.
const fivefold = 5

// sizedSite is a server with a site of row 27, and the times of all stages.
type sizedSite struct {
	*server

	documents int
	stages    []stage
	took      series
}

// firstPage is the name of the stage whose time does not grow with the number of documents.
const firstPage = "GET of the first 100 of the documents"

func (r *run) sizedSite(name string, n int, flags ...string) sizedSite {
	// A page is read so often that the garbage of earlier stages is collected meanwhile.
	pageRepeats := r.turns(2000)
	s, site, version := r.start(name, append(flags, allValidations())...), newSite(small(), n), 0
	putAll := func() { s.put("site", site.body()) }
	change := func() {
		version++
		site.change(n/2, version)
		putAll()
	}
	get := func(path string) func() { return func() { s.get(path) } }
	render := get(latest + "/rendered-documents")
	last := fmt.Sprintf("%s?limit=100&offset=%d", allDocuments, n-100)
	return sizedSite{s, n, []stage{
		{"PUT into an empty site", 1, putAll},
		{"first GET of the rendered documents", 1, render},
		{"the same again", 1, render},
		{"PUT of the same again", 1, putAll},
		{"PUT with one document changed", 1, change},
		{"first GET of the rendered documents after that", 1, render},
		{"GET of the documents", 1, get(allDocuments)},
		{firstPage, pageRepeats, get(allDocuments + "?limit=100")},
		{"GET of the last 100 of the documents", pageRepeats, get(last)},
	}, series{}}
}

// sizes measures row 27: the cost of a document in a large site, relative to that in a site of a fifth of the size, and
// the memory that the large site needs.
func (r *run) sizes() {
	const mostRounds = 3 // they take long
	n := fivefold * r.wide
	r.sayf("row 27: sites of %d and %d documents of %s", r.wide, n, small().label)
	few, many := r.sizedSite("sized_few", r.wide), r.sizedSite("sized_many", n)
	bound := r.sizedSite("sized_bound", n, "--memory=512MiB")
	for range min(r.rounds, mostRounds) {
		for _, site := range []sizedSite{few, many, bound} {
			site.reset(small().schema + layerOrder)
			measureStages(site.stages, site.took)
		}
	}
	site := fmt.Sprintf("%d documents", n)
	var all, bounded times
	for _, stage := range many.stages {
		one, five := few.took[stage.name].least(), many.took[stage.name].least()
		what, growth := stage.name, 1.0
		if what != firstPage {
			what, growth = what+", per document", fivefold
		}
		r.atMost(27, ratio(five, one)/growth, 1.2, fmt.Sprintf("%s to %d: %s", site, r.wide, what),
			"%s, %s", short(five), short(one))
		all, bounded = append(all, five), append(bounded, bound.took[stage.name].least())
	}
	r.atMost(27, ratio(bounded.sum(), all.sum()), 3, site+": all that with --memory=512MiB to without it", "%s, %s",
		short(bounded.sum()), short(all.sum()))
	if !r.hasProc(27) {
		return
	}
	peak := func(site sizedSite, what string, limit float64) {
		most := site.resident("VmHWM")
		r.add(27, most <= limit, fmt.Sprintf("<= %g", limit), fmt.Sprintf("%d documents: %s", n, what),
			fmt.Sprintf("%.0f", most))
	}
	peak(many, "most memory meanwhile, MiB", 1536)
	peak(bound, "the same with --memory=512MiB", 512)
}

// documentsOfPut is the number of documents that the sites of row 28 are filled by.
const documentsOfPut = 10_000

// crowds measures row 28: requests to a site of many documents, relative to those to a site of documentsOfPut. No
// server keeps all documents in memory.
func (r *run) crowds() {
	r.sayf("row 28: sites of %d and %d documents", documentsOfPut, r.many)
	r.part(func(r *run) { r.compareCrowds("crowd", schemasOnly, routine) })
	r.part(func(r *run) { r.compareCrowds("crowd_whole", allValidations(), routineWhole) })
}

// routine returns the requests of a round to a server that checks schemas only. They take the same time in a site of
// any size.
func routine(s *server) []stage {
	get := func(path string) func() { return func() { s.get(path) } }
	return []stage{
		{"PUT of two documents", 1, puttingTwo(s)},
		{"first GET of the status after it", 1, get(latest + "/status")},
		{"next GET of the status", often, get(latest + "/status")},
		{"the overview page", rarely, get("/ui/")},
		{"GET of 100 documents", often, get(allDocuments + "?limit=100")},
		{"search for a text", rarely, get(allDocuments + "?search=no-such-text")},
	}
}

// routineWhole returns the requests of a round to a server that renders each revision, as it does by default. A PUT
// renders what its change affects, but looks at the metadata of all documents.
func routineWhole(s *server) []stage {
	render := func() { s.get(latest + "/rendered-documents?metadata.name=two-0") }
	return []stage{{"PUT of two documents, rendered", 1, puttingTwo(s)}, {"rendering of one document", 1, render}}
}

func puttingTwo(s *server) func() {
	changes := 0
	return func() {
		changes++
		var body strings.Builder
		for i := range 2 {
			writeHead(&body, "bench/Endpoint/v1", fmt.Sprintf("two-%d", i), "two")
			fmt.Fprintf(&body, "  {host: two, port: %d, scheme: https, release: 1.0.0}\n", changes)
		}
		s.put("two", []byte(body.String()))
	}
}

// compareCrowds measures requests to servers of small and large sites with a flag.
func (r *run) compareCrowds(name, flag string, requests func(*server) []stage) {
	sizes := []int{documentsOfPut, r.many}
	stages, took := make([][]stage, len(sizes)), []series{{}, {}}
	for i, n := range sizes {
		s := r.start(fmt.Sprintf("%s_%d", name, i), "--site-documents="+strconv.Itoa(2*n), "--memory=128MiB", flag)
		fill(s, n)
		stages[i] = requests(s)
	}
	for range r.rounds + 1 {
		for i := range sizes {
			measureStages(stages[i], took[i])
		}
	}
	for _, stage := range stages[0] {
		few, many := took[0][stage.name][stage.repeats:], took[1][stage.name][stage.repeats:] // without the first round
		r.atMost(28, ratio(median(many), median(few)), 1.5,
			fmt.Sprintf("%d documents to %d: %s", r.many, documentsOfPut, stage.name), "%s, %s", many, few)
	}
}

// fill fills a site of row 28, bucket by bucket.
func fill(s *server, documents int) {
	s.put("schemas", []byte(endpointSchema+layerOrder))
	for first := 0; first < documents; first += documentsOfPut {
		var body strings.Builder
		for i := first; i < min(first+documentsOfPut, documents); i++ {
			writeEndpoint(&body, rand.New(rand.NewPCG(seed, uint64(i))), i, 0) //nolint:gosec // made up
		}
		s.put(fmt.Sprintf("site-%d", first/documentsOfPut), []byte(body.String()))
	}
	s.vacuum()
}
