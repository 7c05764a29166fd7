package changes

import (
	"context"
	"fmt"

	"purser/internal/fault"
	"purser/internal/revisions"
)

// Purge deletes all revisions and everything that belongs to them, and records who did it and why. Faults: Stale,
// Forbidden if it would delete encrypted documents and the options do not allow that.
func (s *Service) Purge(ctx context.Context, options revisions.Options) error {
	if err := s.Store.Purge(ctx, s.deleting(options)); err != nil {
		return fmt.Errorf("purge: %w", err)
	}
	return nil
}

// Prune deletes all revisions except the newest keep and tagged ones, and everything that no remaining revision needs;
// a dry run only reports it. Faults: Invalid if keep is less than 1, Stale, Forbidden if it would delete encrypted
// documents and the options do not allow that.
func (s *Service) Prune(ctx context.Context, keep int, options revisions.Options) (revisions.Pruned, error) {
	if keep < 1 {
		return revisions.Pruned{}, fault.New(fault.Invalid, "HTTPInvalidParam",
			"The \"keep\" parameter is invalid. At least the newest revision must be kept; DELETE /revisions deletes all.")
	}
	pruned, err := s.Store.Prune(ctx, keep, s.deleting(options))
	if err != nil {
		return revisions.Pruned{}, fmt.Errorf("prune: %w", err)
	}
	return pruned, nil
}

// KeepPruned prunes a site for the server itself: it keeps the newest revisions and tagged ones, as Prune does, but
// only if that is due, and never in an archived site. It keeps all if keep is 0. The event of a prune tells of it.
func (s *Service) KeepPruned(ctx context.Context, keep int) (pruned revisions.Pruned, err error) {
	if keep <= 0 {
		return pruned, nil
	}
	prunable, err := s.Store.Prunable(ctx, keep)
	if err != nil || !pruneDue(prunable, keep) {
		return pruned, err
	}
	return s.Prune(ctx, keep, revisions.Options{})
}

// pruneDue reports whether so many revisions can be pruned that it is worth a prune: a tenth of those that are kept.
func pruneDue(prunable, keep int) bool {
	const part = 10
	return prunable > 0 && prunable >= keep/part
}

// deleting returns the options of a deletion: with Compat it needs no permission to store encrypted documents.
func (s *Service) deleting(options revisions.Options) revisions.Options {
	options.CleartextOnly = options.CleartextOnly && !s.Compat
	return options
}
