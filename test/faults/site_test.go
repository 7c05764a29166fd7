//go:build linux

package faults_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"
)

// site is two servers on one database, and the state of the clients that use them.
type site struct {
	db      *postgres // replaced by failovers and rewinds
	servers []*server
	proxies []*proxy // one for each server
	token   string
	http    *http.Client
	bound   time.Duration // how long a request may take
	clients int           // number of clients in a round
	history *history
	lost    []evidence // evidence in replaced databases
}

// newSite starts two servers on a database, each through a proxy of its own.
func newSite(t *testing.T, program string, db *postgres) *site {
	t.Helper()
	var proxies []*proxy
	var urls []string
	for _, name := range []string{"a", "b"} {
		p := newProxy(t, db.address())
		proxies, urls = append(proxies, p), append(urls, url("purser", name, p.address()))
	}
	return newSiteOn(t, program, db, proxies, urls)
}

func newSiteOn(t *testing.T, program string, db *postgres, proxies []*proxy, urls []string) *site {
	t.Helper()
	tokens, token := makeToken(t, program)
	s := &site{db: db, proxies: proxies, token: token, bound: bound, clients: 6, http: &http.Client{
		Transport: &http.Transport{MaxIdleConnsPerHost: 32}, Timeout: 100 * time.Second,
	}}
	for _, database := range urls {
		server := newServer(t, program, tokens, database)
		server.start(t)
		server.ready(t) // one after the other, because the first one migrates
		s.servers = append(s.servers, server)
	}
	t.Cleanup(func() {
		s.http.CloseIdleConnections()
		for _, server := range s.servers {
			if server.running() { // a restarted server is killed by its own cleanup
				server.stop(t)
			}
		}
	})
	return s
}

func (s *site) client() *client {
	c := &client{history: s.history, token: s.token, http: s.http, bound: s.bound, last: map[int]string{}}
	for _, server := range s.servers {
		c.urls = append(c.urls, server.url)
	}
	return c
}

// round purges the site, lets clients work while happens runs, and then checks everything that they saw.
func (s *site) round(t *testing.T, what string, before time.Duration, happens func()) {
	t.Helper()
	for _, problem := range s.try(t, what, before, happens) {
		t.Error(problem)
	}
	if t.Failed() {
		t.Logf("the history is in %s", s.history.dump())
		for i, server := range s.servers {
			t.Logf("server %d said last:\n%s", i, server.said)
		}
		t.FailNow()
	}
}

// try is round, but returns the problems.
func (s *site) try(t *testing.T, what string, before time.Duration, happens func()) []string {
	t.Helper()
	s.empty(t)
	s.history, s.lost = newHistory(s.history), nil
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var busy sync.WaitGroup
	for range s.clients {
		busy.Go(func() { s.client().act(ctx) })
	}
	time.Sleep(before)
	happens()
	time.Sleep(before)
	cancel()
	busy.Wait()
	s.readAll(t)
	s.history.check(s.evidence(t))
	n := s.history.count()
	t.Logf("%s: %d answered, %d refused, %d uncertain; slowest %s", what, n[answered], n[undone], n[uncertain],
		s.slowest())
	return s.history.problems
}

func (s *site) slowest() string {
	var slowest string
	var most time.Duration
	for _, name := range slices.Sorted(maps.Keys(s.history.slowest)) {
		if d := s.history.slowest[name]; d > most {
			slowest, most = name, d
		}
	}
	return fmt.Sprintf("%s %v", slowest, most.Round(time.Millisecond))
}

// empty waits until both servers are ready, and purges the site.
func (s *site) empty(t *testing.T) {
	t.Helper()
	for _, server := range s.servers {
		server.ready(t)
	}
	s.history = newHistory(s.history)
	c := s.client()
	eventually(t, "the site is purged", func() bool {
		status, _, _, err := c.exchange(request{method: http.MethodDelete, path: "revisions"})
		return err == nil && status == http.StatusNoContent
	})
}

// readAll reads the final state of a round from each server.
func (s *site) readAll(t *testing.T) {
	t.Helper()
	const most = 60 // number of revisions that are read completely
	for _, server := range s.servers {
		server.ready(t)
		c := s.client()
		c.urls = []string{server.url}
		sure := func(r request) {
			eventually(t, r.path, func() bool { return c.send(r) == answered })
		}
		sure(request{method: http.MethodGet, path: "revisions?limit=1000000", in: input{kind: list}})
		all := s.history.operations[len(s.history.operations)-1].out.list
		sure(request{method: http.MethodGet, path: "revisions/latest/documents", in: input{kind: readLatest}})
		for _, r := range all[max(0, len(all)-most):] {
			sure(documentsOf(r.number))
			sure(notesOf(r.number, "validations"))
			sure(notesOf(r.number, "tags"))
		}
	}
}

// evidence returns the evidence in all databases, including replaced ones.
func (s *site) evidence(t *testing.T) evidence {
	t.Helper()
	all := s.db.evidence(t)
	for _, lost := range s.lost {
		maps.Copy(all.made, lost.made)
		maps.Copy(all.audited, lost.audited)
	}
	return all
}

func (p *postgres) evidence(t *testing.T) evidence {
	t.Helper()
	e := evidence{map[string]ref{}, map[string]int64{}}
	p.query(t, "SELECT revision, stamp, coalesce(message, ''), '' FROM revisions",
		func(number, stamp int64, id, _ string) { e.made[id] = ref{number, hex(stamp)} })
	p.query(t, `SELECT coalesce(revision, 0), 0, target, '' FROM audit
		WHERE status < 300 AND at > now() - interval '10 min'`, func(number, _ int64, target, _ string) {
		if id := idPattern.FindString(target); id != "" {
			e.audited[id] = number
		}
	})
	return e
}
