package changes

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/document"
	"purser/internal/revisions"
	"purser/internal/revisions/revisionstest"
	"purser/internal/validations"
)

func TestEntries(t *testing.T) {
	t.Parallel()
	rule, other := validations.Rule{Schema: document.DigestOf("rule")},
		validations.Rule{Schema: document.DigestOf("other")}
	of := func(id int64, rule validations.Rule) revisions.Violation {
		return revisions.Violation{Document: id, Rule: rule}
	}
	notes := []document.Note{{Message: "twice", Level: "Info"}}
	noted := func(doc *revisions.Stored) *revisions.Stored {
		text := *doc.Document
		text.Notes = notes
		return doc.With(text)
	}
	w1, w2, w3 := revisionstest.Version("a", "w1", 1, 1), revisionstest.Version("a", "w2", 2, 2),
		revisionstest.Version("b", "w3", 3, 3)
	positions := []revisions.Position{{ID: 1, Place: 1}, {ID: 2, Place: 2}, {ID: 3, Place: 3}}
	for _, c := range []struct {
		name     string
		snapshot revisions.Snapshot
		diff     revisions.Diff
		failing  map[int64]revisions.Violation
		want     []revisions.Failure
		outside  int
		count    int
	}{
		{"an empty payload is a success", revisions.Snapshot{}, revisions.Diff{Result: []*revisions.Stored{}}, nil, nil, 0, 1},
		{
			"an empty payload beside a failing document",
			revisions.Snapshot{},
			revisions.Diff{Result: []*revisions.Stored{}},
			map[int64]revisions.Violation{3: of(3, rule)},
			[]revisions.Failure{{Entry: 1, Document: 3, Rule: rule}},
			1, 2,
		},
		{
			"in the order of the payload",
			revisions.Snapshot{},
			revisions.Diff{Result: []*revisions.Stored{w2, w1}},
			map[int64]revisions.Violation{1: of(1, rule), 2: of(2, other)},
			[]revisions.Failure{{Entry: 0, Document: 2, Rule: other}, {Entry: 1, Document: 1, Rule: rule}},
			0, 2,
		},
		{
			"those elsewhere come after the payload, by id",
			revisions.Snapshot{},
			revisions.Diff{Result: []*revisions.Stored{w2}},
			map[int64]revisions.Violation{9: of(9, rule), 2: of(2, rule), 3: of(3, other)},
			[]revisions.Failure{
				{Entry: 0, Document: 2, Rule: rule}, {Entry: 1, Document: 3, Rule: other}, {Entry: 2, Document: 9, Rule: rule},
			},
			2, 3,
		},
		{
			"those that depend on secrets come last",
			revisions.Snapshot{},
			revisions.Diff{Result: []*revisions.Stored{w2}},
			map[int64]revisions.Violation{9: of(9, rule), 3: {Document: 3, Rule: rule, Secret: true}, 4: of(4, rule)},
			[]revisions.Failure{
				{Entry: 1, Document: 4, Rule: rule},
				{Entry: 2, Document: 9, Rule: rule},
				{Entry: 3, Document: 3, Rule: rule, Secret: true},
			},
			3, 4,
		},
		{
			"notes of the payload alone",
			revisions.Snapshot{Noted: []*revisions.Stored{noted(w3)}},
			revisions.Diff{Result: []*revisions.Stored{w1, noted(w2)}},
			nil,
			[]revisions.Failure{{Entry: 1, Document: 2, Notes: notes}},
			0, 2,
		},
		{
			"a failure with notes",
			revisions.Snapshot{},
			revisions.Diff{Result: []*revisions.Stored{noted(w2)}},
			map[int64]revisions.Violation{2: of(2, rule)},
			[]revisions.Failure{{Entry: 0, Document: 2, Rule: rule, Notes: notes}},
			0, 1,
		},
		{
			"a rollback to nothing",
			revisions.Snapshot{Head: revisions.Head{Live: 1}, Positions: positions[:1]},
			revisions.Diff{Removed: []*revisions.Stored{w1}},
			nil,
			nil, 0, 1,
		},
		{
			"a rollback without a failure",
			revisions.Snapshot{Head: revisions.Head{Live: 3}, Positions: positions},
			revisions.Diff{Removed: []*revisions.Stored{w1}},
			nil, nil, 0, 2,
		},
		{
			"a rollback numbers all documents by place",
			revisions.Snapshot{
				Head: revisions.Head{Live: 3, LastDocument: 3}, Positions: positions,
				Noted: []*revisions.Stored{noted(w2), noted(w3)},
			},
			revisions.Diff{Removed: []*revisions.Stored{w1, w2}, Added: []*revisions.Stored{revisionstest.Version("a", "w1", 4,
				1), noted(revisionstest.Version("a", "w4", 5, 5))}},
			map[int64]revisions.Violation{4: of(4, rule), 3: of(3, other)},
			[]revisions.Failure{
				{Entry: 0, Document: 4, Rule: rule},
				{Entry: 1, Document: 3, Rule: other, Notes: notes},
				{Entry: 2, Document: 5, Notes: notes},
			},
			0, 3,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, outside, count := entries(c.snapshot, c.diff, c.failing)
			if diff := cmp.Diff(c.want, got); diff != "" || outside != c.outside || count != c.count {
				t.Errorf("%d entries, want %d; %d outside, want %d; failures (-want +got)\n%s", count, c.count, outside, c.outside,
					diff)
			}
		})
	}
}

// A rollback has an entry for each document, and does not repeat checks that were made before.
