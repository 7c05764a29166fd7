package changes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"purser/internal/document"
	"purser/internal/revisions"
	"purser/internal/secrets"
)

// Reseal reseals, in small batches, all secrets that were not sealed with the newest key. It may be stopped at any time
// and resumes there. Secrets that cannot be opened are logged and left unchanged.
func (s *Service) Reseal(ctx context.Context, log *slog.Logger) (resealed int, err error) {
	const few = 100
	var after document.Digest
	for s.Vault != nil {
		outdated, err := s.Store.Outdated(ctx, s.Vault.Prefix(ctx), after, few)
		if err != nil {
			return resealed, fmt.Errorf("find secrets of older keys: %w", err)
		}
		if len(outdated) == 0 {
			break
		}
		for _, content := range outdated {
			after = content.Digest
			done, err := s.resealOne(ctx, content, log)
			if err != nil {
				return resealed, err
			}
			if done {
				resealed++
			}
		}
	}
	return resealed, nil
}

func (s *Service) resealOne(ctx context.Context, content revisions.SealedContent, log *slog.Logger) (bool, error) {
	place, ok := secrets.PlaceOf(content.Reference)
	if !ok {
		log.ErrorContext(ctx, "a sealed secret has no place", "content", content.Digest.String())
		return false, nil
	}
	sealed, err := s.Vault.Reseal(ctx, place, content.Sealed)
	if unopened, lost := errors.AsType[*secrets.Unopened](err); lost {
		log.ErrorContext(ctx, "a secret stays sealed with an older key", "error", unopened.Error())
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("seal a secret again: %w", err)
	}
	if err := s.Store.Reseal(ctx, content, sealed); err != nil {
		return false, fmt.Errorf("store a secret that was sealed again: %w", err)
	}
	return true, nil
}

// KeepResealed calls Reseal, and others for other kinds of secrets, whenever there is a newer key and every 360 checks
// of the key, until the context ends. It checks the key at the given interval.
func (s *Service) KeepResealed(ctx context.Context, every time.Duration, log *slog.Logger,
	others func(context.Context, *slog.Logger) (int, error),
) {
	const often = 360 // checks of the key
	var done []byte
	for look := 0; s.Vault != nil; look++ {
		if newest := s.Vault.Prefix(ctx); !bytes.Equal(newest, done) || look%often == 0 {
			resealed, err := s.Reseal(ctx, log)
			more, failed := others(ctx, log)
			resealed, err = resealed+more, errors.Join(err, failed)
			switch {
			case err == nil:
				done = newest
				s.Store.ForgetSealed() // perhaps another server has sealed them; an older key may be removed from now on
			case ctx.Err() == nil:
				log.ErrorContext(ctx, "seal secrets with the newest key", "error", err.Error())
			}
			if resealed > 0 {
				log.InfoContext(ctx, "secrets were sealed with the newest key", "secrets", resealed)
			}
		}
		select {
		case <-time.After(every):
		case <-ctx.Done():
			return
		}
	}
}
