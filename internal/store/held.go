package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"purser/internal/document"
	"purser/internal/events"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// Results with inputs also hold for other revisions: held is the digest of the documents that they depend on.

// scanInputs reads the inputs of results by the names of their validations.
func scanInputs(rows pgx.Rows, inputs map[string]validations.Selection) error {
	var name, text string
	_, err := pgx.ForEachRow(rows, []any{&name, &text}, func() error {
		value, err := document.ParseJSON([]byte(text))
		if err == nil {
			inputs[name], err = validations.ParseSelection("inputs", value)
		}
		return err
	})
	return err
}

// heldArguments returns the arguments of HeldResults.
func (s *Store) heldArguments(holds []revisions.Hold, author string) named {
	return named{
		"site": s.site, "author": author,
		"names":   column(holds, func(h revisions.Hold) string { return h.Name }),
		"digests": column(holds, func(h revisions.Hold) nullDigest { return nullDigest(h.Digest) }),
		"each":    column(holds, func(h revisions.Hold) bool { return h.Each }),
	}
}

// heldInto returns a function that scans the rows of HeldResults, without those of a validation of which one is a
// failure: the newest, or that of a user who rejects what others approve.
func heldInto(held *[]revisions.HeldResult) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		var status string
		var h revisions.HeldResult
		fails := map[string]bool{}
		*held = nil
		_, err := pgx.ForEachRow(rows, []any{
			&h.ID, &h.Revision, &h.Name, &status, &h.At, &h.CarriedFrom, &h.Inputs, &h.URL, &h.User, &h.Validator,
		}, func() error {
			fails[h.Name] = fails[h.Name] || status != validations.Success.String()
			*held = append(*held, h)
			return nil
		})
		*held = slices.DeleteFunc(*held, func(h revisions.HeldResult) bool { return fails[h.Name] })
		return err
	}
}

// Held implements revisions.Store.
func (s *Store) Held(ctx context.Context, holds []revisions.Hold, author string) (
	held []revisions.HeldResult, err error,
) {
	_, err = s.inSnapshot(ctx, general, func(q *questions) {
		q.ask(heldInto(&held), stmt.HeldResults, s.heldArguments(holds, author))
	})
	return held, err
}

// sameHeld reports whether two lists have the same results.
func sameHeld(a, b []revisions.HeldResult) bool {
	return slices.EqualFunc(a, b, func(a, b revisions.HeldResult) bool { return a.ID == b.ID })
}

// queueHeld copies the results that a commit takes over.
func (s *Store) queueHeld(batch *pgx.Batch, commit revisions.Commit) {
	if len(commit.Held) > 0 {
		batch.Queue(stmt.CopyHeld, named{
			"site": s.site, "revision": commit.Revision.ID,
			"revisions": column(commit.Held, func(h revisions.HeldResult) int64 { return h.Revision }),
			"names":     column(commit.Held, func(h revisions.HeldResult) string { return h.Name }),
			"ids":       column(commit.Held, func(h revisions.HeldResult) int64 { return h.ID }),
		})
	}
}

// Settled implements revisions.Store.
func (s *Store) Settled(ctx context.Context) (newest int64, err error) {
	err = s.retryTx(ctx, general, s.deadlines.Append, func(ctx context.Context) error {
		return s.pool.QueryRow(ctx, stmt.SettledHead, named{"site": s.site}).Scan(&newest)
	})
	if err != nil {
		return 0, fmt.Errorf("wait for changes: %w", err)
	}
	return newest, nil
}

// CarryHeld implements revisions.Store.
func (s *Store) CarryHeld(ctx context.Context, to revisions.Revision, from int64, each bool, like validations.Result,
) error {
	event := events.Posted{
		Revision: to.ID, Name: like.Name, Status: like.Status, Validator: like.Validator, CarriedFrom: from,
	}.Event()
	err := s.retryTx(ctx, general, s.deadlines.Write, func(ctx context.Context) error {
		_, err := s.pool.Exec(ctx, stmt.CarryHeld, named{
			"site": s.site, "revision": to.ID, "stamp": to.Stamp, "name": like.Name, "held": nullDigest(like.Held), "each": each,
			"subject": event.Subject, "data": string(event.Data),
		})
		return err
	})
	if err == nil {
		s.announce()
	}
	return err
}
