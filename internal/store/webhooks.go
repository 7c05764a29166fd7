package store

import (
	"context"
	"errors"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"purser/internal/webhooks"
)

// Webhooks implements webhooks.Store.
func (s *Store) Webhooks(ctx context.Context) ([]webhooks.Webhook, error) {
	return collect(ctx, s.Database, scanWebhook, stmt.SelectWebhooks, named{"site": s.site, "id": 0})
}

// Webhook implements webhooks.Store.
func (s *Store) Webhook(ctx context.Context, id int64) (webhooks.Webhook, error) {
	if id < 1 { // 0 would select all
		return webhooks.Webhook{}, unknownWebhook(id)
	}
	found, err := collect(ctx, s.Database, scanWebhook, stmt.SelectWebhooks, named{"site": s.site, "id": id})
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
	err = row.Scan(&w.ID, &w.URL, &w.Types, &w.Enabled, &w.Reason, &w.Secret, &w.Previous,
		(*zeronull.Timestamptz)(&w.RotatedAt), &w.CreatedAt, &w.Owner)
	return w, err
}

// AddWebhook implements webhooks.Store.
func (s *Store) AddWebhook(ctx context.Context, w webhooks.Webhook, most int) (id int64, err error) {
	err = s.retryTx(ctx, general, s.deadlines.Write, func(ctx context.Context) error {
		err := s.pool.QueryRow(ctx, stmt.InsertWebhook, named{
			"site": s.site, "url": w.URL, "types": orEmpty(w.Types), "enabled": w.Enabled, "secret": w.Secret,
			"created_at": w.CreatedAt, "owner": w.Owner, "most": most,
		}).Scan(&id)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
	return id, err
}

// SetWebhook implements webhooks.Store.
func (s *Store) SetWebhook(ctx context.Context, w webhooks.Webhook, was []byte) (bool, error) {
	rows, err := s.exec(ctx, stmt.UpdateWebhook, named{
		"site": s.site, "id": w.ID, "url": w.URL, "types": orEmpty(w.Types), "enabled": w.Enabled, "reason": w.Reason,
		"secret": w.Secret, "previous": w.Previous, "rotated_at": zeronull.Timestamptz(w.RotatedAt),
		"owner": w.Owner, "old_secret": was,
	})
	return rows > 0, err
}

// ResealWebhook implements webhooks.Store.
func (s *Store) ResealWebhook(ctx context.Context, w webhooks.Webhook, secret, previous []byte) error {
	_, err := s.exec(ctx, stmt.ResealWebhook, named{
		"site": s.site, "id": w.ID, "secret": secret, "previous": previous, "old_secret": w.Secret,
		"old_previous": w.Previous,
	})
	return err
}

// DropWebhook implements webhooks.Store. Its deliveries fail when they are tried.
func (s *Store) DropWebhook(ctx context.Context, id int64) error {
	return s.changeWebhook(ctx, id, stmt.DeleteWebhook, named{"site": s.site, "id": id})
}

// Disable implements webhooks.Store.
func (s *Store) Disable(ctx context.Context, id int64, url, reason string) error {
	return s.changeWebhook(ctx, id, stmt.DisableWebhook, named{"site": s.site, "id": id, "url": url, "reason": reason})
}

// changeWebhook runs a write to one webhook. Fault: NotFound if it changed none.
func (s *Store) changeWebhook(ctx context.Context, id int64, sql string, args named) error {
	rows, err := s.exec(ctx, sql, args)
	if err == nil && rows == 0 {
		err = unknownWebhook(id)
	}
	return err
}
