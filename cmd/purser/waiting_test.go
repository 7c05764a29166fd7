package main

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"purser/internal/client"
	"purser/internal/wire"
)

// While a verdict is awaited, the missing results are said: with a countdown on a terminal, elsewhere once a minute.
func TestAwaited(t *testing.T) {
	t.Parallel()
	lacking := func(names ...string) (v wire.Verdict) {
		v.Status = "failure"
		for _, name := range names {
			v.Validations = append(v.Validations, wire.Validation{Name: name, Status: "missing"})
		}
		return v
	}
	success := wire.Verdict{Status: "success"}
	for name, c := range map[string]struct {
		wait     time.Duration
		live     bool
		verdicts []wire.Verdict
		want     string
		took     time.Duration
	}{
		"no wait":             {0, true, []wire.Verdict{lacking("a")}, "", 0},
		"nothing to wait for": {time.Hour, true, []wire.Verdict{success}, "", 0},
		"lines": {
			90 * time.Second, false,
			[]wire.Verdict{lacking("a", "b"), lacking("b"), lacking("b")},
			"purser: waiting for a and b, for up to 1m30s\npurser: waiting for b, for up to 30s\n", 90 * time.Second,
		},
		"many": {
			time.Second, false,
			[]wire.Verdict{lacking("a", "b", "c", "d", "e"), success},
			"purser: waiting for a, b, c and 2 more, for up to 1s\n", time.Second,
		},
		"a countdown": {
			2500 * time.Millisecond, true,
			[]wire.Verdict{lacking("a\x1b"), success},
			"\r\x1b[Kwaiting for a⟨U+001B⟩, 3s left\r\x1b[Kwaiting for a⟨U+001B⟩, 2s left\r\x1b[Kwaiting for a⟨U+001B⟩, 1s left\r\x1b[K", 2500 * time.Millisecond,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var stderr bytes.Buffer
				around := surroundings{stderr: &stderr, live: c.live}.shown()
				began, asked := time.Now(), 0
				got, _, err := awaited(&around, c.wait, func(wait time.Duration) (wire.Verdict, client.Answer, error) {
					time.Sleep(wait)
					asked++
					return c.verdicts[asked-1], client.Answer{}, nil
				})
				if diff := cmp.Diff(c.want, stderr.String()); diff != "" || err != nil || asked != len(c.verdicts) {
					t.Errorf("it asks %d times, %v (-want +got):\n%s", asked, err, diff)
				}
				if took := time.Since(began); took != c.took || got.Status != c.verdicts[asked-1].Status {
					t.Errorf("%+v after %v, want it after %v", got, took, c.took)
				}
			})
		})
	}
}
