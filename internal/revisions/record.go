package revisions

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"purser/internal/document"
)

// record makes the entries of a change's schema validation. Of a payload there is one for each document in order, or
// one success if there is none, then one for each document elsewhere that fails; of a rollback, which has no payload,
// one for each document of the revision (spec/api.md §0 D1, D9).
func (j *judgement) record(ctx context.Context) error {
	if j.change.Result != nil {
		j.recordPayload()
	} else if err := j.recordAll(ctx); err != nil {
		return err
	}
	j.change.Revision.Failed = slices.ContainsFunc(j.change.Failures, func(f Failure) bool {
		return !f.Rule.IsZero()
	})
	return nil
}

func (j *judgement) recordPayload() {
	entries := max(1, len(j.change.Result))
	for i, doc := range j.change.Result {
		rule, failed := j.failing[doc.ID]
		if failed || len(doc.Notes) > 0 {
			j.change.Failures = append(j.change.Failures, Failure{Entry: i, Document: doc.ID, Rule: rule, Notes: doc.Notes})
		}
		delete(j.failing, doc.ID)
	}
	for _, id := range slices.Sorted(maps.Keys(j.failing)) {
		j.change.Failures = append(j.change.Failures, Failure{Entry: entries, Document: id, Rule: j.failing[id]})
		entries++
	}
	j.change.Revision.Entries = entries
}

func (j *judgement) recordAll(ctx context.Context) error {
	j.change.Revision.Entries = max(1, j.change.Against.Live+len(j.change.Added)-len(j.change.Removed))
	notes, err := j.notes(ctx)
	if err != nil || len(notes)+len(j.failing) == 0 {
		return err
	}
	positions, err := j.positions(ctx)
	if err != nil {
		return err
	}
	for id, rule := range j.failing {
		j.change.Failures = append(j.change.Failures, Failure{positions[id], id, rule, notes[id]})
		delete(notes, id)
	}
	for id, notes := range notes {
		j.change.Failures = append(j.change.Failures, Failure{Entry: positions[id], Document: id, Notes: notes})
	}
	slices.SortFunc(j.change.Failures, func(a, b Failure) int { return cmp.Compare(a.Entry, b.Entry) })
	return nil
}

// notes are those of all documents that the change leaves, by id.
func (j *judgement) notes(ctx context.Context) (map[int64][]document.Note, error) {
	live, err := j.service.Store.Noted(ctx)
	if err != nil {
		return nil, fmt.Errorf("find the documents with notes: %w", err)
	}
	notes := map[int64][]document.Note{}
	for _, doc := range slices.Concat(live, j.change.Added) {
		if !j.gone[doc.ID] && len(doc.Notes) > 0 {
			notes[doc.ID] = doc.Notes
		}
	}
	return notes, nil
}

// positions counts the documents that the change leaves, in their order.
func (j *judgement) positions(ctx context.Context) (map[int64]int, error) {
	live, err := j.service.Store.Positions(ctx)
	if err != nil {
		return nil, fmt.Errorf("find the order of documents: %w", err)
	}
	for _, doc := range j.change.Added {
		live = append(live, Position{doc.ID, doc.Place})
	}
	slices.SortFunc(live, func(a, b Position) int { return cmp.Compare(a.Place, b.Place) })
	positions := make(map[int64]int, len(live))
	for _, doc := range live {
		if !j.gone[doc.ID] {
			positions[doc.ID] = len(positions)
		}
	}
	return positions, nil
}
