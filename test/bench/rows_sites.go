package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// documentsOfSite is the number of documents of each site of rows 32 and 34.
const documentsOfSite = 100

// fleet measures rows 32 and 34: a server with many sites against one with one of them.
func (r *run) fleet() {
	r.sayf("rows 32, 34: %d sites of %d documents", r.sites, documentsOfSite)
	one, many := r.start("onesite", allValidations()), r.start("fleet", allValidations())
	one.fillFleet(2, documentsOfSite)
	empty := many.size()
	took := timed(func() { many.fillFleet(r.sites, documentsOfSite) })
	r.sayf("filled in %s", short(took))
	last := copied(r.sites - 1)
	many.checkCopy(last)
	label := fmt.Sprintf("%d sites of %d documents", r.sites, documentsOfSite)
	r.tableOfFleet(empty, one, many)
	if r.wants(32) {
		r.restarts(label, one, many)
		r.putsIn(label, one, many, last)
		r.idleFleet(label, many)
		r.part(func(r *run) { r.waitersOfSites(many) })
		r.listOfSites(label, many)
		r.memoryOfSites(many.database)
	}
}

// size returns the number of bytes of the database.
func (s *server) size() int64 { return s.number("SELECT pg_database_size(current_database())") }

// differing is what differs between answers for a site and for its copy.
var differing = regexp.MustCompile(`(stamp: \S+|/sites/[^/]+/|epoch: \S+|cursor: \S+)`)

// checkCopy checks that a copied site is answered as the model is.
func (s *server) checkCopy(name string) {
	for _, path := range []string{
		allDocuments, latest + "/rendered-documents", latest + "/status", api + "/events?since=0", allRevisions,
	} {
		answer := func(site string) string {
			return differing.ReplaceAllString(string(s.fetch(http.MethodGet, below(site, path), nil)), "")
		}
		if got, want := answer(name), answer(model); got != want || len(got) < documentsOfSite {
			must("compare a copied site with its model", fmt.Errorf("%s is %.500q, not %.500q", path, got, want))
		}
	}
}

// restarts measures how soon a server is ready.
func (r *run) restarts(label string, servers ...*server) {
	var starts [2]times
	for i, s := range servers {
		for turn := range r.rounds {
			r.part(func(r *run) {
				starts[i] = append(starts[i], timed(func() { r.startOn(fmt.Sprintf("restarted-%d-%d", i, turn), s.database) }))
			})
		}
	}
	r.within(32, median(starts[1]), time.Second, label+": from the start of a server to readiness")
	r.infof(32, "the same with one site", "%s", starts[0])
}

// changer returns a function that changes one document of a site.
func (s *server) changer() func(site string) {
	changed, version := newSite(small(), documentsOfSite+1), 0
	return func(site string) {
		version++
		changed.change(documentsOfSite, version)
		s.putIn(site, "one", []byte(changed.documents[documentsOfSite]))
	}
}

// putsIn compares a PUT of one document of one of many sites with that of one.
func (r *run) putsIn(label string, one, many *server, site string) {
	inOne, inMany := one.changer(), many.changer()
	r.compare(32, compared{
		what: label + ": PUT of one document, to one with one site", limit: 1.15, repeats: often,
		against: func() { inOne(model) }, measured: func() { inMany(site) },
	})
	cold := r.turns(often)
	took := medianTime(cold, func(i int) { inMany(copied(r.sites - 2 - i%(r.sites-1))) })
	r.infof(32, "the same, each in a site that was not in use", "%s", short(took))
}

// transactions returns the least number of transactions a second that a server makes, of some spans. It asks on a
// connection to another database, so its own do not count.
func (r *run) transactions(s *server) float64 {
	const settle, span, spans = 11 * time.Second, 4 * time.Second, 4 // idle processes report theirs after ten seconds
	name := filepath.Base(strings.Split(s.database, "?")[0])
	committed := func() (n int64) {
		const query = "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = $1"
		must("count transactions", r.admin.QueryRow(r.ctx, query, name).Scan(&n))
		return n
	}
	if !r.smoke {
		time.Sleep(settle)
	}
	least := 0.0
	for i := range r.turns(spans) {
		before := committed()
		time.Sleep(span)
		if each := float64(committed()-before) / span.Seconds(); i == 0 || each < least {
			least = each
		}
	}
	return least
}

// idleFleet measures the transactions of a server that nobody uses. Those of autovacuum are in some of the spans.
func (r *run) idleFleet(label string, s *server) {
	each := r.transactions(s)
	r.add(32, each == 0, "0", label+": transactions a second while nobody uses the server", fmt.Sprintf("%.2f", each))
}

// waitersOfSites measures the transactions of a server while a client waits in each of many sites.
func (r *run) waitersOfSites(s *server) {
	const most, mostWaiters = 15, 1000
	n := min(mostWaiters, r.sites)
	for i, client := range r.wires(s, n) {
		path := below(copied(r.sites-1-i), api+"/events?wait=5m&since=now")
		askAll([]wire{client}, message(http.MethodGet, path, nil))
	}
	s.waitFor(n)
	each := r.transactions(s)
	r.add(32, each <= most, fmt.Sprintf("<= %d", most),
		fmt.Sprintf("transactions a second while %d clients wait in as many sites", n), fmt.Sprintf("%.1f", each))
}

// cpu returns the time that the processors have worked for the server and all processes of Postgres.
func (r *run) cpu(s *server) (all time.Duration) {
	const tick = time.Second / 100 // of Linux
	postmaster := parentOf(int(s.number("SELECT pg_backend_pid()")))
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	must("list processes", err)
	for _, file := range stats {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		_, rest, _ := strings.Cut(string(text), ") ")
		fields := strings.Fields(rest) // the third one of the file and those after it
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if pid != s.process.Process.Pid && pid != postmaster && fields[1] != strconv.Itoa(postmaster) {
			continue
		}
		for _, field := range fields[11:13] { // of the user and the system
			n, _ := strconv.Atoi(field)
			all += time.Duration(n) * tick
		}
	}
	return all
}

