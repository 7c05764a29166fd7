package views

import (
	"encoding/json"

	"purser/internal/events"
	"purser/internal/webhooks"
)

// Webhook shows a webhook, with its secret only when the secret is new.
type Webhook struct {
	ID        int64         `json:"id"`
	URL       string        `json:"url"`
	Types     []events.Type `json:"types"`
	Enabled   bool          `json:"enabled"`
	Reason    *string       `json:"reason"`
	CreatedAt *string       `json:"createdAt"`
	RotatedAt *string       `json:"rotatedAt"`
	Secret    string        `json:"secret,omitempty"`
}

// WebhookOf returns the view of a webhook, without its secret.
func WebhookOf(w webhooks.Webhook) Webhook {
	view := Webhook{
		ID: w.ID, URL: w.URL, Types: NonNil(w.Types), Enabled: w.Enabled, Reason: Optional(w.Reason),
		CreatedAt: timeText(w.CreatedAt), RotatedAt: timeText(w.RotatedAt),
	}
	return view
}

// Delivery shows an event for a webhook, and the state of its delivery.
type Delivery struct {
	ID       int64           `json:"id"`
	Event    json.RawMessage `json:"event"`
	State    webhooks.State  `json:"state"`
	Attempts int             `json:"attempts"`
	Status   *int            `json:"status"`
	Answer   *string         `json:"answer"`
	Error    *string         `json:"error"`
	Next     *string         `json:"next"`
}

// DeliveryOf returns the view of a delivery.
func DeliveryOf(d webhooks.Delivery) Delivery {
	view := Delivery{
		ID: d.ID, Event: d.Event, State: d.State, Attempts: d.Attempts, Answer: Optional(d.Outcome.Answer),
		Error: Optional(d.Outcome.Error), Next: timeText(d.Next),
	}
	if d.Outcome.Status != 0 {
		view.Status = &d.Outcome.Status
	}
	return view
}
