package revisions

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/document"
	"purser/internal/validations"
)

func TestEntries(t *testing.T) {
	t.Parallel()
	rule, other := validations.Rule{Schema: document.DigestOf("rule")}, validations.Rule{Schema: document.DigestOf("other")}
	notes := []document.Note{{Message: "twice", Level: "Info"}}
	noted := func(doc *Stored) *Stored {
		text := *doc.Document
		text.Notes = notes
		return doc.with(text)
	}
	w1, w2, w3 := version("a", "w1", 1, 1), version("a", "w2", 2, 2), version("b", "w3", 3, 3)
	positions := []Position{{1, 1}, {2, 2}, {3, 3}}
	for _, c := range []struct {
		name     string
		snapshot Snapshot
		diff     Diff
		failing  map[int64]validations.Rule
		want     []Failure
		count    int
	}{
		{"an empty payload is a success", Snapshot{}, Diff{Result: []*Stored{}}, nil, nil, 1},
		{
			"an empty payload beside a failing document",
			Snapshot{},
			Diff{Result: []*Stored{}},
			map[int64]validations.Rule{3: rule},
			[]Failure{{Entry: 1, Document: 3, Rule: rule}},
			2,
		},
		{
			"in the order of the payload",
			Snapshot{},
			Diff{Result: []*Stored{w2, w1}},
			map[int64]validations.Rule{1: rule, 2: other},
			[]Failure{{Entry: 0, Document: 2, Rule: other}, {Entry: 1, Document: 1, Rule: rule}},
			2,
		},
		{
			"those elsewhere come after the payload, by id",
			Snapshot{},
			Diff{Result: []*Stored{w2}},
			map[int64]validations.Rule{9: rule, 2: rule, 3: other},
			[]Failure{
				{Entry: 0, Document: 2, Rule: rule}, {Entry: 1, Document: 3, Rule: other}, {Entry: 2, Document: 9, Rule: rule},
			},
			3,
		},
		{
			"notes of the payload alone",
			Snapshot{Noted: []*Stored{noted(w3)}},
			Diff{Result: []*Stored{w1, noted(w2)}},
			nil,
			[]Failure{{Entry: 1, Document: 2, Notes: notes}},
			2,
		},
		{
			"a failure with notes",
			Snapshot{},
			Diff{Result: []*Stored{noted(w2)}},
			map[int64]validations.Rule{2: rule},
			[]Failure{{Entry: 0, Document: 2, Rule: rule, Notes: notes}},
			1,
		},
		{
			"a rollback to nothing",
			Snapshot{Head: Head{Live: 1}, Positions: positions[:1]},
			Diff{Removed: []*Stored{w1}},
			nil,
			nil, 1,
		},
		{
			"a rollback without a failure",
			Snapshot{Head: Head{Live: 3}, Positions: positions},
			Diff{Removed: []*Stored{w1}},
			nil, nil, 2,
		},
		{
			"a rollback numbers all documents by place",
			Snapshot{Head: Head{Live: 3, LastDocument: 3}, Positions: positions, Noted: []*Stored{noted(w2), noted(w3)}},
			Diff{Removed: []*Stored{w1, w2}, Added: []*Stored{version("a", "w1", 4, 1), noted(version("a", "w4", 5, 5))}},
			map[int64]validations.Rule{4: rule, 3: other},
			[]Failure{
				{Entry: 0, Document: 4, Rule: rule},
				{Entry: 1, Document: 3, Rule: other, Notes: notes},
				{Entry: 2, Document: 5, Notes: notes},
			},
			3,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, count := entries(c.snapshot, c.diff, c.failing)
			if diff := cmp.Diff(c.want, got); diff != "" || count != c.count {
				t.Errorf("%d entries, want %d; failures (-want +got)\n%s", count, c.count, diff)
			}
		})
	}
}

// The entries of a rollback are those of all documents, and what was checked before is not checked again.
func TestService_Rollback_entries(t *testing.T) {
	t.Parallel()
	s, m := service()
	put(t, s, "schemas", dataSchema("string"))
	put(t, s, "a", widget("w1", "{x: y}")+widget("w2", "{x: 1}")+widget("w3", "{x: 2, x: z}"))
	put(t, s, "a", widget("w1", "{x: z}"))
	if _, err := s.Rollback(t.Context(), 2, Options{}); err != nil {
		t.Fatal(err)
	}
	commit := m.commits[3]
	var got [][2]int64
	for _, failure := range commit.Failures {
		got = append(got, [2]int64{int64(failure.Entry), failure.Document})
	}
	if diff := cmp.Diff([][2]int64{{2, 7}, {3, 8}}, got); diff != "" || commit.Revision.Entries != 4 {
		t.Errorf("%d entries, want 4; entries and documents (-want +got)\n%s", commit.Revision.Entries, diff)
	}
	if len(commit.Failures) == 2 && (commit.Failures[0].Rule.IsZero() || len(commit.Failures[1].Notes) != 1) {
		t.Errorf("failures %+v, want one that fails and one with a note", commit.Failures)
	}
	if len(commit.Checks) != 0 {
		t.Errorf("%d checks were made, want none", len(commit.Checks))
	}
}
