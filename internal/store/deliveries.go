package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"

	"purser/internal/authz"
	"purser/internal/events"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/sites"
	"purser/internal/webhooks"
)

// deliveryJob is a delivery in the queue.
type deliveryJob struct {
	Site    string          `json:"site,omitempty"` // empty for the default one, as in jobs of earlier versions
	Webhook int64           `json:"webhook"`
	Name    string          `json:"name"` // of the message, the same at each attempt
	Event   json.RawMessage `json:"event"`
}

// deliveryKind names the jobs.
const deliveryKind = "purser_webhook"

// Kind implements river.JobArgs.
func (deliveryJob) Kind() string { return deliveryKind }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (deliveryJob) InsertOpts() river.InsertOpts {
	return river.InsertOpts{MaxAttempts: webhooks.MaxAttempts}
}

// jobOf returns the job that delivers an event. Users who manage webhooks choose the receivers, so deliveries have the
// form for viewers who may not see encrypted documents.
func jobOf(site string, webhook int64, event events.Event, name string) (deliveryJob, error) {
	text, err := json.Marshal(event.Cloud(revisions.SitePath(site), authz.Viewer{}))
	if err != nil {
		return deliveryJob{}, fmt.Errorf("write an event: %w", err)
	}
	return deliveryJob{site, webhook, name, text}, nil
}

// nameOf returns the name of a message. Webhooks of different sites may have the same id, if a site came from another
// database, and the same receiver.
func nameOf(site string, webhook int64, event string) string {
	if site == sites.Default {
		return fmt.Sprintf("%d-%s", webhook, event)
	}
	return fmt.Sprintf("%s-%d-%s", site, webhook, event)
}

// deliver adds deliveries of events that were numbered, to all webhooks that want them.
func (n *numbering) deliver(ctx context.Context, all []events.Event) error {
	var jobs []river.InsertManyParams
	for _, event := range all {
		for _, webhook := range n.webhooks {
			if !webhook.Wants(event.Type) {
				continue
			}
			job, err := jobOf(n.site, webhook.ID, event, nameOf(n.site, webhook.ID, strconv.FormatInt(event.Number, 10)))
			if err != nil {
				return err
			}
			jobs = append(jobs, river.InsertManyParams{Args: job})
		}
	}
	if len(jobs) == 0 {
		return nil
	}
	_, err := n.queue.InsertManyFastTx(ctx, n.tx, jobs)
	return err
}

// Enqueue implements webhooks.Store.
func (s *Store) Enqueue(ctx context.Context, webhook int64, event events.Event) (d webhooks.Delivery, err error) {
	job, err := jobOf(s.site, webhook, event, nameOf(s.site, webhook, fmt.Sprint("ping-", event.At.UnixNano())))
	if err != nil {
		return d, err
	}
	err = s.withTx(ctx, s.deadlines.Write, func(ctx context.Context, tx pgx.Tx) error {
		made, err := s.queue.InsertTx(ctx, tx, job, nil)
		if err == nil {
			d, err = s.delivery(ctx, tx, webhook, made.Job.ID)
		}
		return err
	})
	return d, err
}

// delivery reads a delivery in a transaction. Fault: NotFound.
func (s *Store) delivery(ctx context.Context, tx pgx.Tx, webhook, id int64) (webhooks.Delivery, error) {
	found, err := collectIn(ctx, tx, scanDelivery, stmt.SelectDelivery, named{
		"site": s.site, "webhook": webhook, "id": id,
	})
	switch {
	case err != nil:
		return webhooks.Delivery{}, err
	case len(found) == 0:
		return webhooks.Delivery{}, webhooks.UnknownDelivery(webhook, strconv.FormatInt(id, 10))
	}
	return found[0], nil
}

// Retry implements webhooks.Store.
func (s *Store) Retry(ctx context.Context, webhook, id int64) (d webhooks.Delivery, err error) {
	err = s.withTx(ctx, s.deadlines.Write, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := s.delivery(ctx, tx, webhook, id); err != nil {
			return err
		}
		if _, err := s.queue.JobRetryTx(ctx, tx, id); err != nil {
			return err
		}
		d, err = s.delivery(ctx, tx, webhook, id)
		return err
	})
	return d, err
}

