package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	createPosted = `CREATE TABLE bench_posted (
		revision bigint, name text, id bigint GENERATED ALWAYS AS IDENTITY, body text NOT NULL,
		PRIMARY KEY (revision, name, id))`
	insertPosted = `INSERT INTO bench_posted (revision, name, body) VALUES ($1, $2, $3)`
	selectPosted = `SELECT body FROM bench_posted WHERE revision = $1 AND name = $2 ORDER BY id DESC LIMIT 1`

	// insertResults adds as many results under existing names.
	insertResults = `INSERT INTO results (site, revision, name, status, validator, errors, created_at, message)
		SELECT site, revision, name, status, validator, errors, created_at, message FROM results
		CROSS JOIN generate_series(2, $2::bigint / $3) WHERE revision = $1`
)

// verdicts measures row 6.
func (r *run) verdicts() {
	r.sayf("row 6: validations by %d clients", r.clients)
	c := r.begin(small(), "verdicts")
	clients := r.wires(c.server, r.clients)
	c.exec(createPosted)
	r.posts(c, clients)
	entries := 1000
	if r.smoke {
		entries = 20
	}
	r.statuses(c, clients, entries, 10, 4)
	r.statuses(c, clients, entries, entries, 20)
	r.summaries(c)
	r.waived(c)
}

// storm lets all clients work for r.span, each as fast as it can. It adds the median latency of a piece of work, and as
// "name, each" the time divided by the number of pieces: the inverse of throughput.
func (r *run) storm(took series, name string, work func(client int)) {
	latencies := make([]times, r.clients)
	began := time.Now()
	concurrently(r.clients, func(client int) {
		for time.Since(began) < r.span {
			latencies[client] = append(latencies[client], timed(func() { work(client) }))
		}
	})
	all := slices.Concat(latencies...)
	took.add(name, median(all))
	took.add(name+", each", time.Since(began)/time.Duration(len(all)))
}

// posts compares posting results with inserting rows.
func (r *run) posts(c *chronicle, clients []wire) {
	request, took := message(http.MethodPost, allRevisions+"/1/validations/bench", posting), series{}
	for turn := range 1 + r.rounds {
		r.storm(took, "post", func(client int) { clients[client].send(request) })
		r.storm(took, "insert", func(int) { c.exec(insertPosted, 1, "bench", string(posting)) })
		if turn == 0 { // a warm-up
			clear(took)
		}
	}
	r.atMost(6, took["post"].over(took["insert"]), 3,
		fmt.Sprintf("POST a validation by %d clients to an insert by %d connections, latency", r.clients, r.clients),
		"%s, %s", took["post"], took["insert"])
	r.throughput("the same by throughput", took["post, each"], took["insert, each"])
}

func (r *run) throughput(what string, measured, against times) {
	r.infof(6, what, "%.2fx  (%.0f/s, %.0f/s)", measured.over(against), measured.perSecond(), against.perSecond())
}

// statuses compares requests for the status of a new revision with a select, after that many results under the given
// number of names have been posted.
func (r *run) statuses(c *chronicle, clients []wire, entries, names int, limit float64) {
	repeats := r.turns(50)
	c.change()
	name := func(i int) string { return fmt.Sprintf("validation-%d", i%names) }
	for i := range entries {
		c.post(c.revision, name(i))
		c.exec(insertPosted, c.revision, name(i), string(posting))
	}
	c.vacuum()
	request, health := message(http.MethodGet, latest+"/status", nil), message(http.MethodGet, api+"/health", nil)
	selectOne := func(int) {
		var body string
		row := c.db.QueryRow(r.ctx, selectPosted, c.revision, name(rand.IntN(names))) //nolint:gosec // any will do
		must("select", row.Scan(&body))
	}
	took := series{}
	for turn := range 1 + r.rounds {
		took.add("status", medianTime(repeats, func(int) { clients[0].send(request) }))
		took.add("select", medianTime(repeats, selectOne))
		took.add("health", medianTime(repeats, func(int) { clients[0].send(health) }))
		r.storm(took, "statuses", func(client int) { clients[client].send(request) })
		r.storm(took, "selects", selectOne)
		if turn == 0 { // a warm-up
			clear(took)
		}
	}
	r.atMost(6, took["status"].over(took["select"]), limit,
		fmt.Sprintf("GET the status with %d entries of %d names to an indexed select", entries, names),
		"%s, %s", took["status"], took["select"])
	if names != entries {
		r.infof(6, "GET the health to the same select: what HTTP costs alone", "%.2fx  (%s)",
			took["health"].over(took["select"]), took["health"])
	}
	r.throughput(fmt.Sprintf("the status with %d names by %d clients to a select by %d connections, throughput", names,
		r.clients, r.clients), took["statuses, each"], took["selects, each"])
}

