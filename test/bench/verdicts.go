package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
)

// posting is the body that an external validator posts.
var posting = []byte("status: success\nvalidator:\n  name: bench\n  version: 1.0.0\nerrors: []\n")

const (
	createPosted = `CREATE TABLE bench_posted (
		revision bigint, name text, id bigint GENERATED ALWAYS AS IDENTITY, body text NOT NULL,
		PRIMARY KEY (revision, name, id))`
	insertPosted = `INSERT INTO bench_posted (revision, name, body) VALUES ($1, $2, $3)`
	selectPosted = `SELECT body FROM bench_posted WHERE revision = $1 AND name = $2 ORDER BY id DESC LIMIT 1`
)

// entries is the number of results of the revision whose status is requested.
const entries = 1000

// verdicts measures row 6.
func (b *bench) verdicts(ctx context.Context) (err error) {
	b.sayf("row 6: validations by %d clients", b.clients)
	s, err := b.start(ctx, "verdicts")
	if err != nil {
		return err
	}
	defer func() { err = s.stop(err) }()
	c := &chronicle{server: s, site: newSite(small(), b.docs)}
	if err := c.next(ctx); err != nil {
		return err
	}
	if _, err := s.db.Exec(ctx, createPosted); err != nil {
		return fmt.Errorf("create a table to insert into: %w", err)
	}
	if err := b.posts(ctx, s); err != nil {
		return err
	}
	// Each number of names gets its own revision.
	for _, names := range []int{10, entries} {
		if err := c.grow(ctx, 1); err != nil {
			return err
		}
		if err := b.statuses(ctx, c, names); err != nil {
			return err
		}
	}
	return b.summaries(ctx, c)
}

// moreResults is the number of results of the revision whose validations are listed, under tenNames names.
const moreResults, tenNames = 10_000, 10

// insertResults adds some of the results.
const insertResults = `INSERT INTO results (site, revision, name, status, validator, errors, created_at, message)
	SELECT site, revision, name, status, validator, errors, created_at, message FROM results
	CROSS JOIN generate_series(2, $2::bigint / $3) WHERE revision = $1`

// summaries compares the list of validations of a revision with many results to that of a revision with few.
func (b *bench) summaries(ctx context.Context, c *chronicle) error {
	var pair [2]func() error
	for i, results := range []int{tenNames, moreResults} {
		if err := c.grow(ctx, 1); err != nil {
			return err
		}
		revision := strconv.Itoa(c.revision)
		for name := range tenNames {
			if err := c.post(ctx, revision, fmt.Sprintf("validation-%d", name), posting); err != nil {
				return err
			}
		}
		if _, err := c.db.Exec(ctx, insertResults, c.revision, results, tenNames); err != nil {
			return fmt.Errorf("insert: %w", err)
		}
		pair[i] = func() error { return c.get(ctx, api+"/revisions/"+revision+"/validations") }
	}
	if err := vacuum(ctx, c.db); err != nil {
		return err
	}
	return b.compareAll([]compared{{
		row: 6, repeats: often, limit: 1.2, against: pair[0], measured: pair[1],
		what: fmt.Sprintf("GET the validations with %d results of %d names to one of %d results", moreResults, tenNames,
			tenNames),
	}})
}

// storm is the work that concurrent clients got done.
type storm struct {
	each    time.Duration // duration divided by the pieces of work: the inverse of throughput
	latency time.Duration // median
}