// Deliveries implements webhooks.Store.
func (s *Store) Deliveries(ctx context.Context, webhook int64, page queries.Page) (
	found []webhooks.Delivery, more bool, err error,
) {
	found, err = collect(ctx, s.Database, scanDelivery, stmt.SelectDeliveries, named{
		"site": s.site, "webhook": webhook, "offset": page.Offset, "limit": page.Limit + 1,
	})
	if more = len(found) > page.Limit; more {
		found = found[:page.Limit]
	}
	return found, more, err
}

func scanDelivery(row pgx.CollectableRow) (d webhooks.Delivery, err error) {
	var state rivertype.JobState
	var job deliveryJob
	if err := row.Scan(&d.ID, &state, &d.Attempts, &d.Next, &job, &d.Outcome); err != nil {
		return d, err
	}
	d.Event = job.Event
	switch state {
	case rivertype.JobStateCompleted:
		d.State, d.Next = webhooks.Delivered, time.Time{}
	case rivertype.JobStateCancelled, rivertype.JobStateDiscarded:
		d.State, d.Next = webhooks.Failed, time.Time{}
	case rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable, rivertype.JobStateRunning,
		rivertype.JobStateScheduled:
		d.State = webhooks.Pending
	}
	return d, nil
}

// deliverer does the jobs.
type deliverer struct {
	river.WorkerDefaults[deliveryJob]

	attempt Attempt
	count   func(webhooks.State)
}

// Attempt makes one attempt of a delivery to a webhook of a site: of a message with a name and a body. webhooks.ErrGone
// means that further attempts are useless, webhooks.ErrBusy that none was made.
type Attempt = func(ctx context.Context, site string, webhook int64, name string, body []byte) (webhooks.Outcome, error)

// Work implements river.Worker.
func (d *deliverer) Work(ctx context.Context, job *river.Job[deliveryJob]) error {
	outcome, err := d.attempt(ctx, cmp.Or(job.Args.Site, sites.Default), job.Args.Webhook, job.Args.Name, job.Args.Event)
	if errors.Is(err, webhooks.ErrBusy) {
		return river.JobSnooze(busyPause)
	}
	d.count(stateAfter(err, job.Attempt >= job.MaxAttempts))
	if err := river.RecordOutput(ctx, outcome); err != nil {
		return fmt.Errorf("record the outcome of a delivery: %w", err)
	}
	if errors.Is(err, webhooks.ErrGone) {
		return river.JobCancel(err)
	}
	return err
}

// stateAfter returns the state of a delivery after an attempt, which may be the last one.
func stateAfter(err error, isLast bool) webhooks.State {
	switch {
	case err == nil:
		return webhooks.Delivered
	case isLast || errors.Is(err, webhooks.ErrGone):
		return webhooks.Failed
	}
	return webhooks.Pending
}

// NextRetry implements river.Worker.
func (d *deliverer) NextRetry(job *river.Job[deliveryJob]) time.Time {
	return time.Now().Add(webhooks.Backoff(job.Attempt))
}

// Timeout implements river.Worker. The attempt has a shorter limit of its own.
func (d *deliverer) Timeout(*river.Job[deliveryJob]) time.Duration { return attemptLimit }

const (
	attemptLimit = 20 * time.Second
	// rescueAfter is the time after its start at which the attempt of a vanished server is repeated.
	rescueAfter = 25 * time.Second
	keptJobs    = 7 * 24 * time.Hour
	busyPause   = time.Second // before another try where a receiver or an owner has its share of the calls
	fetchEvery  = 500 * time.Millisecond
)

// Deliver makes the attempts until ctx ends, and counts each by the state of its delivery after it. The queue is
// polled: behind a pooler there is no LISTEN.
func (d *Database) Deliver(ctx context.Context, attempt Attempt, count func(webhooks.State), log *slog.Logger) error {
	workers := river.NewWorkers()
	river.AddWorker(workers, &deliverer{attempt: attempt, count: count})
	queue, err := river.NewClient(riverpgxv5.New(d.pool), &river.Config{
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: webhooks.MaxCalls}}, Workers: workers,
		PollOnly: true, FetchPollInterval: fetchEvery, JobTimeout: attemptLimit, RescueStuckJobsAfter: rescueAfter,
		CompletedJobRetentionPeriod: keptJobs, CancelledJobRetentionPeriod: keptJobs, DiscardedJobRetentionPeriod: keptJobs,
		Logger: log,
	})
	if err != nil {
		return fmt.Errorf("open the queue of webhooks: %w", err)
	}
	if err := queue.Start(ctx); err != nil {
		return fmt.Errorf("start the queue of webhooks: %w", err)
	}
	<-queue.Stopped()
	return nil
}
