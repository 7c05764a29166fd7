package store

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"purser/internal/webhooks"
)

const (
	webhookColumns = `id, url, types, enabled, reason, secret, previous, rotated_at, created_at, owner`

	selectWebhooks = `SELECT ` + webhookColumns + ` FROM webhooks
		WHERE site = $1 AND ($2::bigint = 0 OR id = $2) ORDER BY id`

	insertWebhook = `INSERT INTO webhooks (site, url, types, enabled, reason, secret, created_at, owner)
		SELECT $1, $2, $3::text[], $4, '', $5, $6, $7
		FROM (SELECT $8::bigint - count(*) AS free, count(*) FILTER (WHERE owner = $7 AND $7 <> '') AS own
			FROM webhooks WHERE site = $1) AS shares
		WHERE free > 0 AND (own = 0 OR own < free) RETURNING id`

	updateWebhook = `UPDATE webhooks SET url = $3, types = $4, enabled = $5, reason = $6, secret = $7, previous = $8,
		rotated_at = $9, owner = $10 WHERE site = $1 AND id = $2 AND secret = $11`

	disableWebhook = `UPDATE webhooks SET enabled = false, reason = $4 WHERE site = $1 AND id = $2 AND url = $3`

	resealWebhook = `UPDATE webhooks SET secret = $5, previous = $6
		WHERE site = $1 AND id = $2 AND secret = $3 AND previous IS NOT DISTINCT FROM $4`

	deleteWebhook = `DELETE FROM webhooks WHERE site = $1 AND id = $2`

	enabledWebhooks = `SELECT ` + webhookColumns + ` FROM webhooks WHERE site = $1 AND enabled`
)

// Webhooks implements webhooks.Store.
func (s *Store) Webhooks(ctx context.Context) ([]webhooks.Webhook, error) {
	return collect(ctx, s, scanWebhook, selectWebhooks, s.site, 0)
}

// Webhook implements webhooks.Store.
func (s *Store) Webhook(ctx context.Context, id int64) (webhooks.Webhook, error) {
	if id < 1 { // 0 would select all
		return webhooks.Webhook{}, unknownWebhook(id)
	}
	found, err := collect(ctx, s, scanWebhook, selectWebhooks, s.site, id)
	if err == nil && len(found) == 0 {
		err = unknownWebhook(id)
	}
	if err != nil {
		return webhooks.Webhook{}, err
	}
	return found[0], nil
}

func unknownWebhook(id int64) error { return webhooks.Unknown(strconv.FormatInt(id, 10)) }

func scanWebhook(row pgx.CollectableRow) (w webhooks.Webhook, err error) {
	var rotated *time.Time
	err = row.Scan(&w.ID, &w.URL, &w.Types, &w.Enabled, &w.Reason, &w.Secret, &w.Previous, &rotated, &w.CreatedAt,
		&w.Owner)
	w.RotatedAt, w.CreatedAt = utc(rotated), w.CreatedAt.UTC()
	return w, err
}

// AddWebhook implements webhooks.Store.
func (s *Store) AddWebhook(ctx context.Context, w webhooks.Webhook, most int) (id int64, err error) {
	err = s.retryTx(ctx, general, s.deadlines.Write, func(ctx context.Context) error {
		err := s.pool.QueryRow(ctx, insertWebhook, s.site, w.URL, typeNames(w.Types), w.Enabled, w.Secret, w.CreatedAt,
			w.Owner, most).Scan(&id)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
	return id, err
}

// typeNames returns types as texts for a column that is not NULL.
func typeNames[T ~string](types []T) []string {
	list := make([]string, len(types))
	for i, word := range types {
		list[i] = string(word)
	}
	return list
}

// SetWebhook implements webhooks.Store.
func (s *Store) SetWebhook(ctx context.Context, w webhooks.Webhook, was []byte) (bool, error) {
	var rotated *time.Time
	if !w.RotatedAt.IsZero() {
		rotated = &w.RotatedAt
	}
	return s.changeWebhook(ctx, w.ID, updateWebhook, w.URL, typeNames(w.Types), w.Enabled, w.Reason, w.Secret, w.Previous,
		rotated, w.Owner, was)
}

// ResealWebhook implements webhooks.Store.
func (s *Store) ResealWebhook(ctx context.Context, w webhooks.Webhook, secret, previous []byte) error {
	_, err := s.exec(ctx, resealWebhook, s.site, w.ID, w.Secret, w.Previous, secret, previous)
	return err
}

// DropWebhook implements webhooks.Store. Its deliveries fail when they are tried.
func (s *Store) DropWebhook(ctx context.Context, id int64) error {
	done, err := s.changeWebhook(ctx, id, deleteWebhook)
	return unknownUnless(done, id, err)
}

// Disable implements webhooks.Store.
func (s *Store) Disable(ctx context.Context, id int64, url, reason string) error {
	done, err := s.changeWebhook(ctx, id, disableWebhook, url, reason)
	return unknownUnless(done, id, err)
}

// changeWebhook runs a write to one webhook, and reports whether it changed the webhook.
func (s *Store) changeWebhook(ctx context.Context, id int64, sql string, values ...any) (done bool, err error) {
	rows, err := s.exec(ctx, sql, append([]any{s.site, id}, values...)...)
	return rows > 0, err
}

// unknownUnless returns err. If err is nil and done is false, it returns the fault that the webhook does not exist.
func unknownUnless(done bool, id int64, err error) error {
	if err == nil && !done {
		return unknownWebhook(id)
	}
	return err
}
