package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// The sites of row 33: one that is busy and one that should not notice.
const busySite, quietSite = "busy", "quiet"

// fairness measures row 33: what the work on one site costs the others.
func (r *run) fairness() {
	r.part(func(r *run) { r.besideWriters() })
	r.part(func(r *run) { r.besideDeletions() })
	r.part(func(r *run) { r.besideLimits() })
}

// besideWriters compares requests to a site beside many large changes of another one with the same alone.
func (r *run) besideWriters() {
	const writers, versions, most, ofSpan = 32, 4, 3.0, 5
	documents := 30_000
	if r.smoke {
		documents = 100
	}
	r.sayf("row 33: %d writers of %d documents", writers, documents)
	s := r.start("fairness", allValidations())
	s.makeSite(busySite)
	s.makeModel(quietSite, documentsOfSite, false)
	s.putIn(busySite, "schemas", []byte(small().schema+layerOrder))
	bodies, site := make([][]byte, versions), newSite(small(), documents)
	for version := range bodies { // each changes all documents
		for i := range site.documents {
			site.change(i, version)
		}
		bodies[version] = site.body()
	}
	took, change := series{}, s.changer()
	visit := func(side string) {
		for began := time.Now(); time.Since(began) < ofSpan*r.span; {
			took.time("PUT "+side, func() { change(quietSite) })
			took.time("status "+side, func() { s.get(below(quietSite, latest+"/status")) })
		}
	}
	var load writing
	for turn := range 1 + r.rounds {
		visit("alone")
		stop := load.begin(s, writers, bodies)
		time.Sleep(r.span)
		visit("beside")
		stop()
		s.exec("VACUUM")
		s.exec("CHECKPOINT")
		if turn == 0 {
			clear(took) // a warm-up
		}
	}
	r.infof(33, fmt.Sprintf("%d writers PUT %d documents each into one site", writers, documents),
		"%d changes, %d refused with 409, 429 or 503", load.made.Load(), load.refused.Load())
	for _, what := range []string{"PUT", "status"} {
		alone, beside := took[what+" alone"], took[what+" beside"]
		of := map[string]string{"PUT": "PUT of one document", "status": "GET of the status"}[what]
		r.atMost(33, ratio(percentile(beside, 99), percentile(alone, 99)), most,
			of+" of another site meanwhile, to alone, p99", "%s, %s", short(percentile(beside, 99)), short(percentile(alone, 99)))
		r.infof(33, "the same, median", "%.2fx  (%s, %s)", ratio(median(beside), median(alone)), beside, alone)
	}
}

// writing counts the answers to writers of large changes.
type writing struct{ made, refused atomic.Int64 }

// begin lets writers put bodies into the busy site, over and over, until stop is called.
func (w *writing) begin(s *server, writers int, bodies [][]byte) (stop func()) {
	ctx, cancel := context.WithCancel(s.ctx)
	transport := &http.Transport{MaxIdleConnsPerHost: writers}
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			for turn := i; ctx.Err() == nil; turn++ {
				w.put(ctx, &http.Client{Transport: transport}, "http://"+s.address+below(busySite, documentsOf("large")),
					bodies[turn%len(bodies)])
			}
		})
	}
	return func() {
		cancel()
		all.Wait()
		transport.CloseIdleConnections()
	}
}

// put puts a body. A server may refuse it, because too many others do the same.
func (w *writing) put(ctx context.Context, c *http.Client, url string, body []byte) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPut, url, bytes.NewReader(body))
	must("make a request", err)
	request.Header.Set("Content-Type", "application/x-yaml")
	response, err := c.Do(request)
	if err != nil {
		return // it was stopped
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body)
	if response.StatusCode == http.StatusOK {
		w.made.Add(1)
		return
	}
	w.refused.Add(1)
	select { // as the answer demands
	case <-time.After(time.Second):
	case <-ctx.Done():
	}
}

// besideDeletions measures how long changes of other sites wait while a large site is deleted.
func (r *run) besideDeletions() {
	const others, pause, limit, mostRounds = 50, 500 * time.Millisecond, 100 * time.Millisecond, 3
	documents := 100_000
	if r.smoke {
		documents = 1000
	}
	rounds := min(r.rounds, mostRounds)
	r.sayf("row 33: deletion of %d documents while %d sites change", documents, others)
	s := r.start("deletion", allValidations())
	s.makeModel(quietSite, documentsOfSite, false)
	s.settleFeeds()
	s.makeSite(model)
	s.putIn(model, "schemas", []byte(small().schema+layerOrder))
	all := newSite(small(), documents)
	const ofBody = 10_000
	for at := 0; at < documents; at += ofBody {
		s.putIn(model, fmt.Sprintf("large-%d", at), []byte(strings.Join(all.documents[at:min(at+ofBody, documents)], "")))
	}
	s.settleFeeds()
	s.copySite(model, 0, rounds+1)
	s.copySite(quietSite, rounds+1, rounds+1+others)
	s.vacuum()
	s.exec("CHECKPOINT")
	took := series{}
	changesUntil := func(side string, ended func() bool) {
		var mu sync.Mutex
		var done atomic.Bool
		go func() {
			for !ended() {
				time.Sleep(50 * time.Millisecond)
			}
			done.Store(true)
		}()
		concurrently(others, func(i int) {
			change, site := s.changer(), copied(rounds+1+i)
			time.Sleep(pause * time.Duration(i) / others)
			for !done.Load() {
				one := timed(func() { change(site) })
				mu.Lock()
				took.add(side, one)
				mu.Unlock()
				time.Sleep(max(0, pause-one))
			}
		})
	}
	var spans times
	for turn := range rounds + 1 {
		site := copied(turn)
		s.send(http.MethodPut, "/sites/"+site, []byte("{archived: true}"), io.Discard)
		began := time.Now()
		s.send(http.MethodDelete, "/sites/"+site+"?confirm="+site, nil, io.Discard)
		changesUntil("meanwhile", func() bool { return s.status("/sites/"+site) == http.StatusNotFound })
		span := time.Since(began)
		began = time.Now()
		changesUntil("alone", func() bool { return time.Since(began) > span })
		if left := s.leftOf(r.ctx, site); left > 0 {
			must("delete a site", fmt.Errorf("%d rows are left", left))
		}
		if turn == 0 {
			clear(took)
			continue
		}
		spans = append(spans, span)
	}
	meanwhile, alone := took["meanwhile"], took["alone"]
	label := fmt.Sprintf("deletion of a site of %d documents while %d others change", documents, others)
	r.infof(33, label+": time", "%s; nothing is left in any table", spans)
	r.within(33, slices.Max(meanwhile)-slices.Max(alone), limit, fmt.Sprintf("%s: slowest of %d changes, more than without",
		label, len(meanwhile)))
	r.infof(33, "the same: slowest; p99; median", "%s, %s; %s, %s; %s, %s", short(slices.Max(meanwhile)),
		short(slices.Max(alone)), short(percentile(meanwhile, 99)), short(percentile(alone, 99)), meanwhile, alone)
}

