//go:build linux

package faults_test

import (
	"bytes"
	"net"
	"sync"
	"testing"
	"time"
)

// proxy forwards connections from a server to its database.
type proxy struct {
	listener net.Listener
	mutex    sync.Mutex
	target   string
	pairs    map[net.Conn]net.Conn // connections from the server, each with that to the database, or nil until it is open
	delay    time.Duration         // of each piece of data
	hold     bool                  // data and new connections wait, without an error
	refuse   bool                  // new connections end immediately
	until    []byte                // hold begins with the data that has this text; empty for none
}

// newProxy starts a proxy to an address. It ends with the test.
func newProxy(t *testing.T, target string) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: listener, target: target, pairs: map[net.Conn]net.Conn{}}
	go p.accept()
	t.Cleanup(func() {
		listener.Close()
		p.set(func(p *proxy) { p.hold, p.refuse = false, true })
		p.cut()
	})
	return p
}

func (p *proxy) address() string { return p.listener.Addr().String() }

// set changes the treatment of data and connections from now on.
func (p *proxy) set(change func(p *proxy)) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	change(p)
}

// cut ends all connections.
func (p *proxy) cut() {
	p.set(func(p *proxy) {
		for a, b := range p.pairs {
			a.Close()
			if b != nil {
				b.Close()
			}
		}
		clear(p.pairs)
	})
}

// swallow stops all data without closing connections.
func (p *proxy) swallow() { p.set(func(p *proxy) { p.hold = true }) }

// holdFrom stops all data from the next that has the text.
func (p *proxy) holdFrom(text string) { p.set(func(p *proxy) { p.until = []byte(text) }) }

// holds reports whether data waits.
func (p *proxy) holds() (holds bool) {
	p.set(func(p *proxy) { holds = p.hold })
	return holds
}

// leave ends all connections, and new ones immediately, like a host on which the program is not running.
func (p *proxy) leave() {
	p.set(func(p *proxy) { p.hold, p.refuse = false, true })
	p.cut()
}

// pass ends all connections, with the data that they swallowed, and lets new ones through.
func (p *proxy) pass() {
	p.cut()
	p.set(func(p *proxy) { p.hold, p.refuse = false, false })
}

func (p *proxy) accept() {
	for {
		conn, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.mutex.Lock()
		refuse := p.refuse
		if !refuse {
			p.pairs[conn] = nil
		}
		p.mutex.Unlock()
		if refuse {
			conn.Close()
			continue
		}
		go p.join(conn)
	}
}

func (p *proxy) join(a net.Conn) {
	defer a.Close()
	b, err := net.DialTimeout("tcp", p.wait(), time.Second)
	if err != nil {
		p.set(func(p *proxy) { delete(p.pairs, a) })
		return
	}
	defer b.Close()
	var known bool
	p.set(func(p *proxy) {
		if _, known = p.pairs[a]; known { // not cut since
			p.pairs[a] = b
		}
	})
	if !known {
		return
	}
	var ends sync.WaitGroup
	ends.Go(func() { p.copy(a, b) })
	ends.Go(func() { p.copy(b, a) })
	ends.Wait()
	p.set(func(p *proxy) { delete(p.pairs, a) })
}

// wait waits until data may pass, and returns the address of the database.
func (p *proxy) wait() (target string) {
	for {
		p.mutex.Lock()
		hold, delay, target := p.hold, p.delay, p.target
		p.mutex.Unlock()
		if !hold {
			time.Sleep(delay)
			return target
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (p *proxy) copy(to, from net.Conn) {
	defer to.Close()
	data := make([]byte, 64<<10)
	for {
		n, err := from.Read(data)
		p.set(func(p *proxy) {
			if len(p.until) > 0 && bytes.Contains(data[:n], p.until) {
				p.until, p.hold = nil, true
			}
		})
		p.wait()
		if n > 0 {
			if _, err := to.Write(data[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
