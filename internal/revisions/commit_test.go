package revisions

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCommit_On(t *testing.T) {
	t.Parallel()
	base := Head{Epoch: 2, Stamp: 50, Prunes: 1, Revision: 5, LastDocument: 7, Live: 7, Settled: 4}
	later := Head{Epoch: 2, Stamp: 80, Prunes: 1, Revision: 8, LastDocument: 11, Live: 9, Settled: 5}
	with := func(head Head, change func(*Head)) Head {
		change(&head)
		return head
	}
	for _, c := range []struct {
		name     string
		head     Head
		changed  int64
		exact    bool
		moved    bool
		restored bool // the base revision has another stamp there
	}{
		{"another revision of this number", with(base, func(h *Head) { h.Stamp = 51 }), 0, false, true, true},
		{"another history", later, 0, false, true, true},
		{"same head", base, 5, false, false, false},
		{"same head, exact", base, 5, true, false, false},
		{"changes elsewhere", later, 5, false, false, false},
		{"changes elsewhere, exact", later, 5, true, true, false},
		{"a bucket changed", later, 6, false, true, false},
		{"what governs changed", with(later, func(h *Head) { h.Settled = 6 }), 0, false, true, false},
		{"a purge", with(base, func(h *Head) { h.Epoch++ }), 0, false, true, false},
		{"a purge, and as many revisions since", with(later, func(h *Head) { h.Epoch++ }), 0, false, true, false},
		{"a prune", with(base, func(h *Head) { h.Prunes++ }), 0, false, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			commit := Commit{Base: base, Exact: c.exact, Revision: Revision{ID: 6}}
			stamp := Stamp(50)
			if c.restored {
				stamp = 51
			}
			got, err := commit.On(c.head, stamp, c.changed)
			switch {
			case c.moved:
				if !errors.Is(err, ErrMoved) {
					t.Errorf("error %v, want ErrMoved", err)
				}
			case err != nil || got.Revision.ID != c.head.Revision+1 || got.Base != c.head:
				t.Errorf("revision %d on %+v, %v; want the one after the head", got.Revision.ID, got.Base, err)
			}
		})
	}
}

// Numbers shift by the number of documents added in between, also in the failures and violations of new documents.
func TestCommit_On_numbers(t *testing.T) {
	t.Parallel()
	base, head := Head{Revision: 5, LastDocument: 7}, Head{Revision: 8, LastDocument: 10}
	added := version("a", "w", 8, 8)
	commit := Commit{
		Base: base, Diff: Diff{Added: []*Stored{added}, Result: []*Stored{added}},
		Failures: []Failure{{Entry: 0, Document: 8}, {Entry: 1, Document: 7}, {Entry: 2, Document: 3}},
		Begun:    []Violation{{Document: 3}, {Document: 8}},
	}
	got, err := commit.On(head, 0, 5)
	if err != nil {
		t.Fatal(err)
	}
	want := []Failure{{Entry: 0, Document: 11}, {Entry: 1, Document: 7}, {Entry: 2, Document: 3}}
	if diff := cmp.Diff(want, got.Failures); diff != "" {
		t.Errorf("failures (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]Violation{{Document: 3}, {Document: 11}}, got.Begun); diff != "" {
		t.Errorf("violations (-want +got)\n%s", diff)
	}
	if got.Diff.Added[0].ID != 11 || commit.Failures[0].Document != 8 || commit.Begun[1].Document != 8 ||
		added.ID != 8 {
		t.Errorf("id %d, and %d of the commit before", got.Diff.Added[0].ID, added.ID)
	}
}
