package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Numbers of waiting requests in row 26: to measure the cost of a waiter, and how soon each is answered.
const manyWaiters, someWaiters = 10_000, 1000

// waits measures row 26: the cost of waiting requests, and how soon they are answered.
func (b *bench) waits(ctx context.Context) error {
	many, some := manyWaiters, someWaiters
	if b.smoke {
		many, some = many/100, some/100
	}
	b.sayf("row 26: %d waiters", some)
	if err := b.withWaits(ctx, "waits", func(s *server) error { return b.answers(ctx, s, some) }); err != nil {
		return err
	}
	b.sayf("row 26: changes beside %d waiters", some)
	err := b.withWaits(ctx, "waits_none", func(without *server) error {
		return b.withWaits(ctx, "waits_some", func(with *server) error { return b.postsBeside(ctx, without, with, some) })
	})
	if err != nil {
		return err
	}
	b.sayf("row 26: %d waiters", many)
	if err := b.bareWaits(ctx, many); err != nil {
		return err
	}
	return b.withWaits(ctx, "waits_many", func(s *server) error { return b.endOf(ctx, s, many) })
}

// withWaits calls use with a new server whose revision 1 waits for a result.
func (b *bench) withWaits(ctx context.Context, name string, use func(*server) error) (err error) {
	s, err := b.start(ctx, name, "--max-waits", "20000")
	if err != nil {
		return err
	}
	defer func() { err = s.stop(err) }()
	if err := s.put(ctx, "policy", []byte(waitedPolicy)); err != nil {
		return err
	}
	return use(s)
}

const waitedPolicy = `schema: deckhand/ValidationPolicy/v1
metadata: {schema: metadata/Control/v1, name: p}
data: {validations: [{name: never-validation}]}
`

// crowd is a set of requests that wait, each on a connection of its own.
type crowd struct {
	conns   []net.Conn
	readers []*bufio.Reader
}

func (c *crowd) close() {
	for _, conn := range c.conns {
		_ = conn.Close()
	}
}

// gather opens n connections.
func (s *server) gather(ctx context.Context, n int) (*crowd, error) {
	u, err := url.Parse(s.url)
	if err != nil {
		return nil, fmt.Errorf("read the server's URL: %w", err)
	}
	c := &crowd{}
	for range n {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", u.Host)
		if err != nil {
			c.close()
			return nil, fmt.Errorf("connect: %w", err)
		}
		const answer = 1 << 10
		c.conns, c.readers = append(c.conns, conn), append(c.readers, bufio.NewReaderSize(conn, answer))
	}
	return c, nil
}

// ask sends a request on each connection.
func (c *crowd) ask(path string) error {
	for _, conn := range c.conns {
		if _, err := io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			return fmt.Errorf("ask: %w", err)
		}
	}
	return nil
}

// heard returns the time of each answer, and the last status.
func (c *crowd) heard() (at []time.Time, status int, err error) {
	at = make([]time.Time, len(c.conns))
	failures := make([]error, len(c.conns))
	statuses := make([]int, len(c.conns))
	var all sync.WaitGroup
	for i, reader := range c.readers {
		all.Go(func() {
			if _, failures[i] = reader.Peek(1); failures[i] != nil {
				return
			}
			at[i] = time.Now()
			answer, err := http.ReadResponse(reader, nil)
			if failures[i] = err; err == nil {
				_, failures[i] = io.Copy(io.Discard, answer.Body)
				_ = answer.Body.Close()
				statuses[i] = answer.StatusCode
			}
		})
	}
	all.Wait()
	return at, statuses[0], errors.Join(failures...)
}

// waiting waits until n requests wait.
func (s *server) waiting(ctx context.Context, n int) error {
	for {
		var text strings.Builder
		if err := s.send(ctx, http.MethodGet, "/metrics", nil, &text); err != nil {
			return err
		}
		if strings.Contains(text.String(), fmt.Sprintf("\npurser_waiting_requests %d\n", n)) {
			return nil
		}
		const pause = 20 * time.Millisecond
		time.Sleep(pause)
	}
}

// askForEvents makes all connections wait for the next event after the newest one. It sends a cursor, because a request
// with since=now may count as waiting before it has read the newest event, and then miss the next one.
func (s *server) askForEvents(ctx context.Context, c *crowd) error {
	var text strings.Builder
	if err := s.send(ctx, http.MethodGet, api+"/events?since=now", nil, &text); err != nil {
		return err
	}
	_, rest, _ := strings.Cut(text.String(), "cursor: '")
	cursor, _, found := strings.Cut(rest, "'")
	if !found {
		return fmt.Errorf("no cursor in %q", text.String())
	}
	return c.ask(api + "/events?wait=5m&since=" + cursor)
}

