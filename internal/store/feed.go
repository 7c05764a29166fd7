package store

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"purser/internal/events"
	"purser/internal/feed"
	"purser/internal/revisions"
	"purser/internal/webhooks"
)

// queueEvent adds an event to the outbox.
func (s *Store) queueEvent(batch *pgx.Batch, e events.Event) {
	batch.Queue(stmt.InsertEvent, named{
		"site": s.site, "type": string(e.Type), "revision": e.Revision, "subject": e.Subject, "data": e.Data,
		"withheld": e.Withheld,
	})
}

// announcements are the sites with events that this server should number.
type announcements struct {
	mu      sync.Mutex
	sites   map[string]bool
	waiting chan struct{} // holds a token while there are any
}

// announce makes this server number the events of the site soon. It is called after a commit. Other servers look
// themselves.
func (s *Store) announce() {
	s.news.mu.Lock()
	s.news.sites[s.site] = true
	s.news.mu.Unlock()
	select {
	case s.news.waiting <- struct{}{}:
	default: // nobody has looked since the last time
	}
}

// Committed implements feed.Store. It returns a channel that receives after announce.
func (d *Database) Committed() <-chan struct{} { return d.news.waiting }

// Changed implements feed.Store.
func (d *Database) Changed() []string {
	d.news.mu.Lock()
	defer d.news.mu.Unlock()
	changed := slices.Collect(maps.Keys(d.news.sites))
	clear(d.news.sites)
	return changed
}

// Feed implements feed.Store.
func (d *Database) Feed(site string) feed.SiteStore { return d.Site(site) }

// News implements feed.Store.
func (d *Database) News(ctx context.Context) (news []feed.News, err error) {
	_, err = d.read(ctx, reserved, func(ctx context.Context, _ *reading) (err error) {
		rows, err := d.pool.Query(ctx, stmt.SitesWithNews, named{})
		if err != nil {
			return err
		}
		news, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (n feed.News, err error) {
			err = row.Scan(&n.Site, &n.Behind, &n.At.Newest, (*zeronull.Timestamptz)(&n.At.At))
			return n, err
		})
		return err
	})
	return news, err
}

// Due implements feed.Store.
func (d *Database) Due(ctx context.Context, most int) (due []string, err error) {
	_, err = d.read(ctx, reserved, func(ctx context.Context, _ *reading) error {
		rows, err := d.pool.Query(ctx, stmt.SitesDue, named{"limit": most})
		if err == nil {
			due, err = pgx.CollectRows(rows, pgx.RowTo[string])
		}
		return err
	})
	return due, err
}

// Position implements feed.Store.
func (s *Store) Position(ctx context.Context) (at feed.Position, behind bool, err error) {
	_, err = s.read(ctx, reserved, func(ctx context.Context, _ *reading) error {
		err := s.pool.QueryRow(ctx, stmt.FeedPosition, named{"site": s.site}).
			Scan(&at.Newest, (*zeronull.Timestamptz)(&at.At), &behind)
		if errors.Is(err, pgx.ErrNoRows) { // there is no such site (any more)
			return nil
		}
		return err
	})
	return at, behind, err
}

// numbering is one transaction that numbers events.
type numbering struct {
	*Store

	tx    pgx.Tx
	at    feed.Position // before the batch
	batch feed.Batch
	ids   []int64 // of the events of the batch, in the outbox
	most  int     // events that are numbered at once

	webhooks []webhooks.Webhook // that are enabled
}

// Number implements feed.Store. It takes four round trips.
func (s *Store) Number(ctx context.Context, derive func(feed.Batch) feed.Derived) (
	at feed.Position, more bool, err error,
) {
	err = s.retryTx(ctx, reserved, s.deadlines.Write, func(ctx context.Context) error {
		return pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead}, func(tx pgx.Tx) error {
			n := numbering{Store: s, tx: tx}
			err := n.readBatch(ctx)
			if errors.Is(err, pgx.ErrNoRows) { // the site was deleted meanwhile
				return nil
			}
			if err != nil {
				return err
			}
			if at = n.at; len(n.ids) > 0 || len(n.batch.Verdicts) > 0 {
				at, err = n.write(ctx, derive(n.batch))
			}
			more = len(n.ids) >= n.most || len(n.batch.Verdicts) >= n.most
			return err
		})
	})
	return at, more, err
}

