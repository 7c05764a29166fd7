package judging

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"purser/internal/budget"
	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// payer says who pays for the work on documents whose outcomes are not remembered.
type payer int

const (
	byReader payer = iota // who reads a revision
	byChange              // a change, also for documents that were there before it
	byAuthor              // a change that brings these documents, or what they depend on
	byNobody              // each document has a limit of its own, and all were accepted before
)

// Judged notes the last revision that a process has judged, so that what is to be known about its documents is
// remembered. It is safe for concurrent use.
type Judged struct {
	last atomic.Pointer[revisions.Stamp]
}

// Note notes that a revision was judged as its policies require.
func (j Judge) Note(stamp revisions.Stamp) {
	if j.Judged != nil && !j.Withhold {
		j.Judged.last.Store(&stamp)
	}
}

// isNoted reports whether the documents of a snapshot were judged as the policies after a diff require.
func (j Judge) isNoted(snapshot revisions.Snapshot, diff revisions.Diff) bool {
	if j.Judged == nil || slices.ContainsFunc(slices.Concat(diff.Added, diff.Removed), (*revisions.Stored).IsPolicy) {
		return false
	}
	last := j.Judged.last.Load()
	return last != nil && *last == snapshot.Stamp
}

// paying judges a diff so that the change pays only for what it brings. If that exceeds the change's budget, and the
// documents that were there before have not been judged since the start, it first judges these, for which nobody pays.
func (j Judge) paying(ctx context.Context, snapshot revisions.Snapshot, diff revisions.Diff,
	judge func(j Judge) error,
) error {
	if j.payer = byAuthor; j.isNoted(snapshot, diff) {
		return judge(j)
	}
	steps, bytes := budget.From(ctx).Spent()
	j.payer = byChange
	err := judge(j)
	if _, spent := errors.AsType[*budget.Exceeded](err); !spent {
		return err
	}
	policies, err := policiesAfter(budget.NewMeter(ctx), snapshot.Policies, diff)
	if err == nil {
		err = j.judgeBefore(ctx, snapshot, policies)
	}
	if err != nil {
		return err
	}
	j.Note(snapshot.Stamp)
	budget.From(ctx).Restore(steps, bytes)
	j.payer = byAuthor
	return judge(j)
}

// judgeBefore judges the documents of a snapshot as policies require, so that the outcomes are remembered. Fault:
// Unavailable if it takes too long; the next call goes on.
func (j Judge) judgeBefore(ctx context.Context, snapshot revisions.Snapshot, policies []validations.Policy) error {
	const most = 30 * budget.Second
	budget.Yield(ctx)
	ctx, end := budget.Begin(ctx)
	defer end()
	budget.From(ctx).Allow(most)
	j.payer = byNobody
	_, err := j.scope(ctx, snapshot, revisions.Diff{})
	for _, name := range j.required(policies) {
		if err == nil && snapshot.Documents != nil && slices.Contains(RevisionValidations(), name) {
			_, _, err = j.ValidateRevision(ctx, name, snapshot.Revision, snapshot.Documents, snapshot.Fallback)
		}
	}
	if _, spent := errors.AsType[*budget.Exceeded](err); spent {
		busy := fault.New(fault.Unavailable, "HTTPServiceUnavailable", "The server still checks the documents that were "+
			"there before this change; nothing was stored, send the request again")
		busy.RetryAfter = time.Second
		return busy.Because(err)
	}
	return err
}