// answers measures how soon waiters are answered, and how much they slow down changes.
func (b *bench) answers(ctx context.Context, s *server, n int) error {
	const posts = 20
	post := func() error { return s.post(ctx, "1", "some-validation", posting) }
	var alone, beside, after []time.Duration
	for range b.rounds {
		c, err := s.gather(ctx, n)
		if err != nil {
			return err
		}
		for range posts {
			took, err := timed(post)
			if err != nil {
				return err
			}
			alone = append(alone, took)
		}
		if err := s.askForEvents(ctx, c); err != nil {
			return err
		}
		if err := s.waiting(ctx, n); err != nil {
			return err
		}
		took, err := timed(post)
		committed := time.Now()
		if err != nil {
			return err
		}
		beside = append(beside, took)
		at, status, err := c.heard()
		if c.close(); err != nil || status != http.StatusOK {
			return fmt.Errorf("answered with %d: %w", status, err)
		}
		for _, t := range at {
			after = append(after, t.Sub(committed))
		}
	}
	slices.Sort(after)
	const percent = 100
	p99 := after[len(after)*99/percent]
	b.add(26, p99 <= 100*time.Millisecond, "<= 100ms", fmt.Sprintf("from a change to the answers of %d waiters, p99", n),
		short(p99))
	b.infof(26, "the same, median", "%s", short(median(after)))
	b.infof(26, "POST a validation that answers them to one while nobody waits", "%.2fx  (%s, %s)",
		ratio(median(beside), median(alone)), short(median(beside)), short(median(alone)))
	return nil
}

// postsBeside measures how much waiters slow down changes that do not answer them. Requests wait on one of two servers,
// each with its own database. Both make the same changes in turns.
func (b *bench) postsBeside(ctx context.Context, without, with *server, n int) error {
	const posts, turnsOfRound = 25, 4
	c, err := with.gather(ctx, n)
	if err != nil {
		return err
	}
	defer c.close()
	if err := c.ask(api + "/revisions/1/status?expect=success&wait=10m"); err != nil {
		return err
	}
	if err := with.waiting(ctx, n); err != nil {
		return err
	}
	var ratios []float64
	for turn := range b.rounds * turnsOfRound {
		order := []*server{without, with}
		if turn%2 == 1 {
			slices.Reverse(order)
		}
		took := map[*server]time.Duration{}
		for _, s := range order {
			took[s], err = medianTime(posts, func(int) error { return s.post(ctx, "1", "some-validation", posting) })
			if err != nil {
				return err
			}
			const settle = 150 * time.Millisecond // so that woken requests do not disturb the other server
			time.Sleep(settle)
		}
		ratios = append(ratios, ratio(took[with], took[without]))
	}
	b.atMost(26, median(ratios), 1.1,
		fmt.Sprintf("POST a validation while %d wait for a status to while nobody waits", n), "latency")
	return nil
}

// calm returns the resident memory in MiB once it stops falling. Memory that requests used is returned to the system
// within seconds.
func (s *server) calm() (float64, error) {
	const interval, patient = time.Second, 5
	least, err := s.resident("VmRSS")
	for same := 0; same < patient && err == nil; same++ {
		time.Sleep(interval)
		var now float64
		if now, err = s.resident("VmRSS"); now < least {
			least, same = now, 0
		}
	}
	return least, err
}

// memoryOf returns the memory that a waiting request takes, in KiB. The requests start one after the other.
func (s *server) memoryOf(ctx context.Context, path string, n int) (each float64, c *crowd, err error) {
	before, err := s.resident("VmRSS")
	if err != nil {
		return 0, nil, err
	}
	c = &crowd{}
	for len(c.conns) < n && err == nil {
		var one *crowd
		if one, err = s.gather(ctx, 1); err == nil {
			c.conns, c.readers = append(c.conns, one.conns...), append(c.readers, one.readers...)
			err = one.ask(path)
		}
	}
	var during float64
	if err == nil {
		if err = s.waiting(ctx, n); err == nil {
			during, err = s.calm()
		}
	}
	if err != nil {
		c.close()
		return 0, nil, err
	}
	return (during - before) * 1024 / float64(n), c, nil
}

// bareWaits measures the memory that a waiting request takes in a bare server.
func (b *bench) bareWaits(ctx context.Context, n int) (err error) {
	s, err := b.startBare(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { err = s.stop(err) }()
	each, c, err := s.memoryOf(ctx, bareWait, n)
	if err != nil {
		return err
	}
	c.close()
	b.infof(26, fmt.Sprintf("memory of each of %d waiters of net/http alone, KiB", n), "%.1f", each)
	return nil
}

// endOf measures the memory that a waiting request takes, and how long the last of many waits after SIGTERM.
func (b *bench) endOf(ctx context.Context, s *server, n int) error {
	each, c, err := s.memoryOf(ctx, api+"/revisions/1/status?expect=success&wait=5m", n)
	if err != nil {
		return err
	}
	defer c.close()
	var used int
	if err := s.db.QueryRow(ctx, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND "+
		"state <> 'idle' AND pid <> pg_backend_pid()").Scan(&used); err != nil {
		return fmt.Errorf("count connections: %w", err)
	}
	b.add(26, each <= 20, "<= 20", fmt.Sprintf("memory of each of %d waiters with its connection, KiB", n),
		fmt.Sprintf("%.1f", each))
	b.add(26, used <= 1, "<= 1", "connections to the database that are in use meanwhile", strconv.Itoa(used))
	began := time.Now()
	if err := s.process.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("end the server: %w", err)
	}
	at, status, err := c.heard()
	if err != nil || status != http.StatusServiceUnavailable {
		return fmt.Errorf("answered with %d: %w", status, err)
	}
	last := slices.MaxFunc(at, time.Time.Compare).Sub(began)
	b.add(26, last <= time.Second, "<= 1s", "from SIGTERM to the last of their answers", short(last))
	return nil
}
