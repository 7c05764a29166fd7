package changes

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/validations"
)

func TestPlanRollback(t *testing.T) {
	t.Parallel()
	w1, w2, newer := widget("w1", "{x: 1}"), widget("w2", "{x: 2}"), widget("w1", "{x: 3}")
	for _, c := range []struct {
		name   string
		bodies []string // successive bodies of bucket a, one per revision
		target int64
		want   planned
	}{
		{"to nothing", []string{w1 + w2}, 0, planned{
			Removed: []string{"a/w1#1@1", "a/w2#2@2"}, Emptied: []string{"a"}, Buckets: []string{"a"},
		}},
		{"from nothing", []string{w1, ""}, 1, planned{
			Added: []string{"a/w1#2@1"}, Opened: []string{"a"}, Buckets: []string{"a"},
		}},
		{"to the newest", []string{w1}, 1, planned{}},
		{"to a changed document", []string{w1 + w2, newer + w2}, 1, planned{
			Added: []string{"a/w1#4@1"}, Removed: []string{"a/w1#3@1"}, Buckets: []string{"a"},
		}},
		{"over a change that was taken back", []string{w1, newer, w1}, 1, planned{}},
		{"to a document that came back in another place", []string{w1 + w2, w2, w2 + w1}, 1, planned{
			Added: []string{"a/w1#4@1"}, Removed: []string{"a/w1#3@3"}, Buckets: []string{"a"},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, _ := service()
			for _, body := range c.bodies {
				put(t, s, "a", body)
			}
			snapshot, err := s.Store.Snapshot(t.Context(), rollbackSource{s, c.target, false, false}.need())
			if err != nil {
				t.Fatal(err)
			}
			diff := planRollback(snapshot, false)
			if !diff.Changes || diff.Result != nil {
				t.Errorf("changes %v, result %v", diff.Changes, diff.Result)
			}
			c.want.Changes = true
			if diff := cmp.Diff(c.want, plannedOf(diff)); diff != "" {
				t.Errorf("plan (-want +got)\n%s", diff)
			}
		})
	}
}

