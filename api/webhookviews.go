package api

import (
	"purser/internal/webhooks"
	"purser/internal/wire"
)

// webhookView returns the view of a webhook, without its secret.
func webhookView(w webhooks.Webhook) wire.Webhook {
	return wire.Webhook{
		ID: w.ID, URL: w.URL, Types: nonNil(w.Types), Enabled: w.Enabled, Reason: wire.Optional(w.Reason),
		CreatedAt: wire.TimeText(w.CreatedAt), RotatedAt: wire.TimeText(w.RotatedAt),
	}
}

// deliveryView returns the view of a delivery.
func deliveryView(d webhooks.Delivery) wire.Delivery {
	view := wire.Delivery{
		ID: d.ID, Event: d.Event, State: string(d.State), Attempts: d.Attempts,
		Answer: wire.Optional(d.Outcome.Answer), Error: wire.Optional(d.Outcome.Error), Next: wire.TimeText(d.Next),
	}
	if d.Outcome.Status != 0 {
		view.Status = &d.Outcome.Status
	}
	return view
}