// summaries compares the list of validations of a revision with many results to that of a revision with few.
func (r *run) summaries(c *chronicle) {
	const names, most = 10, 10_000
	list := func(results int) func() {
		c.change()
		for name := range names {
			c.post(c.revision, fmt.Sprintf("validation-%d", name))
		}
		c.exec(insertResults, c.revision, results, names)
		path := fmt.Sprintf("%s/%d/validations", allRevisions, c.revision)
		return func() { c.get(path) }
	}
	few, many := list(names), list(most)
	c.vacuum()
	r.compare(6, compared{
		repeats: often, limit: 1.2, against: few, measured: many,
		what: fmt.Sprintf("GET the validations with %d results of %d names to one of %d results", most, names, names),
	})
}

// waived compares the status of a revision with ten waivers, and ten requirements that do not apply to it, with that of
// one with twenty requirements of which ten have results.
func (r *run) waived(c *chronicle) {
	const each = 10
	status := func(extra string, done func(name string)) func() {
		var policy strings.Builder
		policy.WriteString("---\nschema: deckhand/ValidationPolicy/v1\n" +
			"metadata: {schema: metadata/Control/v1, name: bench}\n" + "data:\n  validations:\n")
		for i := range each {
			fmt.Fprintf(&policy, "  - {name: open-%d-validation}\n  - {name: other-%[1]d-validation%s}\n", i, extra)
		}
		c.put("waived", []byte(policy.String()))
		c.revision++
		for i := range each {
			done(fmt.Sprintf("open-%d-validation", i))
		}
		path := fmt.Sprintf("%s/%d/status", allRevisions, c.revision)
		return func() { c.get(path) }
	}
	without := status("", func(name string) { c.post(c.revision, name) })
	with := status(", when: {schemas: [none/*]}", func(name string) {
		body := fmt.Appendf(nil, "{validation: %s, reason: bench, for: P1D}", name)
		c.send(http.MethodPost, fmt.Sprintf("%s/%d/waivers", allRevisions, c.revision), body, io.Discard)
	})
	c.vacuum()
	r.compare(6, compared{
		repeats: often, limit: 1.05, against: without, measured: with,
		what: "GET the status with 10 waivers and 10 requirements that do not apply to one without",
	})
}

// admission measures row 16: the cost of authentication, authorization and rate limits for the cheapest request. Two
// servers use the same database; only one of them checks callers. The rate limit is never reached.
func (r *run) admission() {
	const requests = 20 // so many that interruptions by the scheduler do not matter
	r.sayf("row 16: tokens and policy")
	lax := r.begin(small(), "admission")
	policy := r.writeFile("policy.yaml",
		[]byte("reader: role:reader or role:viewer\n'deckhand:show_revision': rule:reader or rule:admin_api\n"))
	tokens := r.dir + "/tokens.yaml"
	token := r.output(r.binary, "token", "new", "--tokens-file", tokens, "--user", "bench", "--role", "member",
		"--role", "reader")
	strict := r.startOn("admission-strict", lax.database, "--auth", "tokens", "--tokens-file", tokens,
		"--policy-file", policy, "--request-rate", "1000000")
	status := message(http.MethodGet, latest+"/status", nil)
	withToken := bytes.Replace(status, []byte("\r\n"),
		fmt.Appendf(nil, "\r\nX-Auth-Token: %s\r\n", bytes.TrimSpace(token)), 1)
	ask := func(s *server, request []byte) func() {
		client := r.wires(s, 1)[0]
		return repeat(requests, func() { client.send(request) })
	}
	r.compare(16, compared{
		what:  "GET the status with a token and a policy file to the same without",
		limit: 1.05, repeats: often, against: ask(lax.server, status), measured: ask(strict, withToken),
	})
}