// readBatch locks the feed and reads the batch.
func (n *numbering) readBatch(ctx context.Context) error {
	batch := &pgx.Batch{}
	batch.Queue(stmt.LockFeed, named{"site": n.site}).QueryRow(func(row pgx.Row) error {
		return row.Scan(&n.at.Newest, (*zeronull.Timestamptz)(&n.at.At), &n.batch.Head, &n.batch.Evidence.Now, &n.most)
	})
	batch.Queue(stmt.OutboxBatch, named{"site": n.site}).Query(func(rows pgx.Rows) (err error) {
		n.batch.Events, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (events.Event, error) {
			var id int64
			event, err := scanFeedEvent(prefixed(row, &id))
			n.ids = append(n.ids, id)
			return event, err
		})
		return err
	})
	batch.Queue(stmt.BatchVerdicts, named{"site": n.site}).Query(n.scanVerdicts)
	batch.Queue(stmt.EnabledWebhooks, named{"site": n.site}).Query(into(&n.webhooks, scanWebhook))
	if err := n.tx.SendBatch(ctx, batch).Close(); err != nil {
		return err
	}
	var numbers []int64
	for revision := range n.batch.Verdicts {
		numbers = append(numbers, revision)
	}
	for _, event := range n.batch.Events {
		if event.Revision > 0 {
			numbers = append(numbers, event.Revision)
		}
	}
	return n.readEvidence(ctx, numbers)
}

func (n *numbering) scanVerdicts(rows pgx.Rows) error {
	n.batch.Verdicts = map[int64]feed.Verdict{}
	var v feed.Verdict
	fields := []any{&v.Revision, &v.Stamp, &v.Status, (*zeronull.Timestamptz)(&v.Due)}
	_, err := pgx.ForEachRow(rows, fields, func() error {
		n.batch.Verdicts[v.Revision] = v
		return nil
	})
	return err
}

// readEvidence reads the evidence for the verdicts on revisions.
func (n *numbering) readEvidence(ctx context.Context, numbers []int64) (err error) {
	if len(numbers) == 0 {
		return nil
	}
	now := n.batch.Evidence.Now
	n.batch.Evidence, err = n.evidenceIn(ctx, n.tx, numbers)
	n.batch.Evidence.Now = now
	return err
}

// write stores the numbered events of the batch, and their consequences. It returns the position of the feed.
func (n *numbering) write(ctx context.Context, derived feed.Derived) (at feed.Position, err error) {
	for i := range derived.Events {
		derived.Events[i].At = n.batch.Evidence.Now
	}
	all := slices.Concat(n.batch.Events, derived.Events)
	at = n.at
	for i := range all {
		all[i].Number = n.at.Newest + int64(i) + 1
		at = feed.Position{Newest: all[i].Number, At: all[i].At}
	}
	if err := n.deliver(ctx, all); err != nil {
		return at, err
	}
	batch := &pgx.Batch{}
	if len(all) > 0 {
		batch.Queue(stmt.InsertEvents, n.insertion(all))
		batch.Queue(stmt.AdvanceFeed, named{"site": n.site, "newest": at.Newest, "at": at.At})
		batch.Queue(stmt.DeleteOutbox, named{"site": n.site, "ids": n.ids})
	}
	if newest, judged := verdictOf(n.batch.Head, derived.Verdicts); judged {
		batch.Queue(stmt.SetSiteStatus, named{
			"site": n.site, "status": newest.Status, "judged": newest.Revision, "due": zeronull.Timestamptz(newest.Due),
		})
	}
	if len(derived.Verdicts) > 0 {
		batch.Queue(stmt.UpsertVerdicts, n.upsert(derived.Verdicts))
	}
	if len(derived.Verdicts) < len(n.batch.Verdicts) || n.unwatches() {
		batch.Queue(stmt.DropVerdicts, named{"site": n.site, "newest": n.batch.Head})
	}
	return at, n.tx.SendBatch(ctx, batch).Close()
}

