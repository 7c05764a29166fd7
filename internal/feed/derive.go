package feed

import (
	"maps"
	"slices"
	"time"

	"purser/internal/events"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// derive returns the events and verdicts that follow from a batch: an event for each changed verdict on a revision
// that is tagged, or was the newest when a result was posted or expired, or a waiver was made or ended. When a
// revision becomes the newest or tagged in the batch, its last verdict is that of its creation or else the present
// one, which is not a change. A change that only events of a later batch have caused is left to that batch.
func derive(defaults revisions.Defaults, batch Batch) (derived Derived) {
	last, judged := readBatch(batch)
	for _, revision := range batch.Evidence.Revisions {
		now, verdict := judge(defaults, batch, revision)
		before, known := last[revision.ID]
		watched := len(revision.Tags) > 0 || judged[revision.ID]
		changed := known && before.Stamp == now.Stamp && before.Status != "" && before.Status != now.Status
		switch {
		case changed && watched:
			derived.Events = append(derived.Events, events.Changed{
				Revision: revision.ID, Stamp: revision.Stamp.String(), From: before.Status, To: now.Status,
				Because: verdict.Obstacles(nil),
			}.Event())
		case changed:
			now = now.laterThan(before)
		}
		if revision.ID == batch.Head || len(revision.Tags) > 0 {
			derived.Verdicts = append(derived.Verdicts, now)
		}
	}
	return derived
}

// laterThan returns v, to be stored with the status that was reported last because the change to its own is to be
// reported later: that of a success when the verdict is due, which is now, and that of a failure with the event of a
// result.
func (v Verdict) laterThan(reported Verdict) Verdict {
	v.Status, v.Due = reported.Status, time.Time{}
	if v.Status == validations.Success.String() {
		v.Due = v.Judged
	}
	return v
}

// readBatch returns the verdicts that were reported before the batch or with which it creates revisions, and the
// revisions whose verdicts are due, or had a result posted or a waiver made or ended while they were the newest or
// tagged, even if they no longer are.
func readBatch(batch Batch) (last map[int64]Verdict, judged map[int64]bool) {
	last, judged = maps.Clone(batch.Verdicts), map[int64]bool{}
	newest := batch.Head
	for _, event := range slices.Backward(batch.Events) {
		if event.Type == events.RevisionCreated {
			newest = event.Revision - 1 // revision numbers are consecutive
		}
	}
	for revision, verdict := range last {
		judged[revision] = !verdict.Due.IsZero() && verdict.Due.Before(batch.Evidence.Now)
	}
	for i, event := range batch.Events {
		switch event.Type {
		case events.RevisionCreated:
			newest = event.Revision
			if made, err := events.ReadCreated(event.Data); err == nil {
				stamp, _ := revisions.ParseStamp(made.Stamp) // zero if invalid; no revision has stamp zero
				last[newest] = Verdict{Revision: newest, Stamp: stamp, Status: made.Status}
			}
		case events.ValidationPosted, events.WaiverCreated, events.WaiverEnded:
			judged[event.Revision] = judged[event.Revision] || event.Revision == newest ||
				slices.ContainsFunc(batch.Events[i:], func(later events.Event) bool {
					return later.Type == events.TagDeleted && later.Revision == event.Revision
				})
		case events.ValidationClaimed, events.ValidationRequested, events.VerdictChanged, events.TagSet, events.TagDeleted,
			events.RevisionPruned, events.SitePurged, events.WebhookPing:
		}
	}
	return last, judged
}

// judge returns the present verdict on a revision.
func judge(defaults revisions.Defaults, batch Batch, revision revisions.Revision) (Verdict, validations.Verdict) {
	policies := revisions.PoliciesOf(revision, batch.Evidence.Policies)
	verdict := defaults.Verdict(policies, revision, batch.Evidence.Known[revision.ID], batch.Evidence.Now)
	now := Verdict{
		Revision: revision.ID, Stamp: revision.Stamp, Status: verdict.Status.String(), Open: verdict.Open(),
		Judged: batch.Evidence.Now,
	}
	now.Due, _ = verdict.NextChange()
	return now, verdict
}
