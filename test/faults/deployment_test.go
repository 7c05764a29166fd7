//go:build linux

package faults_test

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// deployment is two servers on one database, and the sites that clients use there.
type deployment struct {
	db      *postgres // replaced by failovers and rewinds
	servers []*server
	proxies []*proxy // one for each server
	token   string
	http    *http.Client
	bound   time.Duration // how long a request may take
	sites   []*site       // the first is the default site
	lost    []evidences   // of replaced databases
}

// newDeployment starts two servers on a database, each through a proxy of its own, and makes sites.
func newDeployment(t *testing.T, program string, db *postgres, sites int) *deployment {
	t.Helper()
	var proxies []*proxy
	var urls []string
	for _, name := range []string{"a", "b"} {
		p := newProxy(t, db.address())
		proxies, urls = append(proxies, p), append(urls, url("purser", name, p.address()))
	}
	return newDeploymentOn(t, program, db, proxies, urls, sites)
}

func newDeploymentOn(t *testing.T, program string, db *postgres, proxies []*proxy, urls []string, sites int) *deployment {
	t.Helper()
	tokens, token := makeToken(t, program)
	d := &deployment{db: db, proxies: proxies, token: token, bound: bound, sites: newSites(sites), http: &http.Client{
		Transport: &http.Transport{MaxIdleConnsPerHost: 64}, Timeout: 100 * time.Second,
	}}
	for _, database := range urls {
		server := newServer(t, program, tokens, database)
		server.start(t)
		server.ready(t) // one after the other, because the first one migrates
		d.servers = append(d.servers, server)
	}
	t.Cleanup(func() {
		d.http.CloseIdleConnections()
		for _, server := range d.servers {
			if server.running() { // a restarted server is killed by its own cleanup
				server.stop(t)
			}
		}
	})
	d.makeSites(t)
	return d
}

// makeSites makes all sites but the default one, which exists.
func (d *deployment) makeSites(t *testing.T) {
	t.Helper()
	c := d.client()
	c.below = "/sites/"
	for _, s := range d.sites[1:] {
		status, _, text, err := c.exchange(request{method: http.MethodPut, path: s.name, body: "{}"})
		if err != nil || status != http.StatusCreated {
			t.Fatalf("make the site %s: %d %s, %v", s.name, status, text, err)
		}
	}
}

// client returns a client of the default site.
func (d *deployment) client() *client { return d.clientOf(d.sites[0]) }

func (d *deployment) clientOf(s *site) *client {
	c := &client{
		history: s.history, site: s.name, below: s.prefix() + "/api/v1.0/", pause: s.pause, token: d.token, http: d.http,
		bound: d.bound, last: map[int]string{},
	}
	for _, server := range d.servers {
		c.urls = append(c.urls, server.url)
	}
	return c
}

// each calls do for all sites at once. It ends the test if one of the calls did.
func (d *deployment) each(t *testing.T, do func(*site)) {
	t.Helper()
	var busy sync.WaitGroup
	var returned atomic.Int64
	for _, s := range d.sites {
		busy.Go(func() {
			do(s)
			returned.Add(1)
		})
	}
	if busy.Wait(); int(returned.Load()) < len(d.sites) {
		t.FailNow()
	}
}

// round purges the sites, lets clients work while happens runs, and then checks everything that they saw.
func (d *deployment) round(t *testing.T, what string, before time.Duration, happens func()) {
	t.Helper()
	for _, problem := range d.try(t, what, before, happens) {
		t.Error(problem)
	}
	if t.Failed() {
		for _, s := range d.sites {
			if s.isDefault() || len(s.history.problems) > 0 {
				t.Logf("the history of the site %s is in %s", s.name, s.history.dump())
			}
		}
		for i, server := range d.servers {
			t.Logf("server %d said last:\n%s", i, server.said)
		}
		t.FailNow()
	}
}

// try is round, but returns the problems.
func (d *deployment) try(t *testing.T, what string, before time.Duration, happens func()) (problems []string) {
	t.Helper()
	d.empty(t)
	d.lost = nil
	began := time.Now()
	for _, s := range d.sites {
		s.history = newHistory(s.name, s.history, began)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var busy sync.WaitGroup
	for _, s := range d.sites {
		for range s.clients {
			busy.Go(func() { d.clientOf(s).act(ctx) })
		}
	}
	time.Sleep(before)
	happens()
	time.Sleep(before)
	cancel()
	busy.Wait()
	d.readAll(t)
	found := d.evidence(t)
	d.each(t, func(s *site) { s.history.check(found.of(s.name)) })
	for _, s := range d.sites {
		for _, problem := range s.history.problems {
			problems = append(problems, "site "+s.name+": "+problem)
		}
	}
	n := d.count()
	slowest, took := d.slowest()
	t.Logf("%s, %d sites: %d answered, %d refused, %d uncertain; slowest %s %v", what, len(d.sites), n[answered], n[undone],
		n[uncertain], slowest, took.Round(time.Millisecond))
	return problems
}

// count returns the numbers of operations of all sites, indexed by outcome.
func (d *deployment) count() (counts [3]int) {
	for _, s := range d.sites {
		for outcome, n := range s.history.count() {
			counts[outcome] += n
		}
	}
	return counts
}

func (d *deployment) slowest() (slowest string, took time.Duration) {
	for _, s := range d.sites {
		for _, name := range slices.Sorted(maps.Keys(s.history.slowest)) {
			if d := s.history.slowest[name]; d > took {
				slowest, took = strings.TrimPrefix(s.prefix()+" "+name, " "), d
			}
		}
	}
	return slowest, took
}

// empty waits until both servers are ready, and purges the sites.
func (d *deployment) empty(t *testing.T) {
	t.Helper()
	for _, server := range d.servers {
		server.ready(t)
	}
	d.each(t, func(s *site) {
		c := d.clientOf(s)
		eventually(t, "the site is purged", func() bool {
			status, _, _, err := c.exchange(request{method: http.MethodDelete, path: "revisions"})
			return err == nil && status == http.StatusNoContent
		})
	})
}

// readAll reads the final state of a round from each server.
func (d *deployment) readAll(t *testing.T) {
	t.Helper()
	for _, server := range d.servers {
		server.ready(t)
		d.each(t, func(s *site) {
			c := d.clientOf(s)
			c.urls = []string{server.url}
			sure := func(r request) {
				eventually(t, r.path, func() bool { return c.send(r) == answered })
			}
			sure(request{method: http.MethodGet, path: "revisions?limit=1000000", in: input{kind: list}})
			all := s.history.operations[len(s.history.operations)-1].out.list
			sure(request{method: http.MethodGet, path: "revisions/latest/documents", in: input{kind: readLatest}})
			for _, r := range all[max(0, len(all)-s.read):] {
				sure(documentsOf(r.number))
				sure(notesOf(r.number, "validations"))
				sure(notesOf(r.number, "tags"))
			}
		})
	}
}

// evidence returns the evidence in all databases, including replaced ones.
func (d *deployment) evidence(t *testing.T) evidences {
	t.Helper()
	all := d.db.evidence(t)
	for _, lost := range d.lost {
		for site, e := range lost {
			into := all.of(site)
			maps.Copy(into.made, e.made)
			maps.Copy(into.audited, e.audited)
			maps.Copy(into.rows, e.rows)
		}
	}
	return all
}
