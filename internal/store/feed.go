package store

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"purser/internal/events"
	"purser/internal/feed"
	"purser/internal/revisions"
	"purser/internal/webhooks"
)

const (
	feedPosition = `SELECT f.newest, ` + newestAt + `, EXISTS (SELECT FROM outbox o WHERE o.site = f.site)
			OR EXISTS (SELECT FROM verdicts v WHERE v.site = f.site AND v.due < now())
		FROM feeds f WHERE f.site = $1`

	// newestAt is the time of the newest event of a feed f, null if there is none.
	newestAt = `(SELECT e.at FROM events e WHERE e.site = f.site AND e.number = f.newest)`

	// lockFeed comes first: from then on the transaction sees one snapshot, and is the only one that numbers events. The
	// newest revision is that at the end of the batch: the one before the first that is made later.
	lockFeed = `SELECT f.newest, ` + newestAt + `, coalesce((SELECT revision - 1 FROM
				(SELECT id, type, revision FROM outbox WHERE site = $1 ORDER BY id OFFSET ` + numberedAtOnce + `) later
			WHERE type = '` + string(events.RevisionCreated) + `' ORDER BY id LIMIT 1), s.head), now(), ` + numberedAtOnce + `
		FROM feeds f JOIN sites s ON s.site = f.site WHERE f.site = $1 FOR UPDATE OF f`

	// numberedAtOnce bounds the events that are numbered in one transaction, and their deliveries: of each event there is
	// one for each webhook.
	numberedAtOnce = `(SELECT least(500, 2000 / greatest(1, count(*))) FROM webhooks w WHERE w.site = $1 AND w.enabled)`

	outboxBatch = ` FROM outbox WHERE site = $1 ORDER BY id LIMIT ` + numberedAtOnce

	selectOutbox = `SELECT id, 0::bigint, at, type, coalesce(revision, 0), subject, data, withheld` + outboxBatch

	toldVerdict = `SELECT revision, stamp, status, nullif(due, '-infinity') FROM verdicts WHERE site = $1 AND `

	toldVerdicts = toldVerdict + `revision = ANY(ARRAY(SELECT revision` + outboxBatch + `))
		UNION (` + toldVerdict + `due < now() ORDER BY due LIMIT ` + numberedAtOnce + `)`

	insertEvents = `INSERT INTO events (site, number, at, type, revision, subject, data, withheld)
		SELECT $1, $2 + n, at, type, nullif(revision, 0), subject, data, withheld
		FROM unnest($3::timestamptz[], $4::text[], $5::bigint[], $6::text[], $7::text[], $8::text[])
			WITH ORDINALITY e (at, type, revision, subject, data, withheld, n)`

	deleteOutbox = `DELETE FROM outbox WHERE site = $1 AND id = ANY($2)`

	advanceFeed = `UPDATE feeds SET newest = $2 WHERE site = $1`

	upsertVerdicts = `INSERT INTO verdicts (site, revision, stamp, status, due)
		SELECT $1, * FROM unnest($2::bigint[], $3::bigint[], $4::text[], $5::timestamptz[])
		ON CONFLICT (site, revision) DO UPDATE SET stamp = excluded.stamp, status = excluded.status, due = excluded.due`

	// dropVerdicts deletes the verdicts of revisions that are deleted, or no longer the newest or tagged.
	dropVerdicts = `DELETE FROM verdicts v WHERE site = $1 AND NOT EXISTS (
			SELECT FROM revisions r WHERE r.site = v.site AND r.revision = v.revision AND r.stamp = v.stamp
				AND (r.revision = $2 OR EXISTS (SELECT FROM tags t WHERE t.site = r.site AND t.revision = r.revision)))`

	feedBounds = `SELECT oldest, newest FROM feeds WHERE site = $1`

	selectEvents = `SELECT number, at, type, coalesce(revision, 0), subject, data, withheld FROM (
			SELECT number, at, type, revision, subject, data, withheld,
				sum(octet_length(data) + coalesce(octet_length(withheld), 0)) OVER (ORDER BY number) AS size,
				row_number() OVER (ORDER BY number) AS n
			FROM (SELECT number, at, type, revision, subject, data, withheld FROM events
				WHERE site = $1 AND number > $2 AND number <= $3 AND ($4::text[] IS NULL OR type = ANY($4))
				ORDER BY number LIMIT $5) e) e
		WHERE n = 1 OR size <= $6 ORDER BY number`

	// forgetEvents deletes the oldest events, up to the first that is not older than an age ($2) or is among the newest
	// ($3), at most $4.
	forgetEvents = `WITH locked AS (SELECT site, newest FROM feeds WHERE site = $1 FOR UPDATE),
		oldest AS (SELECT e.number, e.at >= now() - $2::interval OR e.number > l.newest - $3::bigint AS kept
			FROM locked l JOIN events e ON e.site = l.site ORDER BY e.number LIMIT $4),
		gone AS (DELETE FROM events e USING oldest o WHERE e.site = $1 AND e.number = o.number AND NOT o.kept
			AND NOT EXISTS (SELECT FROM oldest k WHERE k.kept AND k.number < o.number) RETURNING e.number)
		UPDATE feeds SET oldest = oldest + (SELECT count(*) FROM gone) WHERE site = $1 AND EXISTS (SELECT FROM gone)
		RETURNING (SELECT count(*) FROM gone)`
)