// pages measures row 25: the size of the pages about the newest revision, and the time that the server takes for them
// and the files that they embed, on a site of 430 documents and on a large one.
func (r *run) pages() {
	const limit = 300 * time.Millisecond // for the pages of the newest revision
	site, label := r.corpus("tm19-airsloop"), "tm19-airsloop, 430 documents"
	if site == nil {
		site, label = layeredSite(), "a site of our own in layers"
	}
	r.part(func(r *run) { r.pagesOf("pages", label, site, limit) })
	many := newSite(small(), r.wide)
	body := append([]byte(many.schema), many.body()...)
	r.part(func(r *run) { r.pagesOf("manypages", fmt.Sprintf("%d documents", r.wide), body, 0) })
}

// pagesOf measures the pages of one site. If limit is 0, the time has no target.
func (r *run) pagesOf(name, label string, site []byte, limit time.Duration) {
	const mostBytes = 150 << 10 // of a page, without the image of a graph
	r.sayf("row 25: %s", label)
	s, sizes := r.start(name, r.keyset()), map[string]int{}
	s.put("site", site)
	newest := series{}
	for i := range r.rounds + 1 { // each time for a revision whose pages have not been requested before
		s.put("added", note("added", i))
		newest.time("pages", func() { s.look(sizes, "/ui/", "/ui/revisions/latest") })
	}
	r.within(25, median(newest["pages"]), limit,
		label+": overview and page of a revision just made, with what they embed, one after the other")
	for _, page := range []string{
		"/ui/revisions", "/ui/search", "/ui/search?q=port", "/ui/compare?from=0&to=1", "/ui/revisions/latest/graph",
		"/ui/revisions/latest/schemas", "/ui/audit",
	} {
		took := timed(func() { s.look(sizes, page) })
		r.infof(25, label+": "+page, "%s, %d bytes", short(took), sizes[page])
	}
	largest := ""
	for page, size := range sizes {
		if size > sizes[largest] {
			largest = page
		}
	}
	r.add(25, sizes[largest] <= mostBytes, fmt.Sprintf("<= %d bytes", mostBytes), label+": the largest page",
		fmt.Sprintf("%d bytes (%s)", sizes[largest], largest))
}

var embedded = regexp.MustCompile(`<(?:script src|img [^>]*src|link rel="[a-z]+" href)="(/ui/static/[^"]+)"`)

// look requests pages, and once each the files that they embed. It adds the sizes of the pages in bytes.
func (s *server) look(sizes map[string]int, pages ...string) {
	files := map[string]bool{}
	for _, page := range pages {
		text := s.fetch(http.MethodGet, page, nil)
		sizes[page] = len(text)
		for _, file := range embedded.FindAllSubmatch(text, -1) {
			files[string(file[1])] = true
		}
	}
	if len(files) == 0 {
		must("look at the pages", fmt.Errorf("%v embed no file", pages))
	}
	for file := range files {
		s.get(file)
	}
}

