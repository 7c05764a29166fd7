package views

import (
	"purser/internal/webhooks"
	"purser/internal/wire"
)

// Webhook returns the view of a webhook, without its secret.
func Webhook(w webhooks.Webhook) wire.Webhook {
	return wire.Webhook{
		ID: w.ID, URL: w.URL, Types: NonNil(w.Types), Enabled: w.Enabled, Reason: wire.Optional(w.Reason),
		CreatedAt: wire.TimeText(w.CreatedAt), RotatedAt: wire.TimeText(w.RotatedAt),
	}
}

// Delivery returns the view of a delivery.
func Delivery(d webhooks.Delivery) wire.Delivery {
	view := wire.Delivery{
		ID: d.ID, Event: d.Event, State: string(d.State), Attempts: d.Attempts,
		Answer: wire.Optional(d.Outcome.Answer), Error: wire.Optional(d.Outcome.Error), Next: wire.TimeText(d.Next),
	}
	if d.Outcome.Status != 0 {
		view.Status = &d.Outcome.Status
	}
	return view
}
