package webhooks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"

	"purser/internal/secrets"
)

// Reseal seals the secrets of webhooks with the newest key unless they are, and returns the number of webhooks that it
// changed. It logs and skips secrets that cannot be opened.
func (s *Service) Reseal(ctx context.Context, log *slog.Logger) (resealed int, err error) {
	if s.Vault == nil {
		return 0, nil
	}
	all, err := s.Store.Webhooks(ctx)
	if err != nil {
		return 0, fmt.Errorf("read webhooks: %w", err)
	}
	var missing []int64 // the webhooks with secrets whose keys are missing
	for _, w := range all {
		again, lost, err := s.resealed(ctx, w, log)
		switch {
		case err != nil:
			return resealed, fmt.Errorf("seal the secret of webhook %d again: %w", w.ID, err)
		case lost:
			missing = append(missing, w.ID)
		}
		if bytes.Equal(again[0], w.Secret) && bytes.Equal(again[1], w.Previous) {
			continue
		}
		if err := s.Store.ResealWebhook(ctx, w, again[0], again[1]); err != nil {
			return resealed, fmt.Errorf("store the secret of webhook %d that was sealed again: %w", w.ID, err)
		}
		resealed++
	}
	if len(missing) > 0 {
		log.ErrorContext(ctx, "the keyset lacks the keys of secrets of webhooks, which this server cannot call: copy the "+
			"keyset file that holds these keys to this server", "webhooks", missing)
	}
	return resealed, nil
}

// resealed returns the secrets of a webhook sealed with the newest key, and whether the keyset lacks the key of one.
// Those that cannot be opened stay as they are.
func (s *Service) resealed(ctx context.Context, w Webhook, log *slog.Logger) (again [2][]byte, lost bool, err error) {
	again = [2][]byte{w.Secret, w.Previous}
	for i, sealed := range again {
		if sealed == nil || bytes.HasPrefix(sealed, s.Vault.Prefix(ctx)) {
			continue
		}
		sealed, err := s.Vault.Reseal(ctx, s.place(), sealed)
		unopened, isUnopened := errors.AsType[*secrets.Unopened](err)
		switch {
		case isUnopened && unopened.Cause == secrets.LostKey:
			lost = true
		case isUnopened:
			log.ErrorContext(ctx, "the secret of a webhook stays sealed with an older key", "webhook", w.ID, "error",
				unopened.Error())
		case err != nil:
			return again, lost, err
		default:
			again[i] = sealed
		}
	}
	return again, lost, nil
}
