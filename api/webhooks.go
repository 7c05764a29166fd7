package api

import (
	"net/http"
	"strconv"

	"purser/api/parameters"
	"purser/api/views"
	"purser/internal/webhooks"
)

// GET /api/v1.0/webhooks
func (s *server) listWebhooks(w http.ResponseWriter, r *http.Request) error {
	all, err := s.Webhooks.Store.Webhooks(r.Context())
	if err != nil {
		return err
	}
	s.answers.Write(w, r, http.StatusOK, views.ListOf(all, views.WebhookOf))
	return nil
}

// POST /api/v1.0/webhooks
func (s *server) addWebhook(w http.ResponseWriter, r *http.Request) error {
	wish, err := s.readWish(w, r)
	if err != nil {
		return err
	}
	made, secret, err := s.Webhooks.Add(r.Context(), wish)
	if err != nil {
		return err
	}
	view := views.WebhookOf(made)
	view.Secret = secret
	s.answers.Write(w, r, http.StatusCreated, view)
	return nil
}

// GET /api/v1.0/webhooks/{webhook}
func (s *server) showWebhook(w http.ResponseWriter, r *http.Request) error {
	found, err := s.Webhooks.Store.Webhook(r.Context(), idOf(r, "webhook"))
	if err != nil {
		return err
	}
	s.answers.Write(w, r, http.StatusOK, views.WebhookOf(found))
	return nil
}

// PUT /api/v1.0/webhooks/{webhook}
func (s *server) setWebhook(w http.ResponseWriter, r *http.Request) error {
	wish, err := s.readWish(w, r)
	if err != nil {
		return err
	}
	set, err := s.Webhooks.Set(r.Context(), idOf(r, "webhook"), wish)
	if err != nil {
		return err
	}
	s.answers.Write(w, r, http.StatusOK, views.WebhookOf(set))
	return nil
}

// DELETE /api/v1.0/webhooks/{webhook}
func (s *server) deleteWebhook(w http.ResponseWriter, r *http.Request) error {
	if err := s.Webhooks.Store.DropWebhook(r.Context(), idOf(r, "webhook")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// POST /api/v1.0/webhooks/{webhook}/ping
func (s *server) pingWebhook(w http.ResponseWriter, r *http.Request) error {
	made, err := s.Webhooks.Ping(r.Context(), idOf(r, "webhook"))
	if err != nil {
		return err
	}
	s.answers.Write(w, r, http.StatusAccepted, views.DeliveryOf(made))
	return nil
}

// GET /api/v1.0/webhooks/{webhook}/deliveries
func (s *server) listDeliveries(w http.ResponseWriter, r *http.Request) error {
	q := parameters.Of(r)
	page := q.Page()
	if err := q.Err(); err != nil {
		return err
	}
	found, more, err := s.Webhooks.Deliveries(r.Context(), idOf(r, "webhook"), page)
	if err != nil {
		return err
	}
	writePage(s, w, r, page, more, views.ListOf(found, views.DeliveryOf))
	return nil
}

// POST /api/v1.0/webhooks/{webhook}/deliveries/{delivery}/retry
func (s *server) retryDelivery(w http.ResponseWriter, r *http.Request) error {
	again, err := s.Webhooks.Store.Retry(r.Context(), idOf(r, "webhook"), idOf(r, "delivery"))
	if err != nil {
		return err
	}
	s.answers.Write(w, r, http.StatusAccepted, views.DeliveryOf(again))
	return nil
}

// idOf returns a number in the path, or 0, which is no id, for anything else.
func idOf(r *http.Request, parameter string) int64 {
	id, err := strconv.ParseInt(revisionName(r, parameter), 10, 64)
	if err != nil {
		return 0
	}
	return id
}

// maxWish bounds the body of a webhook, in bytes.
const maxWish = 64 << 10

// readWish reads the requested state of a webhook. Fault: Invalid.
func (s *server) readWish(w http.ResponseWriter, r *http.Request) (webhooks.Wish, error) {
	body, err := s.readOne(w, r, maxWish)
	if err != nil {
		return webhooks.Wish{}, err
	}
	return webhooks.ParseWish(body)
}
