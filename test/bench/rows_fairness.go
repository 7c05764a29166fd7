package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
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
	visit := func(side string, enough func() bool) {
		for began := time.Now(); time.Since(began) < ofSpan*r.span || !enough() && time.Since(began) < patience; {
			took.time("PUT "+side, func() { change(quietSite) })
			took.time("status "+side, func() { s.get(below(quietSite, latest+"/status")) })
		}
	}
	var load writing
	for turn := range 1 + r.rounds {
		visit("alone", func() bool { return true })
		stop := load.begin(s, writers, bodies)
		time.Sleep(r.span)
		made := load.made.Load()
		visit("beside", func() bool { return load.made.Load() > made })
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
		slow, slowAlone := percentile(beside, 99), percentile(alone, 99)
		r.atMost(33, ratio(slow, slowAlone), most, of+" of another site meanwhile, to alone, p99", "%s, %s", short(slow),
			short(slowAlone))
		r.infof(33, "the same, median", "%.2fx  (%s, %s)", ratio(median(beside), median(alone)), beside, alone)
	}
}

// writing counts the answers to writers of large changes.
type writing struct{ made, refused atomic.Int64 }

// begin lets writers put bodies into the busy site, over and over, until stop is called.
func (w *writing) begin(s *server, writers int, bodies [][]byte) (stop func()) {
	ctx, cancel := context.WithCancel(s.ctx)
	var all sync.WaitGroup
	for i := range writers {
		// The server tells anonymous users apart by their addresses.
		dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(i+1))}}
		transport := &http.Transport{DialContext: dialer.DialContext}
		all.Go(func() {
			defer transport.CloseIdleConnections()
			for turn := i; ctx.Err() == nil; turn++ {
				w.put(ctx, &http.Client{Transport: transport}, "http://"+s.address+below(busySite, documentsOf("large")),
					bodies[turn%len(bodies)])
			}
		})
	}
	return func() {
		cancel()
		all.Wait()
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
		concurrently(others+1, func(i int) {
			if i == others {
				defer done.Store(true)
				for !ended() {
					time.Sleep(50 * time.Millisecond)
				}
				return
			}
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
	r.within(33, slices.Max(meanwhile)-slices.Max(alone), limit,
		fmt.Sprintf("%s: slowest of %d changes, more than without", label, len(meanwhile)))
	r.infof(33, "the same: slowest; p99; median", "%s, %s; %s, %s; %s, %s", short(slices.Max(meanwhile)),
		short(slices.Max(alone)), short(percentile(meanwhile, 99)), short(percentile(alone, 99)), meanwhile, alone)
}

// status returns the status of the answer to a GET.
func (s *server) status(path string) int { return s.try(http.MethodGet, path, nil, "") }

// try sends a request that may be refused, with a token, and returns the status of the answer.
func (s *server) try(method, path string, body []byte, token string) int {
	return s.tryInto(io.Discard, method, path, body, token)
}

// tryInto is try, and writes the answer.
func (s *server) tryInto(answer io.Writer, method, path string, body []byte, token string) int {
	request, err := http.NewRequestWithContext(s.ctx, method, "http://"+s.address+path, bytes.NewReader(body))
	must("make a request", err)
	request.Header.Set("Content-Type", "application/x-yaml")
	request.Header.Set("X-Auth-Token", token)
	response, err := s.Do(request)
	must("send a request", err)
	defer response.Body.Close()
	_, _ = io.Copy(answer, response.Body)
	return response.StatusCode
}

// limited is a server with a site that reaches its limits and one that does not, each with a user of its own.
type limited struct {
	*run
	*server

	setUp  *server // another one on its database, whose callers need no token
	tokens map[string]string
}

const waitsAtMost = 20

// besideLimits checks that a site at its limits is refused more, and that another one is not.
func (r *run) besideLimits() {
	const mostWebhooks = 100
	r.sayf("row 33: a site at its limits")
	l := limited{run: r, setUp: r.start("limits", allValidations()), tokens: map[string]string{}}
	file := filepath.Join(r.dir, "limits.yaml")
	for _, site := range []string{busySite, quietSite} {
		l.setUp.makeModel(site, documentsOfSite, false)
		l.tokens[site] = string(bytes.TrimSpace(r.output(r.binary, "token", "new", "--tokens-file", file, "--user", site,
			"--role", "admin")))
	}
	l.server = r.startOn("limits_strict", l.setUp.database, allValidations(), "--auth", "tokens", "--tokens-file", file,
		fmt.Sprintf("--max-waits=%d", waitsAtMost), "--webhook-allow=127.0.0.0/8", r.keyset())
	version := 0
	put := func(site string) int {
		version++
		body := fmt.Appendf(nil, "schema: a/B/v1\nmetadata: {schema: metadata/Control/v1, name: n}\ndata: {at: %d}\n",
			version)
		return l.ask(http.MethodPut, site, documentsOf("one"), body)
	}
	l.limit(fmt.Sprintf("{documents: %d}", documentsOfSite))
	l.refuses("documents", http.StatusConflict, put)
	l.limit("{changes: 1}")
	put(busySite)
	l.refuses("changes a minute", http.StatusTooManyRequests, put)
	l.limit("{}")
	r.part(func(r *run) { limited{r, l.server, l.setUp, l.tokens}.waitsAtLimit() })
	hook := func(site string) int {
		return l.ask(http.MethodPost, site, api+"/webhooks", []byte("{url: 'http://127.0.0.1:1/'}"))
	}
	for range mostWebhooks {
		hook(busySite)
	}
	l.refuses("webhooks", http.StatusConflict, hook)
	l.uploadsAtLimit(put)
}

// ask sends a request of the user of a site.
func (l limited) ask(method, site, path string, body []byte) int {
	return l.try(method, below(site, path), body, l.tokens[site])
}

// limit sets the limits of the busy site, which are known within a second.
func (l limited) limit(limits string) {
	l.setUp.send(http.MethodPut, "/sites/"+busySite, []byte("{limits: "+limits+"}"), io.Discard)
	time.Sleep(time.Second)
}

// refuses checks that a request is refused in the busy site and not in the other one.
func (l limited) refuses(what string, status int, request func(site string) int) {
	refused, allowed := request(busySite), request(quietSite)
	l.add(33, refused == status && allowed < http.StatusMultipleChoices, fmt.Sprintf("%d, 2xx", status),
		fmt.Sprintf("a site at its limit of %s, and another one: answers to one more", what),
		fmt.Sprintf("%d, %d", refused, allowed))
}

// withToken returns a request to a site by its user, in wire format.
func (l limited) withToken(method, site, path, head string) []byte {
	return fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: localhost\r\nX-Auth-Token: %s\r\n%s\r\n", method, below(site, path),
		l.tokens[site], head)
}

const waitForEvent = api + "/events?since=now&wait="

// waitUntil waits until n requests wait.
func (l limited) waitUntil(n int) {
	line := fmt.Appendf(nil, "\npurser_waiting_requests %d\n", n)
	for {
		var text bytes.Buffer
		l.tryInto(&text, http.MethodGet, "/metrics", nil, l.tokens[quietSite])
		if bytes.Contains(text.Bytes(), line) {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// waitsAtLimit lets the busy site wait as often as it may.
func (l limited) waitsAtLimit() {
	const share = waitsAtMost / 2
	askAll(l.wires(l.server, 1), l.withToken(http.MethodGet, quietSite, waitForEvent+"5m", ""))
	l.waitUntil(1)
	askAll(l.wires(l.server, waitsAtMost), l.withToken(http.MethodGet, busySite, waitForEvent+"5m", ""))
	l.waitUntil(1 + share)
	l.refuses("waits", http.StatusTooManyRequests, func(site string) int {
		return l.ask(http.MethodGet, site, waitForEvent+"1s", nil)
	})
}

// uploadsAtLimit lets the busy site send bodies that do not end, more than have room in memory.
func (l limited) uploadsAtLimit(put func(site string) int) {
	const uploads, most, puts = 64, 500 * time.Millisecond, 20
	head := fmt.Sprintf("Content-Type: application/x-yaml\r\nContent-Length: %d\r\n", l.body-1)
	begun := append(l.withToken(http.MethodPut, busySite, documentsOf("more"), head), '#')
	askAll(l.wires(l.server, uploads), begun)
	time.Sleep(l.span)
	var took times
	for range puts {
		took = append(took, timed(func() {
			if status := put(quietSite); status != http.StatusOK {
				must("change a site", fmt.Errorf("answered with %d", status))
			}
		}))
	}
	l.within(33, slices.Max(took), most,
		fmt.Sprintf("a site with %d uploads that do not end: slowest PUT of another one", uploads))
}
