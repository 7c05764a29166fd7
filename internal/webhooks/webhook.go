// Package webhooks delivers events to HTTP receivers. It manages the webhooks, restricts the hosts that may be called,
// and sends requests that are signed as in Standard Webhooks 1.0
// (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md).
//
// A delivery is created in the transaction that numbers its event, so that none is lost. A queue in the database holds
// it until it succeeds or has failed too often. Each event is delivered at least once.
package webhooks

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"time"

	"purser/internal/document"
	"purser/internal/events"
	"purser/internal/queries"
	"purser/internal/secrets"
)

// Webhook is a receiver of events.
type Webhook struct {
	ID        int64
	URL       string
	Types     []events.Type // empty for all
	Enabled   bool
	Reason    string // why the server disabled it; empty if it has not
	Secret    []byte // sealed
	Previous  []byte // sealed: the secret before Secret; nil if there is none
	RotatedAt time.Time
	CreatedAt time.Time
	Owner     string // who set it last, the user of a budget.Owner; "" if that is not known
}

// Wants reports whether a webhook receives events of a type.
func (w Webhook) Wants(kind events.Type) bool {
	return w.Enabled && (len(w.Types) == 0 || slices.Contains(w.Types, kind))
}

// overlap is how long a secret remains valid after it is replaced.
const overlap = 24 * time.Hour

// place returns the context to which sealed secrets of webhooks are bound.
func (s *Service) place() secrets.Place {
	return secrets.Place{
		Site: s.Site, Identity: document.Identity{Schema: "purser/Webhook/v1", Name: "secret"},
	}
}

// State is the state of a delivery.
type State string

// The states of a delivery.
const (
	Pending   State = "pending" // an attempt is in progress or scheduled
	Delivered State = "delivered"
	Failed    State = "failed" // it failed too often, or the webhook is gone or disabled
)

// Delivery is the delivery of one event to one webhook.
type Delivery struct {
	ID       int64
	Event    json.RawMessage // the body: an event in the structured mode of CloudEvents
	State    State
	Attempts int
	Outcome  Outcome   // of the last attempt
	Next     time.Time // time of the next attempt; zero if there is none
}

// Outcome is the outcome of one attempt.
type Outcome struct {
	Status int    `json:"status"` // of the response; 0 if there is none
	Answer string `json:"answer"` // the first KiB of the response
	Error  string `json:"error"`  // empty if the attempt succeeded
}

// Store stores webhooks and deliveries. Faults: NotFound for a webhook or a delivery that does not exist, Unavailable
// if the database does not respond.
type Store interface {
	// Webhooks returns all webhooks in the order of creation.
	Webhooks(ctx context.Context) ([]Webhook, error)
	Webhook(ctx context.Context, id int64) (Webhook, error)
	// AddWebhook adds a webhook unless there are already most webhooks, or its owner has his share of them: who has some
	// gets another only if all that he would have is free as well. It returns the id, 0 if it was not added.
	AddWebhook(ctx context.Context, w Webhook, most int) (int64, error)
	// SetWebhook changes a webhook unless its sealed secret is not was, and reports whether it did.
	SetWebhook(ctx context.Context, w Webhook, was []byte) (bool, error)
	// ResealWebhook replaces the sealed secrets of a webhook, unless they have changed since w was read.
	ResealWebhook(ctx context.Context, w Webhook, secret, previous []byte) error
	DropWebhook(ctx context.Context, id int64) error
	// Disable disables a webhook for a reason. NotFound if it has another URL by now.
	Disable(ctx context.Context, id int64, url, reason string) error

	// Deliveries returns a page of a webhook's deliveries, newest first, and whether there are more.
	Deliveries(ctx context.Context, webhook int64, page queries.Page) (found []Delivery, more bool, err error)
	// Enqueue creates a delivery of an event.
	Enqueue(ctx context.Context, webhook int64, event events.Event) (Delivery, error)
	// Retry schedules another attempt for now.
	Retry(ctx context.Context, webhook, delivery int64) (Delivery, error)
}

// MaxAttempts is the maximum number of attempts of a delivery.
const MaxAttempts = 9

// Backoff returns the time to wait after the nth attempt, with a jitter of ten percent.
func Backoff(n int) time.Duration {
	waits := [MaxAttempts - 1]time.Duration{
		5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute, 2 * time.Hour, 6 * time.Hour,
		12 * time.Hour,
	}
	wait := waits[min(max(n, 1), len(waits))-1]
	const tenth = 10
	return wait - wait/tenth + rand.N(2*wait/tenth) //nolint:gosec // jitter needs no secrecy
}
