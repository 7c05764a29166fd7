package webhooks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

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
	newest := s.Vault.Prefix(ctx)
	var missing []int64 // the webhooks with secrets whose keys are missing
	for _, w := range all {
		again := [2][]byte{w.Secret, w.Previous}
		changed := false
		for i, sealed := range again {
			if sealed == nil || bytes.HasPrefix(sealed, newest) {
				continue
			}
			sealed, err := s.Vault.Reseal(ctx, place(), sealed)
			unopened, lost := errors.AsType[*secrets.Unopened](err)
			if lost && unopened.Cause == secrets.LostKey {
				missing = append(missing, w.ID)
				continue
			}
			if lost {
				log.ErrorContext(ctx, "the secret of a webhook stays sealed with an older key", "webhook", w.ID, "error",
					unopened.Error())
				continue
			}
			if err != nil {
				return resealed, fmt.Errorf("seal the secret of webhook %d again: %w", w.ID, err)
			}
			again[i], changed = sealed, true
		}
		if !changed {
			continue
		}
		if err := s.Store.ResealWebhook(ctx, w, again[0], again[1]); err != nil {
			return resealed, fmt.Errorf("store the secret of webhook %d that was sealed again: %w", w.ID, err)
		}
		resealed++
	}
	if len(missing) > 0 {
		log.ErrorContext(ctx, "the keyset lacks the keys of secrets of webhooks, which this server cannot call: copy the "+
			"keyset file that holds these keys to this server", "webhooks", slices.Compact(missing))
	}
	return resealed, nil
}
