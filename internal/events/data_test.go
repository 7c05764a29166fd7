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
	made := events.Created{Revision: 3, Added: 5, Removed: 2, Modified: new(2)}
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
		if (got.Modified != nil) != viewer.Encrypted {
			t.Errorf("%+v: modified %v", viewer, got.Modified)
		}
	}
	if open := made.Event(events.Counts{}); open.Withheld != nil || string(open.For(sees)) != string(open.Data) {
		t.Errorf("without encrypted documents: %s, withheld %s", open.Data, open.Withheld)
	}
}

// The numbers of documents are said in words; of events that do not have the number of modified ones, those of versions.
func TestEffect(t *testing.T) {
	t.Parallel()
	for want, effect := range map[string]events.Effect{
		"4 documents changed, 1 added":           {Added: 5, Removed: 4, Modified: new(4)},
		"1 document changed":                     {Added: 1, Removed: 1, Modified: new(1)},
		"2 documents added":                      {Added: 2, Modified: new(0)},
		"1 document deleted":                     {Removed: 1, Modified: new(0)},
		"1 document changed, 2 added, 3 deleted": {Added: 3, Removed: 4, Modified: new(1)},
		"":                                       {Modified: new(0)},
		"5 document versions began, 4 ended":     {Added: 5, Removed: 4},
		"1 document version ended":               {Removed: 1},
	} {
		if got := effect.String(); got != want {
			t.Errorf("%+v: %q, want %q", effect, got, want)
		}
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
