package events_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"purser/internal/authz"
	"purser/internal/events"
)

// For users who may not see encrypted documents, counts leave these out; without any, the data is stored once.
func TestCreated_Event(t *testing.T) {
	t.Parallel()
	made := events.Created{Revision: 3, Added: 5, Removed: 2}
	sees, blind := authz.Viewer{Encrypted: true}, authz.Viewer{}
	event := made.Event(events.Counts{Added: 4, Removed: 1})
	for viewer, want := range map[authz.Viewer][2]int{sees: {5, 2}, blind: {1, 1}} {
		got, err := events.ReadCreated(event.For(viewer))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, [2]int{got.Added, got.Removed}); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", viewer, diff)
		}
	}
	if open := made.Event(events.Counts{}); open.Withheld != nil || string(open.For(sees)) != string(open.Data) {
		t.Errorf("without encrypted documents: %s, withheld %s", open.Data, open.Withheld)
	}
}

// An event stays small, however large the change.
func TestEvents_areBounded(t *testing.T) {
	t.Parallel()
	many := make([]string, 5000)
	for i := range many {
		many[i] = strings.Repeat("ä", 1000)
	}
	holes := make([]int64, 5000)
	for i := range holes {
		holes[i] = int64(2 * i)
	}
	for name, event := range map[string]events.Event{
		"buckets":   events.Created{Buckets: many}.Event(events.Counts{}),
		"lines":     events.Changed{Because: many}.Event(),
		"validator": events.Posted{Validator: json.RawMessage(`"` + strings.Repeat("x", 1<<20) + `"`)}.Event(),
		"ranges":    events.PrunedEvent(holes, 0),
	} {
		if n := len(event.Data); n > 256<<10 || !utf8.Valid(event.Data) || strings.ContainsRune(string(event.Data), '\uFFFD') {
			t.Errorf("%s: %d bytes", name, n)
		}
	}
}

func TestPrunedEvent(t *testing.T) {
	t.Parallel()
	got := string(events.PrunedEvent([]int64{1, 2, 3, 5, 7, 8}, 4).Data)
	want := `{"revisions":[{"first":1,"last":3},{"first":5,"last":5},{"first":7,"last":8}],"kept":4}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
