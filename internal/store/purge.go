package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"purser/internal/revisions"
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
func (s *Store) Purge(ctx context.Context, options revisions.Options) error {
	return s.sweeping(ctx, func(ctx context.Context) error {
		err := s.purge(ctx, options)
		if err == nil {
			s.wake()
			s.vacuum(ctx)
		}
		return err
	})
}

func (s *Store) purge(ctx context.Context, options revisions.Options) error {
	return s.withTx(ctx, s.deadlines.Sweep, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, noStatementTimeout); err != nil {
			return err
		}
		if err := s.lockToPurge(ctx, tx, options); err != nil {
			return err
		}
		if err := s.checkSchema(ctx, tx); err != nil {
			return err
		}
		batch := &pgx.Batch{}
		batch.Queue(resetSite, s.site, revisions.NewStamp(), options.User, options.Message)
		for _, statement := range purge {
			batch.Queue(statement, s.site)
		}
		if options.Audit != nil {
			s.queueAudit(batch, *options.Audit)
		}
		s.queuePurged(batch)
		return tx.SendBatch(ctx, batch).Close()
	})
}

// lockToPurge locks the site's counters if the options permit the purge. For a caller who may not delete encrypted
// documents, it searches all versions for them without the lock, and versions added meanwhile with it.
func (s *Store) lockToPurge(ctx context.Context, tx pgx.Tx, options revisions.Options) error {
	var seen revisions.Head
	steps := []string{lockHead}
	if options.CleartextOnly {
		steps = []string{readHead, lockHead}
	}
	for _, sql := range steps {
		var head revisions.Head
		if err := tx.QueryRow(ctx, sql, s.site).Scan(headFields(&head)...); err != nil {
			return err
		}
		if err := options.Expected.Check(head); err != nil {
			return err
		}
		if head.Epoch != seen.Epoch { // numbers began again
			seen.LastDocument = 0
		}
		if err := keepSecrets(ctx, tx, options, secretsAfter, s.site, seen.LastDocument); err != nil {
			return err
		}
		seen = head
	}
	return nil
}
