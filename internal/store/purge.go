package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"purser/internal/revisions"
)

// Purge implements revisions.Store.
func (s *Store) Purge(ctx context.Context, options revisions.Options) error {
	return s.sweeping(ctx, func(ctx context.Context) error {
		err := s.purge(ctx, options)
		if err == nil {
			s.announce()
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
		batch.Queue(stmt.ResetSite, named{
			"site": s.site, "stamp": revisions.NewStamp(), "user": options.User, "message": options.Message,
		})
		batch.Queue(stmt.LockRevisions, named{"site": s.site})
		for _, table := range tables {
			batch.Queue("DELETE FROM "+table+" WHERE site = $1", s.site)
		}
		if options.Audit != nil {
			s.queueAudit(batch, *options.Audit)
		}
		batch.Queue(stmt.InsertPurgeEvent, named{"site": s.site}) // with the epoch after it
		return tx.SendBatch(ctx, batch).Close()
	})
}

// lockToPurge locks the site's counters if the options permit the purge. For a caller who may not delete encrypted
// documents, it searches all versions for them without the lock, and versions added meanwhile with it.
func (s *Store) lockToPurge(ctx context.Context, tx pgx.Tx, options revisions.Options) error {
	var seen revisions.Head
	steps := []string{stmt.LockHead}
	if options.CleartextOnly {
		steps = []string{stmt.ReadHead, stmt.LockHead}
	}
	for _, sql := range steps {
		var head revisions.Head
		if err := tx.QueryRow(ctx, sql, named{"site": s.site}).Scan(headFields(&head)...); err != nil {
			return err
		}
		if err := options.Expected.Check(head); err != nil {
			return err
		}
		if head.Epoch != seen.Epoch { // numbers began again
			seen.LastDocument = 0
		}
		args := named{"site": s.site, "id": seen.LastDocument}
		if err := keepSecrets(ctx, tx, options, stmt.SecretsAfter, args); err != nil {
			return err
		}
		seen = head
	}
	return nil
}
