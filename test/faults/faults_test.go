//go:build linux

// Package faults_test lets clients write to two servers while servers and databases are killed, frozen, cut off, filled
// up and rewound. Everything that the clients saw must follow a simple model (model_test.go), acknowledged changes must
// exist, and no request may hang.
//
// Several sites have faults at the same time, so the bounds of the times to recover are those of a busy machine. Without
// flags each fault occurs once, which takes two minutes; `make faults` repeats each -times times.
package faults_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

var times = flag.Int("times", 1, "how often each fault comes")

// programs is the directory of the built programs.
var programs string

func TestMain(m *testing.M) {
	flag.Parse()
	clearAbandoned()
	var err error
	if programs, err = os.MkdirTemp("", prefix); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(programs)
	os.Exit(code)
}

// purser returns the path of the server.
func purser(t *testing.T) string {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// worst keeps the longest of several durations, and checks each of them.
type worst struct {
	longest time.Duration
	n       int
}

func (w *worst) add(t *testing.T, what string, d time.Duration) {
	t.Helper()
	const most = 15 * time.Second
	w.longest = max(w.longest, d)
	if w.n++; d > most {
		t.Errorf("%s took %v, want at most %v", what, d, most)
	}
}

func TestKill_servers(t *testing.T) {
	t.Parallel()
	s := newSite(t, purser(t), newPostgres(t))
	const each = 6
	var starts worst
	for range *times {
		s.round(t, "kill -9 of servers", time.Second, func() {
			for range each {
				server := s.servers[rand.N(2)]
				server.crash(t)
				server.start(t)
				starts.add(t, "a start", server.ready(t))
				time.Sleep(rand.N(300 * time.Millisecond))
			}
		})
	}
	t.Logf("%d kills; ready again after at most %v", starts.n, starts.longest)
}

func TestKill_postgres(t *testing.T) {
	t.Parallel()
	s := newSite(t, purser(t), newPostgres(t))
	var again worst
	for range *times {
		s.round(t, "kill -9 and stops of Postgres", time.Second, func() {
			for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGINT, syscall.SIGKILL, syscall.SIGQUIT} {
				s.db.stop(t, signal)
				time.Sleep(rand.N(500 * time.Millisecond))
				s.db.start(t)
				s.db.ready(t)
				for _, server := range s.servers {
					again.add(t, "ready with the database up", server.ready(t))
				}
				time.Sleep(rand.N(time.Second))
			}
		})
	}
	t.Logf("%d times down; ready at most %v after the database was up", again.n/2, again.longest)
}

// lose stops the database during requests, and lets back replace it with an earlier state.
func (s *site) lose(t *testing.T, back func()) {
	t.Helper()
	began := s.history.now()
	s.db.stop(t, syscall.SIGKILL)
	for _, p := range s.proxies {
		p.leave()
	}
	s.db.start(t) // unreachable for the servers
	s.db.ready(t)
	s.lost = append(s.lost, s.db.evidence(t))
	s.db.stop(t, syscall.SIGINT)
	back()
	found := s.db.found(t)
	s.history.add(operation{in: input{kind: rewind, found: found}, call: began, end: s.history.now()})
	for _, p := range s.proxies {
		p.set(func(p *proxy) { p.target = s.db.address() })
		p.pass()
	}
}

// restore copies the data directory, calls between, and then makes the copy the database.
func restore(t *testing.T, s *site, between func()) {
	t.Helper()
	saved := &postgres{data: filepath.Join(directory(t), "data"), port: freePort(t)}
	s.db.copyTo(t, s.db.address(), saved.data)
	between()
	s.lose(t, func() {
		s.db = saved
		s.db.start(t)
		s.db.ready(t)
	})
}

func TestRewind_restore(t *testing.T) {
	t.Parallel()
	s := newSite(t, purser(t), newPostgres(t))
	for range *times {
		s.round(t, "restore of a copy", time.Second, func() {
			restore(t, s, func() { time.Sleep(500 * time.Millisecond) })
		})
	}
}

// The revision that changed a bucket is lost, and another revision with the same number changes the bucket.
func TestRewind_sameNumber(t *testing.T) {
	t.Parallel()
	s := newSite(t, purser(t), newPostgres(t))
	s.clients = 0
	s.round(t, "a number that is used again", 0, func() { sameNumber(t, s) })
}

// sameNumber writes through one server, loses that write, writes through the other, and then through the first again.
func sameNumber(t *testing.T, s *site) {
	t.Helper()
	const first, second = 0, 1
	write := func(server int, text string) {
		t.Helper()
		c := s.client()
		c.urls = []string{s.servers[server].url}
		eventually(t, "a PUT", func() bool { return c.send(putOf(newID(), 0, text)) == answered })
	}
	write(first, "d0-0=k1")
	restore(t, s, func() { write(first, "d0-0=k2 d0-1=k2") })
	write(second, "d0-0=k3")
	write(first, "d0-0=k2 d0-1=k2")
}