// verdictOf returns the verdict on the newest revision among those of a batch, zero if there is no revision.
func verdictOf(head int64, verdicts []feed.Verdict) (newest feed.Verdict, judged bool) {
	for _, verdict := range verdicts {
		if verdict.Revision == head {
			return verdict, true
		}
	}
	return newest, head == 0
}

// unwatches reports whether a revision may have ceased to be the newest or tagged.
func (n *numbering) unwatches() bool {
	for _, event := range n.batch.Events {
		switch event.Type {
		case events.RevisionCreated, events.TagDeleted, events.RevisionPruned, events.SitePurged:
			return true
		case events.ValidationPosted, events.ValidationClaimed, events.ValidationRequested, events.VerdictChanged,
			events.TagSet, events.WaiverCreated, events.WaiverEnded, events.WebhookPing:
		}
	}
	return false
}

// insertion returns the arguments of InsertEvents.
func (n *numbering) insertion(all []events.Event) named {
	return named{
		"site": n.site, "newest": n.at.Newest,
		"at":        column(all, func(e events.Event) time.Time { return e.At }),
		"types":     column(all, func(e events.Event) events.Type { return e.Type }),
		"revisions": column(all, func(e events.Event) int64 { return e.Revision }),
		"subjects":  column(all, func(e events.Event) string { return e.Subject }),
		"data":      column(all, func(e events.Event) []byte { return e.Data }),
		"withheld":  column(all, func(e events.Event) []byte { return e.Withheld }),
	}
}

// upsert returns the arguments of UpsertVerdicts.
func (n *numbering) upsert(verdicts []feed.Verdict) named {
	return named{
		"site":      n.site,
		"revisions": column(verdicts, func(v feed.Verdict) int64 { return v.Revision }),
		"stamps":    column(verdicts, func(v feed.Verdict) revisions.Stamp { return v.Stamp }),
		"status":    column(verdicts, func(v feed.Verdict) string { return v.Status }),
		"due":       column(verdicts, func(v feed.Verdict) zeronull.Timestamptz { return zeronull.Timestamptz(v.Due) }),
		"open":      column(verdicts, func(v feed.Verdict) []string { return orEmpty(v.Open) }),
		"judged":    n.batch.Evidence.Now,
	}
}

func scanFeedEvent(row pgx.CollectableRow) (e events.Event, err error) {
	err = row.Scan(&e.Number, &e.At, &e.Type, &e.Revision, &e.Subject, &e.Data, &e.Withheld)
	return e, err
}

// Events implements feed.Store.
func (s *Store) Events(ctx context.Context, query feed.Query) (found feed.Found, err error) {
	last := query.After + min(int64(query.Scan), math.MaxInt64-query.After) // clients may name any number
	_, err = s.inSnapshot(ctx, general, func(q *questions) {
		q.askRow([]any{&found.Oldest, &found.Newest}, stmt.FeedBounds, named{"site": s.site})
		q.ask(into(&found.Events, scanFeedEvent), stmt.SelectEvents, named{
			"site": s.site, "after": query.After, "last": last, "types": query.Types, "limit": query.Limit,
			"max_bytes": query.Bytes,
		})
	})
	return found, err
}

// DeleteOldEvents implements feed.Store.
func (s *Store) DeleteOldEvents(ctx context.Context, age time.Duration, keep int) (gone int, err error) {
	const step = 1000
	err = s.retryTx(ctx, general, s.deadlines.Write, func(ctx context.Context) error {
		err := s.pool.QueryRow(ctx, stmt.DeleteOldEvents, named{
			"site": s.site, "age": age, "keep": keep, "limit": step,
		}).Scan(&gone)
		if errors.Is(err, pgx.ErrNoRows) {
			gone, err = 0, nil
		}
		return err
	})
	return gone, err
}
