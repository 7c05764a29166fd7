//go:build linux

package faults_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// pair is a deployment on a primary and a standby. The servers' URL has both hosts.
type pair struct {
	*deployment
	standby     *postgres
	replication *proxy   // from the primary to the standby
	toPrimary   []*proxy // one for each server
}

// newPair creates a pair. With a synchronous standby, the primary waits for it before it acknowledges a commit.
func newPair(t *testing.T, synchronous bool, sites int) *pair {
	t.Helper()
	primary := newPostgres(t)
	p := &pair{replication: newProxy(t, primary.address())}
	p.standby = newStandby(t, primary, p.replication)
	if synchronous {
		primary.do(t, "ALTER SYSTEM SET synchronous_standby_names = '*'")
		primary.do(t, "SELECT pg_reload_conf()")
	}
	var urls []string
	var proxies []*proxy
	for _, name := range []string{"a", "b"} {
		first, second := newProxy(t, primary.address()), newProxy(t, p.standby.address())
		p.toPrimary, proxies = append(p.toPrimary, first), append(proxies, first, second)
		urls = append(urls, url("purser", name, first.address(), second.address()))
	}
	p.deployment = newDeploymentOn(t, purser(t), primary, proxies, urls, sites)
	return p
}

// fail promotes a standby that has all changes. The primary stops answering if vanishes is set, or is killed. It
// returns how long after the promotion both servers were ready, and how long after that both had made a change.
func (p *pair) fail(t *testing.T, vanishes bool) (ready, changed time.Duration) {
	t.Helper()
	primary := p.db
	if vanishes {
		for _, proxy := range p.toPrimary {
			proxy.swallow()
		}
		p.replication.swallow()
		time.Sleep(time.Second)
	} else {
		primary.stop(t, syscall.SIGKILL)
	}
	p.standby.promote(t)
	p.db = p.standby
	for _, server := range p.servers {
		ready = max(ready, server.ready(t))
	}
	began := time.Now()
	for _, server := range p.servers {
		c := p.client()
		c.urls = []string{server.url}
		const attempts = 100
		for n := 0; n < attempts && c.send(c.put(false)) != answered; n++ {
			time.Sleep(10 * time.Millisecond)
		}
	}
	changed = time.Since(began)
	primary.stop(t, syscall.SIGKILL)
	for _, proxy := range p.toPrimary {
		proxy.leave()
	}
	return ready, changed
}

// A promoted synchronous standby has all changes.
func TestPromotion_synchronous(t *testing.T) {
	t.Parallel()
	for range *times {
		for what, vanishes := range map[string]bool{"the primary is killed": false, "the primary vanishes": true} {
			p := newPair(t, true, *sites)
			if vanishes {
				// The proxy swallows requests to the primary, so an append only ends at its deadline, a minute. Other changes of
				// that server wait behind it.
				p.bound = 80 * time.Second
			}
			var again worst
			p.round(t, what, time.Second, func() {
				ready, changed := p.fail(t, vanishes)
				again.add(t, "ready after a promotion", ready)
				t.Logf("%s: ready %v after the promotion, changes on both servers %v later", what, ready, changed)
			})
		}
	}
}

// While the synchronous standby cannot be reached, clients give up and retry. A retry must not be answered from an
// unacknowledged change, which the standby lacks.
func TestPromotion_afterGivingUp(t *testing.T) {
	t.Parallel()
	for range *times {
		p := newPair(t, true, 1)
		p.sites[0].clients = 0
		p.round(t, "clients give up", 0, func() {
			c := p.client()
			c.urls = c.urls[:1]
			eventually(t, "a PUT", func() bool { return c.send(putOf(c.newID(), 0, "d0-0=k1")) == answered })
			p.replication.swallow()
			c.http = &http.Client{Timeout: time.Second}
			for range 3 {
				if c.send(putOf(c.newID(), 0, "d0-0=k2")) == answered {
					t.Error("a change is acknowledged without a standby")
				}
			}
			p.fail(t, false)
		})
	}
}

