package wire

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Times are shown in UTC regardless of their zone, and a missing time as null.
func TestTimeText(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("", int(time.Hour/time.Second))
	at := time.Date(2026, 1, 2, 3, 4, 5, 6_000, zone)
	for want, at := range map[string]time.Time{`"2026-01-02T02:04:05.000006"`: at, "null": {}} {
		if got, err := json.Marshal(TimeText(at)); string(got) != want || err != nil {
			t.Errorf("time %s, %v, want %s", got, err, want)
		}
	}
	if got, ok := TimeText(at).Time(); !got.Equal(at) || !ok {
		t.Errorf("%v is read as %v, %v", at, got, ok)
	}
	if got, ok := TimeText(time.Time{}).Time(); ok {
		t.Errorf("no time is read as %v", got)
	}
}

// What the server writes is what clients read: tags as a list or as a mapping, and pages that exist or not.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"count":1,"results":[["a","b"]],"next":"/x?a=1","prev":null}`,
		`{"count":1,"results":[{"a":{"b":1},"c":null}]}`,
	} {
		var list List[Tags]
		if err := json.Unmarshal([]byte(text), &list); err != nil {
			t.Fatal(err)
		}
		if (list.Next != nil) != (list.Results[0].Data == nil) {
			t.Errorf("%s: next is %v", text, list.Next)
		}
		list.Prev = list.Next
		if list.Next != nil {
			list.Prev = new(Optional(""))
		}
		got, err := json.Marshal(list)
		if diff := cmp.Diff(text, string(got)); diff != "" || err != nil {
			t.Errorf("(-want +got)\n%s%v", diff, err)
		}
	}
}
