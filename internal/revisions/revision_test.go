package revisions

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestKind(t *testing.T) {
	t.Parallel()
	got := map[string]Kind{}
	for _, word := range []string{"put", "changeset", "rollback"} {
		kind, err := ParseKind(word)
		if err != nil || kind.String() != word {
			t.Errorf("%s: %v, %v", word, kind, err)
		}
		got[word] = kind
	}
	if diff := cmp.Diff(map[string]Kind{"put": Put, "changeset": ChangeSet, "rollback": Rollback}, got); diff != "" {
		t.Errorf("kinds (-want +got)\n%s", diff)
	}
	if _, err := ParseKind("unknown"); err == nil || Kind(9).String() != "unknown" {
		t.Errorf("an unknown kind: %v", err)
	}
}

func TestStamp(t *testing.T) {
	t.Parallel()
	seen := map[Stamp]bool{}
	for range 1000 {
		stamp := NewStamp()
		got, err := ParseStamp(stamp.String())
		if seen[stamp] || err != nil || got != stamp || len(stamp.String()) != 16 || stamp.String()[0] < 'a' {
			t.Fatalf("stamp %d is written %v and read as %d, %v", stamp, stamp, got, err)
		}
		seen[stamp] = true
	}
	if got, err := ParseStamp(Stamp(-5).String()); err != nil || got != -5 {
		t.Errorf("a stamp of a migration: %v, %v", got, err)
	}
	if _, err := ParseStamp("x"); err == nil {
		t.Error("a text is read as a stamp")
	}
}