// parentOf returns the parent of a process.
func parentOf(pid int) int {
	parent, err := strconv.Atoi(valueOf(fmt.Sprintf("/proc/%d/status", pid), "PPid"))
	must("find the process of Postgres", err)
	return parent
}

// listOfSites measures the processors' work for the list of failing sites.
func (r *run) listOfSites(label string, s *server) {
	if !r.hasProc(32) {
		return
	}
	const limit = 20 * time.Millisecond
	requests := r.turns(500)
	for _, query := range []string{"?status=failure&limit=100", "?limit=100", "?sort=status&limit=100"} {
		path := "/sites" + query
		s.get(path)
		before := r.cpu(s)
		took := medianTime(requests, func(int) { s.get(path) })
		each := (r.cpu(s) - before) / time.Duration(requests)
		most, what := limit, label+": CPU of the server and Postgres for GET "+path
		if !strings.Contains(query, "failure") {
			most = 0
		}
		r.within(32, each, most, what)
		r.infof(32, "the same, from request to answer", "%s", short(took))
	}
}

// memoryOfSites measures the memory that open sites take, with what caches keep of them: after the status of each, and
// after a change in each.
func (r *run) memoryOfSites(database string) {
	const most, open, warm = 20.0, 4096, 256 // KiB; the server keeps no more open
	if !r.hasProc(32) {
		return
	}
	n := min(open-warm, r.sites/2)
	visits := []struct {
		what  string
		limit float64
		visit func(s *server) func(site string)
	}{
		{"its status was read", most, func(s *server) func(string) {
			return func(site string) { s.get(below(site, latest+"/status")) }
		}},
		{"its buckets were listed", 0, func(s *server) func(string) {
			return func(site string) { s.get(below(site, api+"/buckets")) }
		}},
		{"one document was put", 0, (*server).changer},
	}
	for i, v := range visits {
		r.part(func(r *run) {
			s := r.startOn(fmt.Sprintf("opened-%d", i), database, allValidations(), "--memory=2GiB")
			visit := v.visit(s)
			for i := range min(warm, r.sites/2) { // what the first requests take is not counted
				visit(copied(i))
			}
			calm, heap := r.calm(s), r.heap(s)
			for i := range n {
				visit(copied(r.sites - 1 - i))
			}
			each := (r.calm(s) - calm) * 1024 / float64(n)
			live := (r.heap(s) - heap) / 1024 / float64(n)
			what := fmt.Sprintf("memory of each of %d open sites after %s, with what caches keep of it, KiB", n, v.what)
			measured := fmt.Sprintf("%.1f of the heap, %.1f resident", live, each)
			if v.limit == 0 {
				r.infof(32, what, "%s", measured)
			} else {
				r.add(32, live <= v.limit, fmt.Sprintf("<= %g", v.limit), what, measured)
			}
		})
	}
}

// heap returns the least number of bytes of the heap in use while garbage is made and collected.
func (r *run) heap(s *server) (least float64) {
	for i := range r.turns(1000) { // each makes some garbage
		text := string(s.fetch(http.MethodGet, "/metrics", nil))
		_, rest, _ := strings.Cut(text, "\ngo_memstats_heap_alloc_bytes ")
		line, _, _ := strings.Cut(rest, "\n")
		bytes, err := strconv.ParseFloat(line, 64)
		must("read the size of the heap", err)
		if i == 0 || bytes < least {
			least = bytes
		}
	}
	return least
}

// tableOfFleet measures row 34: what many sites take and how long requests to one of them do, beside one site.
func (r *run) tableOfFleet(empty int64, one, many *server) {
	if !r.wants(34) {
		return
	}
	const mib = 1 << 20
	documents := r.sites * documentsOfSite
	label := fmt.Sprintf("%d documents in %d sites", documents, r.sites)
	size := many.size() - empty
	r.infof(34, label+": bytes of the database", "%.0f MiB, %.2f KiB for each document", float64(size)/mib,
		float64(size)/1024/float64(documents))
	r.infof(34, "one site: bytes of the database when empty", "%.1f MiB", float64(empty)/mib)
	n := min(r.turns(often), r.sites/2)
	inOne, inMany := one.changer(), many.changer()
	took := series{}
	for range r.rounds {
		for range n {
			site := copied(r.sites - 1 - rand.IntN(r.sites/2)) //nolint:gosec // any that does not fail
			took.time("PUT of one document, many", func() { inMany(site) })
			took.time("PUT of one document, one", func() { inOne(model) })
			for _, side := range []struct {
				name string
				*server
				site string
			}{{"many", many, site}, {"one", one, model}} {
				for _, path := range []struct{ what, path string }{
					{"GET of the status", latest + "/status"},
					{"the same again", latest + "/status"},
					{"first GET of the rendered documents", latest + "/rendered-documents"},
					{"next GET of the rendered documents", latest + "/rendered-documents"},
				} {
					took.time(path.what+", "+side.name, func() { side.get(below(side.site, path.path)) })
				}
			}
		}
	}
	for _, what := range []string{
		"PUT of one document", "GET of the status", "the same again", "first GET of the rendered documents",
		"next GET of the rendered documents",
	} {
		of, beside := took[what+", many"], took[what+", one"]
		r.atMost(34, of.over(beside), 0, label+", a site at random, to one site: "+what, "%s, %s", of, beside)
	}
}