func TestPlanRollback_moved(t *testing.T) {
	t.Parallel()
	s, m := service()
	put(t, s, "a", widget("w1", "{x: 1}"))
	body := []byte(inBucket("b", widget("w1", "{x: 1}")))
	if _, err := s.PutChangeSet(t.Context(), []string{"a"}, body, document.YAML, revisions.Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Rollback(t.Context(), 1, revisions.Options{}); err != nil {
		t.Fatal(err)
	}
	want := planned{
		Added: []string{"a/w1#3@1"}, Removed: []string{"b/w1#2@1"}, Opened: []string{"a"}, Emptied: []string{"b"},
		Buckets: []string{"a", "b"}, Changes: true,
	}
	commit := m.commits[len(m.commits)-1]
	if diff := cmp.Diff(want, plannedOf(commit.Diff)); diff != "" {
		t.Errorf("plan (-want +got)\n%s", diff)
	}
	if got := commit.Revision; got.Kind != revisions.Rollback || got.Origin != 1 || got.Entries != 1 {
		t.Errorf("revision %+v", got)
	}
}

func TestService_Rollback_refused(t *testing.T) {
	t.Parallel()
	s, m := service()
	s.Vault = fakeVault{}
	put(t, s, "a", secret("s1", "very"))
	put(t, s, "a", "")
	_, err := s.Rollback(t.Context(), 7, revisions.Options{})
	wantFault(t, err, fault.NotFound, "The requested revision=7 was not found")
	_, err = s.Rollback(t.Context(), 1, revisions.Options{CleartextOnly: true})
	wantFault(t, err, fault.Forbidden, "deckhand:create_encrypted_documents")
	put(t, s, "a", secret("s1", "very"))
	_, err = s.Rollback(t.Context(), 2, revisions.Options{CleartextOnly: true})
	wantFault(t, err, fault.Forbidden, "deckhand:create_encrypted_documents")
	if len(m.commits) != 3 {
		t.Errorf("%d commits, want those of the PUTs", len(m.commits))
	}
	if _, err = s.Rollback(context.Background(), 2, revisions.Options{}); err != nil {
		t.Errorf("roll back: %v", err)
	}
}

// A rollback lists documents that fail or have notes by their position, whether they stay or are restored.
func TestService_Rollback_positions(t *testing.T) {
	t.Parallel()
	const good, bad, noted = "{x: 1}", "{x: text}", "{x: 1, x: 2}"
	for _, c := range []struct {
		name  string
		stays string // the data of a document that the rollback does not touch
		back  string // that of one that it restores
		want  []string
	}{
		{"nothing", good, good, nil},
		{"a failing document that stays", bad, good, []string{"1 stays"}},
		{"a document with notes that stays", noted, good, []string{"1 stays"}},
		{"a failing document that comes back", good, bad, []string{"2 back"}},
		{"a document with notes that comes back", good, noted, []string{"2 back"}},
		{"all", noted, bad, []string{"1 stays", "2 back"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, m := service()
			put(t, s, "schemas", dataSchema("integer"))
			put(t, s, "a", widget("stays", c.stays))
			put(t, s, "b", widget("back", c.back))
			put(t, s, "b", "")
			if _, err := s.Rollback(t.Context(), 3, revisions.Options{}); err != nil {
				t.Fatal(err)
			}
			byID := byID(m.live)
			var got []string
			for _, failure := range m.commits[len(m.commits)-1].Failures {
				got = append(got, fmt.Sprint(failure.Entry, " ", byID[failure.Document].Name))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("entries (-want +got)\n%s", diff)
			}
		})
	}
}

// Results posted about the target of a rollback also hold for the new revision, which has the same documents.
func TestService_Rollback_carries(t *testing.T) {
	t.Parallel()
	const name = "tests-validation"
	requires := func(lifetime string) string {
		return control("deckhand/ValidationPolicy/v1", "policy", "{validations: [{name: "+name+lifetime+"}]}")
	}
	success := validations.Outcome{Name: name, Status: validations.Success, At: at().Add(-time.Hour)}
	failure := validations.Outcome{Name: name, Status: validations.Failure, At: at().Add(-time.Hour)}
	for _, c := range []struct {
		name   string
		policy string
		posted []validations.Outcome
		compat bool
		want   validations.Status // of the validation
	}{
		{"nothing", requires(""), nil, false, validations.Missing},
		{"a success", requires(""), []validations.Outcome{success}, false, validations.Success},
		{"a failure", requires(""), []validations.Outcome{failure}, false, validations.Failure},
		{
			"a success that lasts", requires(", expiresAfter: PT61M"),
			[]validations.Outcome{success},
			false,
			validations.Success,
		},
		{
			"a success that has expired", requires(", expiresAfter: PT59M"),
			[]validations.Outcome{success},
			false,
			validations.Expired,
		},
		{"a success, for the reference", requires(""), []validations.Outcome{success}, true, validations.Missing},
	} {
		s, m := service()
		s.Compat = c.compat
		put(t, s, "a", c.policy)
		put(t, s, "b", widget("w", "{}"))
		m.carried = c.posted
		for _, dryRun := range []bool{true, false} {
			written, err := s.Rollback(t.Context(), 1, revisions.Options{DryRun: dryRun})
			if err != nil {
				t.Fatal(err)
			}
			verdict := written.RevisionStatus.Verdict
			if dryRun {
				verdict = written.Preview.Verdict
			}
			if got := verdict.Policies[0].Validations[0].Status; got != c.want {
				t.Errorf("%s: %v (dry run %v), want %v", c.name, got, dryRun, c.want)
			}
		}
		if from := m.commits[2].Diff.CarriedFrom; (from == 1) == c.compat {
			t.Errorf("%s: carried from %d", c.name, from)
		}
	}
}

func TestService_Rollback_entries(t *testing.T) {
	t.Parallel()
	s, m := service()
	put(t, s, "schemas", dataSchema("string"))
	put(t, s, "a", widget("w1", "{x: y}")+widget("w2", "{x: 1}")+widget("w3", "{x: 2, x: z}"))
	put(t, s, "a", widget("w1", "{x: z}"))
	if _, err := s.Rollback(t.Context(), 2, revisions.Options{}); err != nil {
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
