package feed

import (
	"maps"
	"slices"
	"time"

	"purser/internal/events"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// derive returns the changes of verdicts that follow from a batch. A verdict is told if its revision is tagged, or was
// the newest when the result came in. A revision that came to be one of these with the batch has the verdict with which
// it was made, or else the present one: it did not change. Where events of a later batch have changed a verdict
// already, that is told with them.
func derive(defaults revisions.Defaults, batch Batch) (derived Derived) {
	told, judged := readBatch(batch)
	for _, revision := range batch.Evidence.Revisions {
		now, verdict := judge(defaults, batch, revision)
		before, known := told[revision.ID]
		watched := len(revision.Tags) > 0 || judged[revision.ID]
		changed := known && before.Stamp == now.Stamp && before.Status != "" && before.Status != now.Status
		switch {
		case changed && watched:
			derived.Events = append(derived.Events, events.Changed{
				Revision: revision.ID, Stamp: revision.Stamp.String(), From: before.Status, To: now.Status,
				Because: verdict.Obstacles(),
			}.Event())
		case changed:
			now = before.until(batch.Evidence.Now)
		}
		if revision.ID == batch.Head || len(revision.Tags) > 0 {
			derived.Verdicts = append(derived.Verdicts, now)
		}
	}
	return derived
}

// until returns the verdict that was told last where the present one, at a time, is another one that is told later:
// with the result that it comes from, or as an expiry.
func (v Verdict) until(now time.Time) Verdict {
	if v.Due = (time.Time{}); v.Status == validations.Success.String() {
		v.Due = now
	}
	return v
}

// readBatch returns the verdicts that were told before a batch, and those with which revisions are made in it; and
// which revisions have a verdict that was to be looked at while they were the newest or tagged, though they may be so
// no longer.
func readBatch(batch Batch) (told map[int64]Verdict, judged map[int64]bool) {
	told, judged = maps.Clone(batch.Told), map[int64]bool{}
	newest := batch.Head
	for _, event := range slices.Backward(batch.Events) {
		if event.Type == events.RevisionCreated {
			newest = event.Revision - 1 // numbers have no gap
		}
	}
	for revision, verdict := range told {
		judged[revision] = !verdict.Due.IsZero() && verdict.Due.Before(batch.Evidence.Now)
	}
	for i, event := range batch.Events {
		switch event.Type {
		case events.RevisionCreated:
			newest = event.Revision
			if made, err := events.ReadCreated(event.Data); err == nil {
				stamp, _ := revisions.ParseStamp(made.Stamp) // no revision has zero
				told[newest] = Verdict{Revision: newest, Stamp: stamp, Status: made.Status}
			}
		case events.ValidationPosted:
			judged[event.Revision] = judged[event.Revision] || event.Revision == newest ||
				slices.ContainsFunc(batch.Events[i:], func(later events.Event) bool {
					return later.Type == events.TagDeleted && later.Revision == event.Revision
				})
		case events.VerdictChanged, events.TagSet, events.TagDeleted, events.RevisionPruned, events.SitePurged,
			events.WebhookPing:
		}
	}
	return told, judged
}

// judge returns the present verdict on a revision.
func judge(defaults revisions.Defaults, batch Batch, revision revisions.Revision) (Verdict, validations.Verdict) {
	policies := revisions.InForce(batch.Evidence.Policies, revision.ID)
	outcomes := batch.Evidence.Outcomes[revision.ID]
	verdict := defaults.Weigh(policies, revision, outcomes, batch.Evidence.Now)
	now := Verdict{Revision: revision.ID, Stamp: revision.Stamp, Status: verdict.Status.String()}
	if verdict.Status == validations.Success {
		now.Due, _ = validations.NextExpiry(policies, outcomes)
	}
	return now, verdict
}