// waits measures row 26: the cost of waiting requests, and how soon they are answered.
func (r *run) waits() {
	many, some := 10_000, 1000
	if r.smoke {
		many, some = many/100, some/100
	}
	r.sayf("row 26: %d waiters", some)
	r.part(func(r *run) { r.answers(r.waited("waits"), some) })
	r.sayf("row 26: changes beside %d waiters", some)
	r.part(func(r *run) {
		r.postsBeside(some, r.waited("waits_none"), r.waited("waits_some"), r.waited("waits_workers"))
	})
	r.sayf("row 26: %d waiting workers", some)
	r.part(func(r *run) { r.claimsOfWaiters(r.waited("waits_claims"), some) })
	r.sayf("row 26: %d waiters", many)
	r.part(func(r *run) {
		_, each := r.memoryOfWaiters(r.startBare(nil), message(http.MethodGet, bareWait, nil), many)
		r.infof(26, fmt.Sprintf("memory of each of %d waiters of net/http alone, KiB", many), "%.1f", each)
	})
	r.part(func(r *run) { r.endOfWaits(r.waited("waits_many"), "waiters", waitForStatus(), many, 20) })
	r.part(func(r *run) { r.endOfWaits(r.waited("waits_workers_end"), "waiting workers", waitForWork(1), some, 0) })
}

// waited starts a server whose revision 1 waits for a result.
func (r *run) waited(name string) *server {
	s := r.start(name, "--max-waits", "20000")
	s.put("policy", []byte(`schema: deckhand/ValidationPolicy/v1
metadata: {schema: metadata/Control/v1, name: p}
data: {validations: [{name: never-validation}]}
`))
	return s
}

// waitForStatus returns the request of a client that waits for a status that does not come.
func waitForStatus() []byte {
	return message(http.MethodGet, allRevisions+"/1/status?expect=success&wait=10m", nil)
}

// askAll sends a request on each connection, without reading the answers.
func askAll(clients []wire, request []byte) {
	for _, client := range clients {
		_, err := client.Write(request)
		must("ask", err)
	}
}

// arrivals returns when the answer to each connection began, after all have been read.
func arrivals(clients []wire, status int) []time.Time {
	at := make([]time.Time, len(clients))
	concurrently(len(clients), func(i int) {
		_, err := clients[i].answers.Peek(1)
		must("wait for an answer", err)
		at[i] = time.Now()
		answer, err := http.ReadResponse(clients[i].answers, nil)
		must("read an answer", err)
		defer answer.Body.Close()
		_, err = io.Copy(io.Discard, answer.Body)
		if err == nil && answer.StatusCode != status {
			err = fmt.Errorf("answered with %d", answer.StatusCode)
		}
		must("read an answer", err)
	})
	return at
}

// waitFor waits until n requests wait.
func (s *server) waitFor(n int) {
	line := fmt.Appendf(nil, "\npurser_waiting_requests %d\n", n)
	for !bytes.Contains(s.fetch(http.MethodGet, "/metrics", nil), line) {
		time.Sleep(20 * time.Millisecond)
	}
}

// askForEvents makes all connections wait for the next event after the newest one. It sends a cursor, because a request
// with since=now may count as waiting before it has read the newest event, and then miss the next one.
func (s *server) askForEvents(clients []wire) {
	text := string(s.fetch(http.MethodGet, api+"/events?since=now", nil))
	_, rest, _ := strings.Cut(text, "cursor: '")
	cursor, _, found := strings.Cut(rest, "'")
	if !found {
		must("ask for events", fmt.Errorf("no cursor in %q", text))
	}
	askAll(clients, message(http.MethodGet, api+"/events?wait=5m&since="+cursor, nil))
	s.waitFor(len(clients))
}

// answers measures how soon waiters are answered, and how much they slow down a change that answers them.
func (r *run) answers(s *server, n int) {
	const posts = 20
	post := func() { s.post(1, "some-validation") }
	took := series{}
	for range r.rounds {
		r.part(func(r *run) {
			clients := r.wires(s, n)
			for range posts {
				took.time("alone", post)
			}
			s.askForEvents(clients)
			took.time("beside", post)
			committed := time.Now()
			for _, at := range arrivals(clients, http.StatusOK) {
				took.add("after", at.Sub(committed))
			}
		})
	}
	r.within(26, percentile(took["after"], 99), 100*time.Millisecond,
		fmt.Sprintf("from a change to the answers of %d waiters, p99", n))
	r.infof(26, "the same, median", "%s", took["after"])
	beside, alone := took["beside"], took["alone"]
	r.infof(26, "POST a validation that answers them to one while nobody waits", "%.2fx  (%s, %s)",
		ratio(median(beside), median(alone)), beside, alone)
}