// rage lets clients work for b.span, each as fast as it can.
func (b *bench) rage(ctx context.Context, work func(ctx context.Context, client int) error) (storm, error) {
	took := make([][]time.Duration, b.clients)
	began := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	for client := range b.clients {
		group.Go(func() error {
			for time.Since(began) < b.span {
				latency, err := timed(func() error { return work(ctx, client) })
				if err != nil {
					return err
				}
				took[client] = append(took[client], latency)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return storm{}, err
	}
	all := slices.Concat(took...)
	return storm{each: time.Since(began) / time.Duration(len(all)), latency: median(all)}, nil
}

// posts compares posting results with inserting rows.
func (b *bench) posts(ctx context.Context, s *server) error {
	clients, closeAll, err := s.wires(ctx, b.clients)
	if err != nil {
		return err
	}
	defer closeAll()
	request := message(http.MethodPost, api+"/revisions/1/validations/bench", posting)
	type postTurn struct{ post, insert storm }
	turns := make([]postTurn, b.rounds+1)
	for i := range turns {
		turns[i].post, err = b.rage(ctx, func(_ context.Context, client int) error { return clients[client].send(request) })
		if err != nil {
			return err
		}
		turns[i].insert, err = b.rage(ctx, func(ctx context.Context, _ int) error {
			_, err := s.db.Exec(ctx, insertPosted, 1, "bench", string(posting))
			return err //nolint:wrapcheck // wrapped below
		})
		if err != nil {
			return fmt.Errorf("insert: %w", err)
		}
	}
	turns = turns[1:]
	b.atMost(6, medianOf(turns, func(t postTurn) float64 { return ratio(t.post.latency, t.insert.latency) }), 3,
		fmt.Sprintf("POST a validation by %d clients to an insert by %d connections, latency", b.clients, b.clients),
		fmt.Sprintf("%s, %s", short(medianOf(turns, func(t postTurn) time.Duration { return t.post.latency })),
			short(medianOf(turns, func(t postTurn) time.Duration { return t.insert.latency }))))
	b.infof(6, "the same by throughput", "%.2fx  (%.0f/s, %.0f/s)",
		medianOf(turns, func(t postTurn) float64 { return ratio(t.post.each, t.insert.each) }),
		perSecond(medianOf(turns, func(t postTurn) time.Duration { return t.post.each })),
		perSecond(medianOf(turns, func(t postTurn) time.Duration { return t.insert.each })))
	return nil
}

// statuses compares requests for the status of the newest revision with a select, after results under the given number
// of names have been posted.
func (b *bench) statuses(ctx context.Context, c *chronicle, names int) error {
	revision := strconv.Itoa(c.revision)
	for i := range entries {
		name := fmt.Sprintf("validation-%d", i%names)
		if err := c.post(ctx, revision, name, posting); err != nil {
			return err
		}
		if _, err := c.db.Exec(ctx, insertPosted, c.revision, name, string(posting)); err != nil {
			return fmt.Errorf("insert: %w", err)
		}
	}
	if err := vacuum(ctx, c.db); err != nil {
		return err
	}
	turns := make([]askTurn, b.rounds+1)
	for i := range turns {
		if err := b.ask(ctx, c, names, &turns[i]); err != nil {
			return err
		}
	}
	b.reportStatuses(names, turns[1:])
	return nil
}

// askTurn is one turn of requests for the status.
type askTurn struct {
	status, selected, health time.Duration // durations of single requests
	statuses, selects        storm         // by all clients concurrently
}

func (b *bench) ask(ctx context.Context, c *chronicle, names int, t *askTurn) (err error) {
	const repeats = 50
	clients, closeAll, err := c.wires(ctx, b.clients)
	if err != nil {
		return err
	}
	defer closeAll()
	status := message(http.MethodGet, api+"/revisions/latest/status", nil)
	health := message(http.MethodGet, api+"/health", nil)
	selected := func(ctx context.Context, _ int) error {
		var body string
		name := fmt.Sprintf("validation-%d", rand.IntN(names)) //nolint:gosec // any will do
		if err := c.db.QueryRow(ctx, selectPosted, c.revision, name).Scan(&body); err != nil {
			return fmt.Errorf("select: %w", err)
		}
		return nil
	}
	if t.status, err = medianTime(repeats, func(int) error { return clients[0].send(status) }); err != nil {
		return err
	}
	if t.selected, err = medianTime(repeats, func(int) error { return selected(ctx, 0) }); err != nil {
		return err
	}
	if t.health, err = medianTime(repeats, func(int) error { return clients[0].send(health) }); err != nil {
		return err
	}
	t.statuses, err = b.rage(ctx, func(_ context.Context, client int) error { return clients[client].send(status) })
	if err != nil {
		return err
	}
	t.selects, err = b.rage(ctx, selected)
	return err
}

func (b *bench) reportStatuses(names int, turns []askTurn) {
	what := fmt.Sprintf("GET the status with %d entries of %d names to an indexed select", entries, names)
	quotient := medianOf(turns, func(t askTurn) float64 { return ratio(t.status, t.selected) })
	details := short(medianOf(turns, func(t askTurn) time.Duration { return t.status })) + ", " +
		short(medianOf(turns, func(t askTurn) time.Duration { return t.selected }))
	if names == entries {
		b.atMost(6, quotient, 20, what, details)
	} else {
		b.atMost(6, quotient, 4, what, details)
		b.infof(6, "GET the health to the same select: what HTTP costs alone", "%.2fx  (%s)",
			medianOf(turns, func(t askTurn) float64 { return ratio(t.health, t.selected) }),
			short(medianOf(turns, func(t askTurn) time.Duration { return t.health })))
	}
	b.infof(6, fmt.Sprintf("the status with %d names by %d clients to a select by %d connections, throughput",
		names, b.clients, b.clients), "%.2fx  (%.0f/s, %.0f/s)",
		medianOf(turns, func(t askTurn) float64 { return ratio(t.statuses.each, t.selects.each) }),
		perSecond(medianOf(turns, func(t askTurn) time.Duration { return t.statuses.each })),
		perSecond(medianOf(turns, func(t askTurn) time.Duration { return t.selects.each })))
}

func perSecond(each time.Duration) float64 { return float64(time.Second) / float64(each) }
