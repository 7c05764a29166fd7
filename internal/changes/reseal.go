package changes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"purser/internal/revisions"
	"purser/internal/secrets"
)

// Reseal reseals, in small batches, all secrets that were not sealed with the key in use. It may be stopped at any time
// and resumes there. Secrets that cannot be opened are logged and left unchanged: those whose keys are missing in one
// line, which may be all of them.
func (s *Service) Reseal(ctx context.Context, log *slog.Logger) (resealed int, err error) {
	missing := map[uint32]int{} // numbers of secrets, by the ids of their keys
	err = s.outdated(ctx, s.Vault.Prefix(ctx), func(content revisions.SealedContent) error {
		done, err := s.resealOne(ctx, content, log)
		if unopened, ok := errors.AsType[*secrets.Unopened](err); ok && unopened.Cause == secrets.LostKey {
			missing[unopened.Key]++
			return nil
		}
		if done {
			resealed++
		}
		return err
	})
	if len(missing) > 0 {
		const most = 10
		keys, number := slices.Sorted(maps.Keys(missing)), 0
		for _, secrets := range missing {
			number += secrets
		}
		log.ErrorContext(ctx, "the keyset lacks the keys of secrets in the database: requests that need them fail; copy the "+
			"keyset file that holds these keys to this server", "secrets", number, "keys", keys[:min(len(keys), most)])
	}
	return resealed, err
}

// warnOfSecrets logs how many secrets a server without a keyset cannot open, if there are any.
func (s *Service) warnOfSecrets(ctx context.Context, log *slog.Logger) {
	number, err := s.Store.Sealed(ctx)
	switch {
	case err != nil && ctx.Err() == nil:
		log.ErrorContext(ctx, "count the secrets that need a keyset", "error", err.Error())
	case number > 0:
		log.WarnContext(ctx, "the database holds secrets, and this server has no keyset: requests that need them fail; name "+
			"the keyset file with --secrets-keyset", "secrets", number)
	}
}

// outdated calls do with each secret whose sealed text does not begin with a prefix.
func (s *Service) outdated(ctx context.Context, prefix []byte, do func(revisions.SealedContent) error) error {
	const few = 100
	var last revisions.SealedContent
	contents := func() ([]revisions.SealedContent, error) { return s.Store.Outdated(ctx, prefix, last.Digest, few) }
	texts := func() ([]revisions.SealedContent, error) { return s.Store.OutdatedTexts(ctx, prefix, last.Block, few) }
	for _, next := range []func() ([]revisions.SealedContent, error){contents, texts} {
		for {
			outdated, err := next()
			if err != nil {
				return fmt.Errorf("find secrets of older keys: %w", err)
			}
			if len(outdated) == 0 {
				break
			}
			for _, last = range outdated {
				if err := do(last); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// resealOne reseals a secret. The error is *secrets.Unopened if the key of the secret is missing.
func (s *Service) resealOne(ctx context.Context, content revisions.SealedContent, log *slog.Logger) (bool, error) {
	place, ok := secrets.PlaceOf(content.Reference)
	if !ok {
		log.ErrorContext(ctx, "a sealed secret has no place", "content", content.Digest.String(), "block", content.Block)
		return false, nil
	}
	sealed, err := s.Vault.Reseal(ctx, place, content.Sealed)
	if unopened, ok := errors.AsType[*secrets.Unopened](err); ok && unopened.Cause == secrets.Damaged {
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

// KeepResealed calls Reseal, and others for other kinds of secrets, whenever another key is in use and every 360 checks
// of the key, until the context ends. It checks the key at the given interval. Without a keyset it only logs how many
// secrets need one.
func (s *Service) KeepResealed(ctx context.Context, every time.Duration, log *slog.Logger,
	others func(context.Context, *slog.Logger) (int, error),
) {
	const often = 360 // checks of the key
	if s.Vault == nil {
		s.warnOfSecrets(ctx, log)
		return
	}
	var done []byte
	for look := 0; ; look++ {
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