// postsBeside measures how much waiters slow down changes that do not answer them, and what they cost while nothing
// changes. Clients wait for a status on the second of three servers, and for work on the third, each with its own
// database. All make the same changes in turns.
func (r *run) postsBeside(n int, servers ...*server) {
	const posts, turnsOfRound = 25, 4
	whats := []string{"", "wait for a status", "workers wait for work"}
	for i, ask := range [][]byte{nil, waitForStatus(), waitForWork(1)} {
		if ask != nil {
			askAll(r.wires(servers[i], n), ask)
			servers[i].waitFor(n)
			r.idle(servers[i], fmt.Sprintf("%d %s", n, whats[i]))
		}
	}
	took := make([]times, len(servers))
	for turn := range r.rounds * turnsOfRound {
		for i := range servers {
			side := (turn + i) % len(servers)
			took[side] = append(took[side], medianTime(posts, func(int) { servers[side].post(1, "some-validation") }))
			const settle = 150 * time.Millisecond // so that woken requests do not disturb the other servers
			time.Sleep(settle)
		}
	}
	for i, what := range whats[1:] {
		r.atMost(26, took[i+1].over(took[0]), 1.1,
			fmt.Sprintf("POST a validation while %d %s to while nobody waits", n, what), "latency")
	}
}

// idle measures how many transactions a server makes while its clients wait and nothing changes.
func (r *run) idle(s *server, what string) {
	const most, settle = 15, 2 * time.Second // processes of Postgres report their transactions a second late
	const committed = "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()"
	time.Sleep(settle)
	before, span := s.number(committed), max(time.Second, 3*r.span)
	time.Sleep(span)
	each := float64(s.number(committed)-before) / span.Seconds()
	r.add(26, each <= most, fmt.Sprintf("<= %d", most), "transactions a second while "+what, fmt.Sprintf("%.1f", each))
}

// calm returns the resident memory in MiB once it stops falling. Memory that requests used is returned to the system
// within seconds.
func (r *run) calm(s *server) float64 {
	const interval = time.Second
	patient := r.turns(5)
	least := s.resident("VmRSS")
	for same := 0; same < patient; same++ {
		time.Sleep(interval)
		if now := s.resident("VmRSS"); now < least {
			least, same = now, 0
		}
	}
	return least
}

// memoryOfWaiters returns waiting clients, and the memory that each of them takes, in KiB. The requests start one after
// the other.
func (r *run) memoryOfWaiters(s *server, request []byte, n int) (clients []wire, each float64) {
	before := s.resident("VmRSS")
	for range n {
		one := r.wires(s, 1)
		askAll(one, request)
		clients = append(clients, one...)
	}
	s.waitFor(n)
	return clients, (r.calm(s) - before) * 1024 / float64(n)
}

// endOfWaits measures the memory that a waiting request takes, and how long the last of many waits after SIGTERM. The
// memory is at most the given KiB; with 0 it has no target, because few requests also pay for what they share.
func (r *run) endOfWaits(s *server, what string, request []byte, n int, most float64) {
	clients, each := r.memoryOfWaiters(s, request, n)
	used := s.number("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND " +
		"state <> 'idle' AND pid <> pg_backend_pid()")
	memory := fmt.Sprintf("memory of each of %d %s with its connection, KiB", n, what)
	if most == 0 {
		r.infof(26, memory, "%.1f", each)
	} else {
		r.add(26, each <= most, fmt.Sprintf("<= %.0f", most), memory, fmt.Sprintf("%.1f", each))
	}
	r.add(26, used <= 1, "<= 1", "connections to the database that are in use meanwhile", strconv.FormatInt(used, 10))
	began := time.Now()
	must("end the server", s.process.Process.Signal(syscall.SIGTERM))
	last := slices.MaxFunc(arrivals(clients, http.StatusServiceUnavailable), time.Time.Compare).Sub(began)
	r.within(26, last, time.Second, "from SIGTERM to the last of their answers")
}
