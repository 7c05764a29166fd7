package store_test

import (
	"net"
	"net/url"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"purser/internal/document"
	"purser/internal/revisions"
	"purser/internal/store/storetest"
)

// proxy passes what a client and Postgres say to each other, and counts how often the client begins to speak after the
// server did: each time it has waited for an answer.
type proxy struct {
	network, address string // of the server

	mu       sync.Mutex
	lost     *bool // what the connections made now carry is swallowed
	answered bool  // the server spoke last
	trips    int
	turns    int // how often the one began to speak after the other
	cut      int // the turn at which the connection is cut, 0 for none
}

// startProxy returns a proxy before a database, and the database's connection string through it.
func startProxy(t *testing.T, conn string) (p *proxy, through string) {
	t.Helper()
	config, err := pgx.ParseConfig(conn)
	if err != nil {
		t.Fatal(err)
	}
	p = &proxy{answered: true, lost: new(bool)}
	p.network, p.address = pgconn.NetworkAddress(config.Host, config.Port)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	group.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			group.Go(func() { p.serve(t, client) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		group.Wait()
	})
	u := url.URL{
		Scheme: "postgres", User: url.UserPassword(config.User, config.Password), Host: listener.Addr().String(),
		Path: "/" + config.Database, RawQuery: "sslmode=disable&pool_max_conns=1",
	}
	return p, u.String()
}

func (p *proxy) serve(t *testing.T, client net.Conn) {
	t.Helper()
	defer client.Close()
	server, err := net.Dial(p.network, p.address)
	if err != nil {
		t.Error(err)
		return
	}
	defer server.Close()
	p.mu.Lock()
	lost := p.lost
	p.mu.Unlock()
	var group sync.WaitGroup
	group.Go(func() { p.pass(server, client, false, lost) })
	group.Go(func() { p.pass(client, server, true, lost) })
	group.Wait()
}

// swallow loses all that the connections carry from now on, as a network does that has lost a host. New connections
// are passed on.
func (p *proxy) swallow() {
	p.mu.Lock()
	defer p.mu.Unlock()
	*p.lost, p.lost = true, new(bool)
}

// pass hands on what one side says, and ends both connections with it.
func (p *proxy) pass(to, from net.Conn, isAnswer bool, lost *bool) {
	defer to.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 && !p.count(isAnswer, lost) {
			if p.isCut() {
				return
			}
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// count counts what is passed on, and reports whether it is lost.
func (p *proxy) count(isAnswer bool, lost *bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if *lost {
		return true
	}
	if !isAnswer && p.answered {
		p.trips++
	}
	if isAnswer != p.answered {
		p.turns++
	}
	p.answered = isAnswer
	return false
}

// isCut reports whether the turn has come at which the connection is cut.
func (p *proxy) isCut() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cut > 0 && p.turns >= p.cut
}

// taken returns the number of turns so far.
func (p *proxy) taken() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.turns
}

// during returns how many round trips some work takes.
func (p *proxy) during(work func()) int {
	p.mu.Lock()
	before := p.trips
	p.mu.Unlock()
	work()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.trips - before
}

// A change is read in one round trip, or two, and appended in two, audit included.
func TestService_Put_roundTrips(t *testing.T) {
	t.Parallel()
	direct := storetest.URL(t)
	p, through := startProxy(t, direct)
	s := changing(openStore(t, through, defaults()))
	change := func(body string) func() {
		return func() {
			event := revisions.AuditEvent{UserID: "u", Method: "PUT", Target: "/", Status: 200}
			options := revisions.Options{Audit: &event}
			if _, err := s.Put(t.Context(), "a", []byte(body), document.YAML, options); err != nil {
				t.Fatal(err)
			}
		}
	}
	put(t, open(t, direct), "schemas", widgetSchema)
	for n := range 2 {
		bodies := func(w1, w2 int) string { return widget("w1", 10*n+w1) + widget("w2", 10*n+w2) + widget("w3", 0) }
		change(bodies(1, 1))()
		for _, c := range []struct {
			name string
			body string
			max  int
		}{
			{"nothing changed", bodies(1, 1), 1},
			{"one document changed", bodies(1, 2), 3},
			{"one document changed back to contents that are known", bodies(1, 1), 4},
			{"one document added", bodies(1, 1) + widget("w4", 10*n+3), 3},
			{"one document removed", bodies(1, 1), 4},
			{"nothing left", "", 4},
		} {
			trips := p.during(change(c.body))
			if n > 0 && trips > c.max { // the first time statements are prepared
				t.Errorf("%s: %d round trips, want at most %d", c.name, trips, c.max)
			}
		}
	}
}
