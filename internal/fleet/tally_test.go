package fleet

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A tally takes over what an earlier run has done of the sites, and names the first sites of each group.
func TestTally(t *testing.T) {
	t.Parallel()
	earlier := &Resumed{Done: map[string]int{"a": 1, "elsewhere": 1}}
	earlier.Groups.Define(NewOutcome(Unchanged).group(1))
	tally, left := NewTally([]Wave{{"1", []Target{{Name: "a"}, {Name: "b"}}}, {"2", []Target{{Name: "d"}, {Name: "c"}}}}, earlier)
	if got := textOf(left); got != "1:b 2:d,c" {
		t.Errorf("left %s", got)
	}
	tally.Add("d", NewOutcome(Stays))
	tally.Add("b", NewOutcome(Fails, Line{Text: "x"}))
	if got, want := tally.Progress(10*time.Second), "3 of 4 sites, 0/s, 3 groups"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	tally.Add("c", NewOutcome(Stays))
	shown := tally.Shown(1)
	shown.Parallel, shown.Took = 2, time.Minute
	if diff := cmp.Diff(map[int][]string{1: {"a"}, 2: {"c"}, 3: {"b"}}, shown.Names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if got, want := shown.Head(), "4 sites, 2 at a time, 1 min 0 s; 1 of them before, as the report says"; got != want || shown.Failures() != 1 {
		t.Errorf("%q, %d failures, want %q", got, shown.Failures(), want)
	}
}
