package judging

import (
	"cmp"
	"maps"
	"slices"

	"purser/internal/document"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// entries returns the entries of a revision's schema validation that fail or have notes, how many of them are outside
// of the payload, and the number of all entries. A payload has one entry for each document in order, or one success if
// it is empty, then one for each other document that fails; a rollback, which has no payload, has one for each document
// of the revision (spec/api.md §0 D1, D9).
func entries(snapshot revisions.Snapshot, diff revisions.Diff, failing map[int64]validations.Rule) (
	failures []revisions.Failure, outside, count int,
) {
	if diff.Result == nil {
		return allEntries(snapshot, diff, failing), 0, max(1, snapshot.Live+len(diff.Added)-len(diff.Removed))
	}
	count = max(1, len(diff.Result))
	elsewhere := maps.Clone(failing)
	for i, doc := range diff.Result {
		delete(elsewhere, doc.ID)
		rule, failed := failing[doc.ID]
		if failed || len(doc.Notes) > 0 {
			failures = append(failures, revisions.Failure{Entry: i, Document: doc.ID, Rule: rule, Notes: doc.Notes})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(elsewhere)) {
		failures = append(failures, revisions.Failure{Entry: count, Document: id, Rule: elsewhere[id]})
		count++
	}
	return failures, len(elsewhere), count
}

// allEntries returns the entries that fail or have notes of all documents of the new revision.
func allEntries(snapshot revisions.Snapshot, diff revisions.Diff, failing map[int64]validations.Rule) (
	failures []revisions.Failure,
) {
	notes := notesAfter(snapshot, diff)
	if len(notes)+len(failing) == 0 {
		return nil
	}
	for id, position := range positionsAfter(snapshot, diff) {
		rule, failed := failing[id]
		if failed || len(notes[id]) > 0 {
			failures = append(failures, revisions.Failure{Entry: position, Document: id, Rule: rule, Notes: notes[id]})
		}
	}
	slices.SortFunc(failures, func(a, b revisions.Failure) int { return cmp.Compare(a.Entry, b.Entry) })
	return failures
}

// hasEntries reports whether live documents of a snapshot violate rules, or those of the new revision have notes.
func hasEntries(snapshot revisions.Snapshot, diff revisions.Diff) bool {
	return len(notesAfter(snapshot, diff)) > 0 || len(snapshot.Violations) > 0
}

// notesAfter returns the notes of all documents of the new revision, by document.
func notesAfter(snapshot revisions.Snapshot, diff revisions.Diff) map[int64][]document.Note {
	notes := map[int64][]document.Note{}
	for _, doc := range diff.After(snapshot.Noted) {
		if len(doc.Notes) > 0 {
			notes[doc.ID] = doc.Notes
		}
	}
	return notes
}

// positionsAfter returns the positions of the documents in the new revision, by ID.
func positionsAfter(snapshot revisions.Snapshot, diff revisions.Diff) map[int64]int {
	gone, order := revisions.IDs(diff.Removed), slices.Clone(snapshot.Positions)
	for _, doc := range diff.Added {
		order = append(order, revisions.Position{ID: doc.ID, Place: doc.Place})
	}
	slices.SortFunc(order, func(a, b revisions.Position) int { return cmp.Compare(a.Place, b.Place) })
	positions := make(map[int64]int, len(order))
	for _, at := range order {
		if !gone[at.ID] {
			positions[at.ID] = len(positions)
		}
	}
	return positions
}
