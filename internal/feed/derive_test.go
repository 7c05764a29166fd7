package feed

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"purser/internal/document"
	"purser/internal/events"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/validations"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// fresh is a policy that requires a validation whose successes expire after an hour.
func fresh() revisions.PolicyVersion {
	id := document.Identity{Schema: "deckhand/ValidationPolicy/v1", Name: "p"}
	policy := validations.ParsePolicy(id, []byte(`{"validations":[{"name":"v-validation","expiresAfter":"PT1H"}]}`), false)
	return revisions.PolicyVersion{Since: 1, Policy: policy}
}

func outcome(status validations.Status, at time.Time) map[int64]validations.Known {
	return map[int64]validations.Known{7: {
		Outcomes: []validations.Outcome{{Name: "v-validation", Status: status, At: at, Message: "no\nhost"}},
	}}
}

func TestDerive(t *testing.T) {
	t.Parallel()
	const stamp = revisions.Stamp(-4)
	success, failure := outcome(validations.Success, noon), outcome(validations.Failure, noon)
	posted := events.Posted{Revision: 7, Name: "v-validation", Status: "success"}.Event()
	waived := events.Event{Type: events.WaiverCreated, Revision: 7}
	unwaived := events.Event{Type: events.WaiverEnded, Revision: 7}
	waiver := map[int64]validations.Known{7: {Waivers: []validations.Waiver{
		{Validation: "v-validation", Until: noon.Add(time.Minute)},
	}}}
	created := func(stamp revisions.Stamp) events.Event {
		return events.Created{Revision: 7, Stamp: stamp.String(), Status: "failure"}.Event(events.Counts{})
	}
	next := events.Created{Revision: 8, Status: "success"}.Event(events.Counts{})
	last := func(status string, stamp revisions.Stamp) map[int64]Verdict {
		return map[int64]Verdict{7: {Revision: 7, Stamp: stamp, Status: status}}
	}
	for name, c := range map[string]struct {
		verdicts map[int64]Verdict
		events   []events.Event
		outcomes map[int64]validations.Known
		after    time.Duration // noon
		head     int64
		tags     []string
		want     string // data of the event, empty if there is none
		keeps    []Verdict
	}{
		"a result": {
			verdicts: last("failure", stamp), events: []events.Event{posted}, outcomes: success, head: 7,
			want:  `{"revision":7,"stamp":"fffffffffffffffc","from":"failure","to":"success","because":[]}`,
			keeps: []Verdict{{Revision: 7, Stamp: stamp, Status: "success", Due: noon.Add(time.Hour)}},
		},
		"an expiry": {
			verdicts: map[int64]Verdict{7: {Revision: 7, Stamp: stamp, Status: "success", Due: noon.Add(time.Hour)}}, outcomes: success, head: 7, after: time.Hour + 1,
			want:  `{"revision":7,"stamp":"fffffffffffffffc","from":"success","to":"failure","because":["v-validation: expired (policy p)"]}`,
			keeps: []Verdict{{Revision: 7, Stamp: stamp, Status: "failure", Open: []string{"v-validation"}}},
		},
		"a waiver": {
			verdicts: last("failure", stamp), events: []events.Event{waived}, outcomes: waiver, head: 7,
			want: `{"revision":7,"stamp":"fffffffffffffffc","from":"failure","to":"success","because":[]}`,
			keeps: []Verdict{{
				Revision: 7, Stamp: stamp, Status: "success", Due: noon.Add(time.Minute), Open: []string{"v-validation"},
			}},
		},
		"a waiver is ended": {
			verdicts: last("success", stamp), events: []events.Event{unwaived}, outcomes: failure, head: 7,
			want:  `{"revision":7,"stamp":"fffffffffffffffc","from":"success","to":"failure","because":["v-validation: failure (policy p): no host"]}`,
			keeps: []Verdict{{Revision: 7, Stamp: stamp, Status: "failure"}},
		},
		"a waiver ends": {
			verdicts: map[int64]Verdict{7: {Revision: 7, Stamp: stamp, Status: "success", Due: noon.Add(time.Minute)}},
			outcomes: waiver, head: 7, after: time.Minute + 1,
			want:  `{"revision":7,"stamp":"fffffffffffffffc","from":"success","to":"failure","because":["v-validation: missing (policy p)"]}`,
			keeps: []Verdict{{Revision: 7, Stamp: stamp, Status: "failure", Open: []string{"v-validation"}}},
		},
		"not yet an expiry": {
			verdicts: last("success", stamp), outcomes: success, head: 7, after: time.Hour,
			keeps: []Verdict{{Revision: 7, Stamp: stamp, Status: "success", Due: noon.Add(time.Hour)}},
		},
		"the same verdict": {
			verdicts: last("failure", stamp), events: []events.Event{posted}, outcomes: failure, head: 7,
			keeps: []Verdict{{Revision: 7, Stamp: stamp, Status: "failure"}},
		},
		"made and judged at once": {
			events: []events.Event{created(stamp), posted}, outcomes: success, head: 7,
			want:  `{"revision":7,"stamp":"fffffffffffffffc","from":"failure","to":"success","because":[]}`,
			keeps: []Verdict{{Revision: 7, Stamp: stamp, Status: "success", Due: noon.Add(time.Hour)}},
		},
		"made, judged and succeeded at once": {
			events: []events.Event{created(stamp), posted, next}, outcomes: success, head: 8,
			want: `{"revision":7,"stamp":"fffffffffffffffc","from":"failure","to":"success","because":[]}`,
		},
		"judged, and then no longer the newest": {
			verdicts: last("failure", stamp), events: []events.Event{posted, next}, outcomes: success, head: 8,
			want: `{"revision":7,"stamp":"fffffffffffffffc","from":"failure","to":"success","because":[]}`,
		},
		"no longer the newest when it is judged": {
			verdicts: last("failure", stamp), events: []events.Event{next, posted}, outcomes: success, head: 8,
		},
		"made, with a result that is told later": {
			events: []events.Event{created(stamp)}, outcomes: success, head: 7,
			keeps: []Verdict{{Revision: 7, Stamp: stamp, Status: "failure"}},
		},
		"made as a success, and expired since": {
			events:   []events.Event{events.Created{Revision: 7, Stamp: stamp.String(), Status: "success"}.Event(events.Counts{})},
			outcomes: success, head: 7, after: 2 * time.Hour,
			keeps: []Verdict{{Revision: 7, Stamp: stamp, Status: "success", Due: noon.Add(2 * time.Hour), Open: []string{"v-validation"}}},
		},
		"another revision of that number": {
			verdicts: last("failure", 5), events: []events.Event{created(6), posted}, outcomes: success, head: 7,
			keeps: []Verdict{{Revision: 7, Stamp: stamp, Status: "success", Due: noon.Add(time.Hour)}},
		},
		"a first verdict": {
			verdicts: last("", stamp), outcomes: success, head: 8, tags: []string{"t"},
			keeps: []Verdict{{Revision: 7, Stamp: stamp, Status: "success", Due: noon.Add(time.Hour)}},
		},
		"neither the newest nor tagged": {events: []events.Event{posted}, outcomes: success, head: 8},
		"why it fails": {
			verdicts: last("success", stamp), events: []events.Event{posted}, outcomes: failure, head: 8, tags: []string{"t"},
			want:  `{"revision":7,"stamp":"fffffffffffffffc","from":"success","to":"failure","because":["v-validation: failure (policy p): no host"]}`,
			keeps: []Verdict{{Revision: 7, Stamp: stamp, Status: "failure"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.verdicts == nil {
				c.verdicts = map[int64]Verdict{}
			}
			derived := derive(revisions.Defaults{}, Batch{
				Events: c.events, Verdicts: c.verdicts, Head: c.head, Evidence: queries.Evidence{
					Now:       noon.Add(c.after),
					Revisions: []revisions.Revision{{ID: 7, Stamp: stamp, Tags: c.tags}},
					Policies:  []revisions.PolicyVersion{fresh()}, Known: c.outcomes,
				},
			})
			var got strings.Builder
			for _, event := range derived.Events {
				got.Write(event.Data)
			}
			if diff := cmp.Diff(c.want, got.String()); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.keeps, derived.Verdicts, cmpopts.IgnoreFields(Verdict{}, "Judged")); diff != "" {
				t.Errorf("kept (-want +got):\n%s", diff)
			}
		})
	}
}