// Position implements feed.Store.
func (s *Store) Position(ctx context.Context) (at feed.Position, behind bool, err error) {
	var newest *time.Time
	_, err = s.read(ctx, reserved, func(ctx context.Context, _ *reading) error {
		return s.pool.QueryRow(ctx, feedPosition, s.site).Scan(&at.Newest, &newest, &behind)
	})
	at.At = utc(newest)
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
			if err := n.readBatch(ctx); err != nil {
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
	batch.Queue(lockFeed, n.site).QueryRow(func(row pgx.Row) error {
		var newest *time.Time
		err := row.Scan(&n.at.Newest, &newest, &n.batch.Head, &n.batch.Evidence.Now, &n.most)
		n.at.At = utc(newest)
		return err
	})
	batch.Queue(selectOutbox, n.site).Query(func(rows pgx.Rows) (err error) {
		n.batch.Events, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (events.Event, error) {
			var id int64
			event, err := scanFeedEvent(prefixed(row, &id))
			n.ids = append(n.ids, id)
			return event, err
		})
		return err
	})
	batch.Queue(toldVerdicts, n.site).Query(func(rows pgx.Rows) error {
		return n.scanTold(rows)
	})
	batch.Queue(enabledWebhooks, n.site).Query(func(rows pgx.Rows) (err error) {
		n.webhooks, err = pgx.CollectRows(rows, scanWebhook)
		return err
	})
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

func (n *numbering) scanTold(rows pgx.Rows) error {
	n.batch.Verdicts = map[int64]feed.Verdict{}
	var v feed.Verdict
	var due *time.Time
	_, err := pgx.ForEachRow(rows, []any{&v.Revision, &v.Stamp, &v.Status, &due}, func() error {
		v.Due = utc(due)
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
		derived.Events[i].At = n.batch.Evidence.Now.UTC()
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
		batch.Queue(insertEvents, append([]any{n.site, n.at.Newest}, eventRows(all)...)...)
		batch.Queue(advanceFeed, n.site, at.Newest)
		batch.Queue(deleteOutbox, n.site, n.ids)
	}
	if len(derived.Verdicts) > 0 {
		batch.Queue(upsertVerdicts, append([]any{n.site}, verdictRows(derived.Verdicts)...)...)
	}
	if len(derived.Verdicts) < len(n.batch.Verdicts) || n.unwatches() {
		batch.Queue(dropVerdicts, n.site, n.batch.Head)
	}
	return at, n.tx.SendBatch(ctx, batch).Close()
}

// unwatches reports whether a revision may have ceased to be the newest or tagged.
func (n *numbering) unwatches() bool {
	for _, event := range n.batch.Events {
		switch event.Type {
		case events.RevisionCreated, events.TagDeleted, events.RevisionPruned, events.SitePurged:
			return true
		case events.ValidationPosted, events.VerdictChanged, events.TagSet, events.WebhookPing:
		}
	}
	return false
}

// eventRows returns the columns of events.
func eventRows(all []events.Event) []any {
	n := len(all)
	at, types, about := make([]time.Time, n), make([]string, n), make([]int64, n)
	subjects, data, withheld := make([]string, n), make([]string, n), make([]*string, n)
	for i, e := range all {
		at[i], types[i], about[i], subjects[i], data[i] = e.At, string(e.Type), e.Revision, e.Subject, string(e.Data)
		withheld[i] = jsonText(e.Withheld)
	}
	return []any{at, types, about, subjects, data, withheld}
}

func verdictRows(verdicts []feed.Verdict) []any {
	n := len(verdicts)
	numbers, stamps, status := make([]int64, n), make([]revisions.Stamp, n), make([]string, n)
	due := make([]*time.Time, n)
	for i, v := range verdicts {
		numbers[i], stamps[i], status[i] = v.Revision, v.Stamp, v.Status
		if !v.Due.IsZero() {
			due[i] = &v.Due
		}
	}
	return []any{numbers, stamps, status, due}
}

func scanFeedEvent(row pgx.CollectableRow) (e events.Event, err error) {
	err = row.Scan(&e.Number, &e.At, &e.Type, &e.Revision, &e.Subject, &e.Data, &e.Withheld)
	e.At = e.At.UTC()
	return e, err
}

// Events implements feed.Store.
func (s *Store) Events(ctx context.Context, query feed.Query) (found feed.Found, err error) {
	last := query.After + min(int64(query.Scan), math.MaxInt64-query.After) // clients may name any number
	_, err = s.inSnapshot(ctx, general, func(q *questions) {
		q.askRow([]any{&found.Oldest, &found.Newest}, feedBounds, s.site)
		q.ask(into(&found.Events, scanFeedEvent), selectEvents, s.site, query.After, last, query.Types,
			query.Limit, query.Bytes)
	})
	return found, err
}

// DeleteOldEvents implements feed.Store.
func (s *Store) DeleteOldEvents(ctx context.Context, age time.Duration, keep int) (gone int, err error) {
	const step = 1000
	err = s.retryTx(ctx, general, s.deadlines.Write, func(ctx context.Context) error {
		rows, err := s.pool.Query(ctx, forgetEvents, s.site, age, keep, step)
		if err != nil {
			return err
		}
		gone = 0
		_, err = pgx.ForEachRow(rows, []any{&gone}, func() error { return nil })
		return err
	})
	return gone, err
}