// A promoted asynchronous standby may lack the last changes, and nothing else.
func TestPromotion_asynchronous(t *testing.T) {
	t.Parallel()
	for range *times {
		p := newPair(t, false, *sites)
		p.round(t, "asynchronous failover", time.Second, func() {
			p.replication.leave()
			time.Sleep(500 * time.Millisecond)
			p.lose(t, func() {
				p.standby.promote(t)
				p.db = p.standby
			})
		})
		lost, kept := 0, p.db.evidence(t)
		for site, e := range p.lost[0] {
			for id := range e.made {
				if _, is := kept.of(site).made[id]; !is {
					lost++
				}
			}
		}
		t.Logf("%d revisions were lost or deleted", lost)
	}
}

// A server that freezes while it holds the row of a site keeps others waiting until Postgres ends its transaction, but
// only those who change that site.
func TestFrozen_server(t *testing.T) {
	t.Parallel()
	d := newDeployment(t, purser(t), newPostgres(t), *sites)
	var waits worst
	for range *times {
		d.bound = time.Minute // for requests to the frozen server
		d.round(t, "a frozen server", time.Second, func() {
			freezeInTransaction(t, d)
			changeOther(t, d)
			other, began := d.client(), time.Now()
			other.urls = []string{d.servers[1].url}
			for _, r := range []request{other.put(false), other.changeSet(), other.rollback()} {
				eventually(t, r.path, func() bool { return other.send(r) == answered })
			}
			waits.add(t, "a change on the other server", time.Since(began))
			time.Sleep(time.Second)
			d.servers[0].signal(syscall.SIGCONT)
		})
	}
	t.Logf("%d freezes; the other server's changes took at most %v", waits.n, waits.longest)
}

// freezeInTransaction stops the first server while it holds the row of the default site.
func freezeInTransaction(t *testing.T, d *deployment) {
	t.Helper()
	eventually(t, "a server is frozen while it holds the row of the default site, and no other", func() bool {
		d.servers[0].signal(syscall.SIGSTOP)
		time.Sleep(30 * time.Millisecond) // time for pending answers to arrive
		if holdsRow(t, d) {
			return true
		}
		d.servers[0].signal(syscall.SIGCONT)
		time.Sleep(10 * time.Millisecond)
		return false
	})
}

// changeOther changes another site while the first server is frozen. If Postgres ends the transaction of that before the
// change is answered, which may be because the machine is busy, it tries again.
func changeOther(t *testing.T, d *deployment) {
	t.Helper()
	const tries = 4
	for range tries {
		if len(d.sites) == 1 {
			return
		}
		c := d.clientOf(d.sites[1])
		c.urls = []string{d.servers[1].url}
		eventually(t, "a PUT in another site", func() bool { return c.send(c.put(false)) == answered })
		if holdsRow(t, d) {
			return
		}
		d.servers[0].signal(syscall.SIGCONT)
		freezeInTransaction(t, d)
	}
	t.Error("changes of other sites wait for a frozen server")
}

// holdsRow reports whether the first server holds the row of the default site, and no other, and does nothing.
func holdsRow(t *testing.T, d *deployment) (holds bool) {
	t.Helper()
	d.db.do(t, `SELECT coalesce(string_agg(s.site, ' ') = 'default', false) FROM pg_stat_activity a
		JOIN sites s ON s.xmax = a.backend_xid
		WHERE a.application_name = 'a' AND a.state = 'idle in transaction'`, &holds)
	return holds
}

// The network between servers and database breaks, is slow, and stalls.
func TestNetwork(t *testing.T) {
	t.Parallel()
	d := newDeployment(t, purser(t), newPostgres(t), *sites)
	var again worst
	for range *times {
		d.bound = 75 * time.Second // an append without an answer ends after a minute
		d.round(t, "a bad network", time.Second, func() {
			for range 5 {
				for _, p := range d.proxies {
					p.cut()
				}
				time.Sleep(200 * time.Millisecond)
			}
			d.proxies[0].set(func(p *proxy) { p.delay = 50 * time.Millisecond })
			time.Sleep(time.Second)
			d.proxies[0].set(func(p *proxy) { p.delay = 0; p.hold = true })
			time.Sleep(2 * time.Second)
			d.proxies[0].set(func(p *proxy) { p.hold = false }) // everything arrives late
			time.Sleep(500 * time.Millisecond)
			d.proxies[1].swallow()
			for range 3 {
				if d.servers[1].isReady(t) {
					t.Error("the server is ready without a database")
				}
			}
			d.proxies[1].pass()
			again.add(t, "ready after an outage", d.servers[1].ready(t))
		})
	}
	t.Logf("%d outages; ready again after at most %v", again.n, again.longest)
}

