package changes

import (
	"cmp"
	"maps"
	"slices"

	"purser/internal/document"
	"purser/internal/revisions"
)

// entries returns the entries of a revision's schema validation that fail or have notes, how many of them are outside
// of the payload, and the number of all entries. A payload has one entry for each document in order, or one success if
// it is empty, then one for each other document that fails, at the end those that fail because of a secret; a rollback,
// which has no payload, has one for each document of the revision.
func entries(snapshot revisions.Snapshot, diff revisions.Diff, failing map[int64]revisions.Violation) (
	failures []revisions.Failure, outside, count int,
) {
	if diff.Result == nil {
		return allEntries(snapshot, diff, failing), 0, max(1, snapshot.Live+len(diff.Added)-len(diff.Removed))
	}
	count = max(1, len(diff.Result))
	elsewhere := maps.Clone(failing)
	for i, doc := range diff.Result {
		delete(elsewhere, doc.ID)
		if _, failed := failing[doc.ID]; failed || len(doc.Notes) > 0 {
			failures = append(failures, failureOf(i, doc.ID, failing[doc.ID], doc.Notes))
		}
	}
	outsiders := slices.SortedFunc(maps.Values(elsewhere), func(a, b revisions.Violation) int {
		return cmp.Or(compareSecrecy(a, b), cmp.Compare(a.Document, b.Document))
	})
	for _, violation := range outsiders {
		failures = append(failures, failureOf(count, violation.Document, violation, nil))
		count++
	}
	return failures, len(elsewhere), count
}

// failureOf returns the entry of a document with its violation, if any, and its notes.
func failureOf(entry int, document int64, v revisions.Violation, notes []document.Note) revisions.Failure {
	return revisions.Failure{Entry: entry, Document: document, Rule: v.Rule, Secret: v.Secret, Notes: notes}
}

// compareSecrecy orders violations that depend on secrets after others.
func compareSecrecy(a, b revisions.Violation) int {
	switch {
	case a.Secret == b.Secret:
		return 0
	case b.Secret:
		return -1
	}
	return 1
}

// allEntries returns the entries that fail or have notes of all documents of the new revision.
func allEntries(snapshot revisions.Snapshot, diff revisions.Diff, failing map[int64]revisions.Violation) (
	failures []revisions.Failure,
) {
	notes := notesAfter(snapshot, diff)
	if len(notes)+len(failing) == 0 {
		return nil
	}
	for id, position := range positionsAfter(snapshot, diff) {
		if _, failed := failing[id]; failed || len(notes[id]) > 0 {
			failures = append(failures, failureOf(position, id, failing[id], notes[id]))
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
