package storetest

import (
	"net"
	"net/url"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Proxy relays data between a client and Postgres, and counts round trips: how often the client sends after the server
// has sent.
type Proxy struct {
	network, address string // of the server

	mu       sync.Mutex
	lost     *bool // data of connections made now is dropped
	answered bool  // the server spoke last
	trips    int
	turns    int // how often the one began to speak after the other
	cut      int // the turn at which the connection is cut, 0 for none
}

// StartProxy returns a proxy before a database, and the database's connection string through it.
func StartProxy(t testing.TB, conn string) (p *Proxy, through string) {
	t.Helper()
	config, err := pgx.ParseConfig(conn)
	if err != nil {
		t.Fatal(err)
	}
	p = &Proxy{answered: true, lost: new(bool)}
	p.network, p.address = pgconn.NetworkAddress(config.Host, config.Port)
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
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

func (p *Proxy) serve(t testing.TB, client net.Conn) {
	t.Helper()
	defer func() { _ = client.Close() }()
	server, err := new(net.Dialer).DialContext(t.Context(), p.network, p.address)
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = server.Close() }()
	p.mu.Lock()
	lost := p.lost
	p.mu.Unlock()
	var group sync.WaitGroup
	group.Go(func() { p.pass(server, client, false, lost) })
	group.Go(func() { p.pass(client, server, true, lost) })
	group.Wait()
}

// Swallow loses all that the connections carry from now on, as a network does that has lost a host. New connections
// are passed on.
func (p *Proxy) Swallow() {
	p.mu.Lock()
	defer p.mu.Unlock()
	*p.lost, p.lost = true, new(bool)
}

// pass relays the data of one side, and closes both connections at its end.
func (p *Proxy) pass(to, from net.Conn, isAnswer bool, lost *bool) {
	defer func() { _ = to.Close() }()
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

// count counts relayed data, and reports whether to drop it.
func (p *Proxy) count(isAnswer bool, lost *bool) bool {
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

// Cut has the connections cut at a turn.
func (p *Proxy) Cut(turn int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = turn
}

// isCut reports whether the turn to cut the connection has been reached.
func (p *Proxy) isCut() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cut > 0 && p.turns >= p.cut
}

// Taken returns the number of turns so far.
func (p *Proxy) Taken() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.turns
}

// During returns the number of round trips that work takes.
func (p *Proxy) During(work func()) int {
	p.mu.Lock()
	before := p.trips
	p.mu.Unlock()
	work()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.trips - before
}
