//go:build linux

// Package faults_test lets clients write to two servers while servers and databases are killed, frozen, cut off, filled
// up and rewound. Everything that the clients of a site saw must follow a simple model (model_test.go), acknowledged
// changes must exist, nothing of a site may be in another one, and no request may hang.
//
// Clients use -sites sites: six without pauses the default one, two with pauses each of the others. Tests in which one
// client makes a few requests (TestFrozen_claims, TestRewind_sameNumber, TestPromotion_afterGivingUp) have one site,
// and so have mutants whose faults are not about sites.
//
// Several deployments have faults at the same time, so the bounds of the times to recover are those of a busy machine.
// Without flags each fault occurs once, which takes two minutes; `make faults` repeats each -times times.
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

var (
	times = flag.Int("times", 1, "how often each fault comes")
	sites = flag.Int("sites", 20, "how many sites clients use")
)

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
	const most = 20 * time.Second
	w.longest = max(w.longest, d)
	if w.n++; d > most {
		t.Errorf("%s took %v, want at most %v", what, d, most)
	}
}

func TestKill_servers(t *testing.T) {
	t.Parallel()
	d := newDeployment(t, purser(t), newPostgres(t), *sites)
	const each = 6
	var starts worst
	for range *times {
		d.round(t, "kill -9 of servers", time.Second, func() {
			for range each {
				server := d.servers[rand.N(2)]
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
	d := newDeployment(t, purser(t), newPostgres(t), *sites)
	var again worst
	for range *times {
		d.round(t, "kill -9 and stops of Postgres", time.Second, func() {
			for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGINT, syscall.SIGKILL, syscall.SIGQUIT} {
				d.db.stop(t, signal)
				time.Sleep(rand.N(500 * time.Millisecond))
				d.db.start(t)
				d.db.ready(t)
				for _, server := range d.servers {
					again.add(t, "ready with the database up", server.ready(t))
				}
				time.Sleep(rand.N(time.Second))
			}
		})
	}
	t.Logf("%d times down; ready at most %v after the database was up", again.n/2, again.longest)
}

// lose stops the database during requests, and lets back replace it with an earlier state.
func (d *deployment) lose(t *testing.T, back func()) {
	t.Helper()
	began := d.sites[0].history.now() // the histories of a round begin at the same time
	d.db.stop(t, syscall.SIGKILL)
	for _, p := range d.proxies {
		p.leave()
	}
	d.db.start(t) // unreachable for the servers
	d.db.ready(t)
	d.lost = append(d.lost, d.db.evidence(t))
	d.db.stop(t, syscall.SIGINT)
	back()
	found := d.db.found(t)
	for _, s := range d.sites {
		if found[s.name] == nil {
			t.Fatalf("the site %s is gone", s.name)
		}
		s.history.add(operation{in: input{kind: rewind, found: found[s.name]}, call: began, end: s.history.now()})
	}
	for _, p := range d.proxies {
		p.set(func(p *proxy) { p.target = d.db.address() })
		p.pass()
	}
}

// restore copies the data directory, calls between, and then makes the copy the database.
func restore(t *testing.T, d *deployment, between func()) {
	t.Helper()
	saved := &postgres{data: filepath.Join(directory(t), "data"), port: freePort(t)}
	d.db.copyTo(t, d.db.address(), saved.data)
	between()
	d.lose(t, func() {
		d.db = saved
		d.db.start(t)
		d.db.ready(t)
	})
}

func TestRewind_restore(t *testing.T) {
	t.Parallel()
	d := newDeployment(t, purser(t), newPostgres(t), *sites)
	for range *times {
		d.round(t, "restore of a copy", time.Second, func() {
			restore(t, d, func() { time.Sleep(500 * time.Millisecond) })
		})
	}
}

// The revision that changed a bucket is lost, and another revision with the same number changes the bucket.
func TestRewind_sameNumber(t *testing.T) {
	t.Parallel()
	d := newDeployment(t, purser(t), newPostgres(t), 1)
	d.sites[0].clients = 0
	d.round(t, "a number that is used again", 0, func() { sameNumber(t, d) })
}

// sameNumber writes through one server, loses that write, writes through the other, and then through the first again.
func sameNumber(t *testing.T, d *deployment) {
	t.Helper()
	const first, second = 0, 1
	write := func(server int, text string) {
		t.Helper()
		c := d.client()
		c.urls = []string{d.servers[server].url}
		eventually(t, "a PUT", func() bool { return c.send(putOf(c.newID(), 0, text)) == answered })
	}
	write(first, "d0-0=k1")
	restore(t, d, func() { write(first, "d0-0=k2 d0-1=k2") })
	write(second, "d0-0=k3")
	write(first, "d0-0=k2 d0-1=k2")
}
