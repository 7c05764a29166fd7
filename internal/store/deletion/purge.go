package deletion

import (
	"context"

	"github.com/jackc/pgx/v5"

	"purser/internal/revisions"
	"purser/internal/store/postgres"
	"purser/internal/store/site"
)

// purge deletes all rows of the site except its counters. It waits for tags and results that are being written.
var purge = []string{
	`SELECT FROM revisions WHERE site = $1 ORDER BY revision FOR UPDATE`,
	`DELETE FROM tags WHERE site = $1`,
	`DELETE FROM results WHERE site = $1`,
	`DELETE FROM reported WHERE site = $1`,
	`DELETE FROM entries WHERE site = $1`,
	`DELETE FROM violations WHERE site = $1`,
	`DELETE FROM checks WHERE site = $1`,
	`DELETE FROM documents WHERE site = $1`,
	`DELETE FROM contents WHERE site = $1`,
	`DELETE FROM buckets WHERE site = $1`,
	`DELETE FROM occupancies WHERE site = $1`,
	`DELETE FROM revisions WHERE site = $1`,
}

const (
	resetSite = `UPDATE sites SET epoch = epoch + 1, head = 0, documents = 0, live = 0, settled = 0,
		stamp = $2, purged_at = now(), purged_by = $3, purge_message = $4 WHERE site = $1`

	secretsAfter = encryptedAmong + `d.id > $2` + firstDocument
)

// Purge implements revisions.Store.
func (s *Sweeper) Purge(ctx context.Context, options revisions.Options) error {
	return s.sweeping(ctx, func(ctx context.Context) error {
		err := s.purge(ctx, options)
		if err == nil {
			s.journal.Wake()
			s.vacuum(ctx)
		}
		return err
	})
}

func (s *Sweeper) purge(ctx context.Context, options revisions.Options) error {
	return s.site.Retry(ctx, s.site.Deadlines.Sweep, func(ctx context.Context) error {
		return pgx.BeginFunc(ctx, s.site.Pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, postgres.Patiently); err != nil {
				return err //nolint:wrapcheck // explained by the caller
			}
			if err := s.lockToPurge(ctx, tx, options); err != nil {
				return err
			}
			if err := s.site.CheckSchema(ctx, tx); err != nil {
				return err
			}
			batch := &pgx.Batch{}
			batch.Queue(resetSite, s.site.Name, revisions.NewStamp(), options.User, options.Message)
			for _, statement := range purge {
				batch.Queue(statement, s.site.Name)
			}
			if options.Audit != nil {
				s.journal.QueueAudit(batch, *options.Audit)
			}
			s.journal.QueuePurged(batch)
			return tx.SendBatch(ctx, batch).Close()
		})
	})
}

// lockToPurge locks the site's counters if the options permit the purge. For a caller who may not delete encrypted
// documents, it searches all versions for them without the lock, and versions added meanwhile with it.
func (s *Sweeper) lockToPurge(ctx context.Context, tx pgx.Tx, options revisions.Options) error {
	var seen revisions.Head
	steps := []string{site.LockHead}
	if options.CleartextOnly {
		steps = []string{site.ReadHead, site.LockHead}
	}
	for _, sql := range steps {
		var head revisions.Head
		if err := tx.QueryRow(ctx, sql, s.site.Name).Scan(site.HeadFields(&head)...); err != nil {
			return err //nolint:wrapcheck // explained by the caller
		}
		if err := options.Expected.Check(head); err != nil {
			return err
		}
		if head.Epoch != seen.Epoch { // numbers began again
			seen.LastDocument = 0
		}
		if err := keepSecrets(ctx, tx, options, secretsAfter, s.site.Name, seen.LastDocument); err != nil {
			return err
		}
		seen = head
	}
	return nil
}
