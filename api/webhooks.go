package api

import (
	"net/http"
	"strconv"

	"purser/internal/webhooks"
	"purser/internal/wire"
)

// GET /api/v1.0/webhooks
func (s *server) listWebhooks(w http.ResponseWriter, r *http.Request) error {
	all, err := s.at(r).Webhooks.Store.Webhooks(r.Context())
	if err != nil {
		return err
	}
	s.answers.write(w, r, http.StatusOK, listView(all, webhookView))
	return nil
}

// POST /api/v1.0/webhooks
func (s *server) addWebhook(w http.ResponseWriter, r *http.Request) error {
	spec, err := s.readSpec(w, r)
	if err != nil {
		return err
	}
	made, secret, err := s.at(r).Webhooks.Add(r.Context(), spec)
	if err != nil {
		return err
	}
	view := webhookView(made)
	view.Secret = secret
	s.answers.write(w, r, http.StatusCreated, view)
	return nil
}

// GET /api/v1.0/webhooks/{webhook}
func (s *server) showWebhook(w http.ResponseWriter, r *http.Request, id int64) error {
	found, err := s.at(r).Webhooks.Store.Webhook(r.Context(), id)
	if err != nil {
		return err
	}
	s.answers.write(w, r, http.StatusOK, webhookView(found))
	return nil
}

// PUT /api/v1.0/webhooks/{webhook}
func (s *server) setWebhook(w http.ResponseWriter, r *http.Request, id int64) error {
	spec, err := s.readSpec(w, r)
	if err != nil {
		return err
	}
	set, err := s.at(r).Webhooks.Set(r.Context(), id, spec)
	if err != nil {
		return err
	}
	s.answers.write(w, r, http.StatusOK, webhookView(set))
	return nil
}

// DELETE /api/v1.0/webhooks/{webhook}
func (s *server) deleteWebhook(w http.ResponseWriter, r *http.Request, id int64) error {
	if err := s.at(r).Webhooks.Store.DropWebhook(r.Context(), id); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// POST /api/v1.0/webhooks/{webhook}/ping
func (s *server) pingWebhook(w http.ResponseWriter, r *http.Request, id int64) error {
	made, err := s.at(r).Webhooks.Ping(r.Context(), id)
	if err != nil {
		return err
	}
	s.answers.write(w, r, http.StatusAccepted, deliveryView(made))
	return nil
}

// GET /api/v1.0/webhooks/{webhook}/deliveries
func (s *server) listDeliveries(w http.ResponseWriter, r *http.Request, id int64) error {
	q := paramsOf(r)
	page := q.page()
	if err := q.err(); err != nil {
		return err
	}
	found, more, err := s.at(r).Webhooks.Deliveries(r.Context(), id, page)
	if err != nil {
		return err
	}
	return writePage(s, w, r, part{page, more}, found, deliveryView)
}

// POST /api/v1.0/webhooks/{webhook}/deliveries/{delivery}/retry
func (s *server) retryDelivery(w http.ResponseWriter, r *http.Request, id int64) error {
	delivery, isID := idOf(r, "delivery")
	if !isID {
		return webhooks.UnknownDelivery(id, revisionName(r, "delivery"))
	}
	again, err := s.at(r).Webhooks.Store.Retry(r.Context(), id, delivery)
	if err != nil {
		return err
	}
	s.answers.write(w, r, http.StatusAccepted, deliveryView(again))
	return nil
}

// ofWebhook returns a handler that passes on the id of the webhook in the path. Fault: NotFound if it cannot be an id.
func ofWebhook(handle func(w http.ResponseWriter, r *http.Request, id int64) error) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		id, isID := idOf(r, "webhook")
		if !isID {
			return webhooks.Unknown(revisionName(r, "webhook"))
		}
		return handle(w, r, id)
	}
}

// idOf returns the number in the path; isID reports whether it can be an id.
func idOf(r *http.Request, parameter string) (id int64, isID bool) {
	id, err := strconv.ParseInt(revisionName(r, parameter), 10, 64)
	return id, err == nil && id > 0
}

// maxSpec bounds the body of a webhook, in bytes.
const maxSpec = 64 << 10

// readSpec reads the requested state of a webhook. Fault: Invalid.
func (s *server) readSpec(w http.ResponseWriter, r *http.Request) (webhooks.Spec, error) {
	body, err := s.readOne(w, r, maxSpec)
	if err != nil {
		return webhooks.Spec{}, err
	}
	return webhooks.ParseSpec(body)
}

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