// status returns the status of the answer to a GET.
func (s *server) status(path string) int { return s.try(http.MethodGet, path, nil) }

// try sends a request that may be refused, and returns the status of the answer.
func (s *server) try(method, path string, body []byte) int {
	request, err := http.NewRequestWithContext(s.ctx, method, "http://"+s.address+path, bytes.NewReader(body))
	must("make a request", err)
	request.Header.Set("Content-Type", "application/x-yaml")
	response, err := s.Do(request)
	must("send a request", err)
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body)
	return response.StatusCode
}

// besideLimits checks that a site at its limits is refused more, and that another one is not.
func (r *run) besideLimits() {
	const waits = 20
	r.sayf("row 33: a site at its limits")
	s := r.start("limits", allValidations(), fmt.Sprintf("--max-waits=%d", waits), "--ingest-memory=8MiB", "--webhook-allow=127.0.0.0/8", r.keyset())
	s.makeModel(quietSite, documentsOfSite, false)
	s.makeModel(busySite, documentsOfSite, false)
	changes := s.changer()
	s.send(http.MethodPut, "/sites/"+busySite, fmt.Appendf(nil, "{limits: {documents: %d}}", documentsOfSite), io.Discard)
	r.refuses("documents", s, func(site string) int {
		return s.try(http.MethodPut, below(site, documentsOf("more")), []byte(newSite(small(), documentsOfSite+2).documents[documentsOfSite+1]))
	}, http.StatusConflict)
	s.send(http.MethodPut, "/sites/"+busySite, []byte("{limits: {changes: 1}}"), io.Discard)
	change := func(site string) int {
		return s.try(http.MethodPut, below(site, documentsOf("changes")),
			fmt.Appendf(nil, "schema: a/B/v1\nmetadata: {schema: metadata/Control/v1, name: n}\ndata: {at: %d}\n", time.Now().UnixNano()))
	}
	change(busySite)
	r.refuses("changes a minute", s, change, http.StatusTooManyRequests)
	s.send(http.MethodPut, "/sites/"+busySite, []byte("{}"), io.Discard)
	changes(quietSite)
	r.part(func(r *run) {
		wait := func(site string) []byte {
			return message(http.MethodGet, below(site, api+"/events?wait=5m&since=now"), nil)
		}
		askAll(r.wires(s, 1), wait(quietSite))
		s.waitFor(1)
		askAll(r.wires(s, waits), wait(busySite)) // about half of these are refused
		s.waitFor(1 + waits/2)
		r.refuses("waits", s, func(site string) int {
			return s.try(http.MethodGet, below(site, api+"/events?wait=1s&since=now"), nil)
		}, http.StatusTooManyRequests)
	})
	hook := []byte("{url: 'http://127.0.0.1:1/', types: [revision.created]}")
	for s.try(http.MethodPost, below(busySite, api+"/webhooks"), hook) == http.StatusCreated {
	}
	r.refuses("webhooks", s, func(site string) int {
		return s.try(http.MethodPost, below(site, api+"/webhooks"), hook)
	}, http.StatusConflict)
	r.uploadsAtLimit(s)
}

// uploadsAtLimit lets the busy site hold the memory of uploads, with bodies that do not end.
func (r *run) uploadsAtLimit(s *server) {
	const uploads = 64
	head := fmt.Appendf(nil, "PUT %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-yaml\r\nContent-Length: %d\r\n\r\n#",
		below(busySite, documentsOf("more")), 4<<20)
	askAll(r.wires(s, uploads), head)
	time.Sleep(r.span)
	change := s.changer()
	slowest := slices.Max(times{timed(func() { change(quietSite) }), timed(func() { change(quietSite) })})
	r.within(33, slowest, 500*time.Millisecond, fmt.Sprintf("a site with %d uploads that do not end: a PUT of another one", uploads))
}

// refuses checks that a request is refused in the busy site and not in the other one.
func (r *run) refuses(what string, _ *server, request func(site string) int, status int) {
	refused, allowed := request(busySite), request(quietSite)
	r.add(33, refused == status && allowed < http.StatusMultipleChoices, fmt.Sprintf("%d, 2xx", status),
		fmt.Sprintf("a site at its limit of %s, and another one: answers to one more", what), fmt.Sprintf("%d, %d", refused, allowed))
}