// Servers answer 503 while the disk is full, and recover as soon as there is room.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(directory(t), "disk")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=150m"); err != nil {
		t.Skipf("a small file system cannot be mounted: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	own(t, dir)
	db := &postgres{data: filepath.Join(dir, "data"), port: freePort(t), settings: []string{
		"max_wal_size=8MB", "min_wal_size=2MB", "wal_keep_size=0",
	}}
	db.initialise(t)
	d := newDeployment(t, purser(t), db, *sites)
	var again worst
	for range *times {
		d.round(t, "a full disk", time.Second, func() {
			fill(t, filepath.Join(dir, "filler"))
			time.Sleep(3 * time.Second)
			if err := os.Remove(filepath.Join(dir, "filler")); err != nil {
				t.Fatal(err)
			}
			db.ready(t)
			for _, server := range d.servers {
				again.add(t, "ready with room on the disk", server.ready(t))
			}
		})
	}
	t.Logf("%d times full; ready at most %v after there was room", again.n/2, again.longest)
}

// fill writes a file until the disk is full.
func fill(t *testing.T, path string) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, size := range []int{1 << 20, 4 << 10} {
		for err = nil; err == nil; {
			_, err = file.Write(make([]byte, size))
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
	}
}

// Two servers share fewer connections than they would use.
func TestFewConnections(t *testing.T) {
	t.Parallel()
	d := newDeployment(t, purser(t), newPostgres(t, "max_connections=10"), *sites)
	for range *times {
		d.round(t, "7 connections for two servers", 2*time.Second, func() {})
		if n := d.count(); n[undone]+n[uncertain] > n[answered]/20 {
			t.Errorf("%d of %d requests were not answered", n[undone]+n[uncertain], n[answered])
		}
	}
}

// A pooler works in transaction mode if the URL sets default_query_exec_mode, and in session mode if it has enough
// sessions.
func TestPgbouncer(t *testing.T) {
	t.Parallel()
	path, err := exec.LookPath("pgbouncer")
	if err != nil {
		t.Skip("pgbouncer is not installed: apt-get install pgbouncer")
	}
	for _, c := range []struct{ settings, query string }{
		{"pool_mode = transaction\ndefault_pool_size = 6", "&default_query_exec_mode=cache_describe"},
		{"pool_mode = session\ndefault_pool_size = 60", ""},
	} {
		pgbouncer(t, path, c.settings, c.query)
	}
}

func pgbouncer(t *testing.T, path, settings, query string) {
	t.Helper()
	db := newPostgres(t)
	port := freePort(t)
	config := filepath.Join(directory(t), "pgbouncer.ini")
	if err := os.WriteFile(config, fmt.Appendf(nil, `[databases]
postgres = host=127.0.0.1 port=%d user=purser
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
%s
max_client_conn = 200
server_login_retry = 1
`, db.port, port, settings), 0o644); err != nil {
		t.Fatal(err)
	}
	bouncer := run(t, program(t, path, "-q", config), syscall.SIGKILL)
	var urls []string
	var proxies []*proxy
	for _, name := range []string{"a", "b"} {
		p := newProxy(t, "127.0.0.1:"+strconv.Itoa(port))
		proxies, urls = append(proxies, p), append(urls, url("purser", name, p.address())+query)
	}
	d := newDeploymentOn(t, purser(t), db, proxies, urls, *sites)
	what, _, _ := strings.Cut(settings, "\n")
	var again worst
	for range *times {
		d.round(t, what, time.Second, func() {
			bouncer.kill()
			bouncer = run(t, program(t, path, "-q", config), syscall.SIGKILL)
			for _, server := range d.servers {
				again.add(t, "ready after pgbouncer was started again", server.ready(t))
			}
			time.Sleep(500 * time.Millisecond)
			killPostgres(t, d)
			for _, server := range d.servers {
				again.add(t, "ready with the database up behind pgbouncer", server.ready(t))
			}
		})
	}
	t.Logf("%s: ready again after at most %v", what, again.longest)
}
