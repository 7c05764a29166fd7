package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"purser/internal/document"
	"purser/internal/revisions"
	"purser/internal/store/migration"
	"purser/internal/validations"
)

// prunes measures row 17: how long PUTs into other buckets take while half of the revisions are pruned. A prune takes
// little time, so several copies of a site are pruned once each, and all PUTs count.
func (b *bench) prunes(ctx context.Context) error {
	const copies, putters = 3, 4
	history := 2 * b.revisions
	b.sayf("row 17: %d PUTs at a time beside a prune of half of %d revisions", putters, history)
	database, err := b.create(ctx, "prune")
	if err != nil {
		return err
	}
	if err := fillHistory(ctx, database, history); err != nil {
		return err
	}
	var alone, beside, pruning []time.Duration
	for i := range min(b.rounds, copies) {
		name := fmt.Sprintf("prune_%d", i)
		if _, err := b.admin.Exec(ctx, "CREATE DATABASE "+name+" TEMPLATE prune"); err != nil {
			return fmt.Errorf("copy a database: %w", err)
		}
		c := copied{putters: putters, span: b.span, keep: history / 2}
		if c.server, err = b.startOn(ctx, name, strings.Replace(database, "/prune", "/"+name, 1)); err != nil {
			return err
		}
		if err := c.stop(c.measure(ctx)); err != nil {
			return err
		}
		alone, beside = append(alone, c.alone...), append(beside, c.beside...)
		pruning = append(pruning, c.took)
	}
	slow, usual := percentile(beside, slowest), percentile(alone, slowest)
	b.atMost(17, ratio(slow, usual), 2, fmt.Sprintf("PUT while half of %d revisions are pruned to PUT before, p99 of %d "+
		"and %d by %d clients", history, len(beside), len(alone), putters), short(slow)+", "+short(usual))
	b.infof(17, "the same, median", "%.2fx  (%s, %s)", ratio(median(beside), median(alone)), short(median(beside)),
		short(median(alone)))
	b.infof(17, fmt.Sprintf("such a prune of %d versions", changing*(history/2-1)), "%s", short(median(pruning)))
	return nil
}

// fillHistory creates revisions that change all documents of a small bucket.
func fillHistory(ctx context.Context, database string, history int) error {
	if err := migration.Migrate(ctx, database); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	u, err := url.Parse(database)
	if err != nil {
		return fmt.Errorf("read the URL of the database: %w", err)
	}
	query := u.Query()
	query.Set("synchronous_commit", "off")
	u.RawQuery = query.Encode()
	kept, err := openStore(ctx, u.String())
	if err != nil {
		return fmt.Errorf("open the store: %w", err)
	}
	defer kept.Close()
	db, err := pgxpool.New(ctx, database)
	if err != nil {
		return fmt.Errorf("connect to the database: %w", err)
	}
	defer db.Close()
	service, site := newService(kept, validations.NewEngine(validations.Options{})), newSite(small(), changing)
	for revision := range history {
		const often = 100 // otherwise, dead rows and outdated plans would slow it down
		if revision%often == 0 {
			if err := vacuum(ctx, db); err != nil {
				return err
			}
		}
		for i := range site.documents {
			site.change(i, revision)
		}
		if _, err := service.Put(ctx, "site", site.body(), document.YAML, revisions.Options{}); err != nil {
			return fmt.Errorf("fill a site: %w", err)
		}
	}
	return nil
}

// copied is a copy of the site, to be pruned once.
type copied struct {
	*server

	putters int
	span    time.Duration // duration of PUTs without a prune
	keep    int

	alone, beside []time.Duration // durations of PUTs, without and during the prune
	took          time.Duration   // duration of the prune
}

func (c *copied) measure(ctx context.Context) (err error) {
	forSpan := func() func() bool {
		began := time.Now()
		return func() bool { return time.Since(began) < c.span }
	}
	for range 2 { // the first one is a warm-up
		if c.alone, err = c.putWhile(ctx, forSpan()); err != nil {
			return err
		}
	}
	pruned := make(chan error, 1)
	go func() {
		var err error
		c.took, err = timed(func() error {
			return c.send(ctx, http.MethodPost, fmt.Sprintf("%s/revisions/prune?keep=%d", api, c.keep), nil, io.Discard)
		})
		pruned <- err
		close(pruned)
	}()
	c.beside, err = c.putWhile(ctx, func() bool { return len(pruned) == 0 })
	if pruneErr := <-pruned; pruneErr != nil {
		return pruneErr
	}
	return err
}

// putWhile lets clients repeatedly PUT one document each, until goOn returns false.
func (c *copied) putWhile(ctx context.Context, goOn func() bool) ([]time.Duration, error) {
	took := make([][]time.Duration, c.putters)
	group, ctx := errgroup.WithContext(ctx)
	for client := range c.putters {
		group.Go(func() error {
			for goOn() {
				var body strings.Builder
				writeHead(&body, "bench/Free/v1", fmt.Sprintf("put-%d", client), "any")
				fmt.Fprintf(&body, "  at: %d\n", time.Now().UnixNano())
				bucket := fmt.Sprintf("put-%d", client)
				latency, err := timed(func() error { return c.put(ctx, bucket, []byte(body.String())) })
				if err != nil {
					return err
				}
				took[client] = append(took[client], latency)
			}
			return nil
		})
	}
	err := group.Wait()
	return slices.Concat(took...), err
}

const slowest = 0.99

// percentile returns the smallest value that is not less than the given part of all values.
func percentile(values []time.Duration, part float64) time.Duration {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(len(sorted)-1, int(part*float64(len(sorted))))]
}
