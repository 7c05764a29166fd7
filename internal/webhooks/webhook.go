// Package webhooks calls others when something happens: it keeps whom to call, says where that may be, and makes the
// requests, signed as Standard Webhooks 1.0 says
// (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md).
//
// A delivery is made in the transaction that numbers its event, so that none is lost; a queue in the database keeps it
// until it is delivered or has failed too often. A receiver is called at least once for each event.
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

// Webhook is somebody to call.
type Webhook struct {
	ID        int64
	URL       string
	Types     []events.Type // of events; empty for all
	Enabled   bool
	Reason    string // why the server disabled it; empty if it did not
	Secret    []byte // sealed
	Previous  []byte // sealed: the secret before that one; nil if there was none
	RotatedAt time.Time
	CreatedAt time.Time
}

// Wants reports whether a webhook is called for events of a type.
func (w Webhook) Wants(kind events.Type) bool {
	return w.Enabled && (len(w.Types) == 0 || slices.Contains(w.Types, kind))
}

// overlap is how long a secret stays valid after it was replaced.
const overlap = 24 * time.Hour

// place is where the secrets of webhooks are sealed.
func place() secrets.Place {
	return secrets.Place{Site: "default", Identity: document.Identity{Schema: "purser/Webhook/v1", Name: "secret"}}
}

// State is what became of a delivery.
type State string

// The states.
const (
	Pending   State = "pending" // it is, or will be, tried
	Delivered State = "delivered"
	Failed    State = "failed" // it was tried too often, or the webhook is gone or disabled
)

// Delivery is one event for one webhook.
type Delivery struct {
	ID       int64
	Event    json.RawMessage // the body: an event in the structured mode of CloudEvents
	State    State
	Attempts int
	Outcome  Outcome   // of the last attempt
	Next     time.Time // when it is tried next; zero if it is not
}

// Outcome is that of one attempt.
type Outcome struct {
	Status int    `json:"status"` // of the answer; 0 if there was none
	Answer string `json:"answer"` // its first KiB
	Error  string `json:"error"`  // why it is no success; empty if it is one
}

// Store keeps webhooks and deliveries. Faults: NotFound for a webhook or a delivery that does not exist, Unavailable if
// the database does not answer.
type Store interface {
	// Webhooks returns all webhooks, in the order in which they were made.
	Webhooks(ctx context.Context) ([]Webhook, error)
	Webhook(ctx context.Context, id int64) (Webhook, error)
	// AddWebhook adds a webhook, unless there are as many as there may be, and returns its id; 0 if it was not added.
	AddWebhook(ctx context.Context, w Webhook, most int) (int64, error)
	SetWebhook(ctx context.Context, w Webhook) error
	// ResealWebhook replaces the secrets of a webhook by the same that are sealed again, unless they have become others.
	ResealWebhook(ctx context.Context, w Webhook, secret, previous []byte) error
	DropWebhook(ctx context.Context, id int64) error
	// Disable disables a webhook for a reason.
	Disable(ctx context.Context, id int64, reason string) error

	// Deliveries returns a page of the deliveries to a webhook, the newest first, and whether there are more.
	Deliveries(ctx context.Context, webhook int64, page queries.Page) (found []Delivery, more bool, err error)
	// Enqueue makes a delivery of an event.
	Enqueue(ctx context.Context, webhook int64, event events.Event) (Delivery, error)
	// Retry has a delivery tried again now.
	Retry(ctx context.Context, webhook, delivery int64) (Delivery, error)
}

// MaxAttempts is how often a delivery is tried.
const MaxAttempts = 9

// Backoff returns how long to wait after the nth attempt, within a tenth.
func Backoff(n int) time.Duration {
	waits := [MaxAttempts - 1]time.Duration{
		5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute, 2 * time.Hour, 6 * time.Hour,
		12 * time.Hour,
	}
	wait := waits[min(max(n, 1), len(waits))-1]
	const tenth = 10
	return wait - wait/tenth + rand.N(2*wait/tenth) //nolint:gosec // jitter needs no secrecy
}
