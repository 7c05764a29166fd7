package client

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestResolve(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"17": "17", "latest": "latest", "tag:good": "tag:good", "17~3": "14", "latest~1": "4", "tag:a~b~1": "4",
		"latest~5": "0", "latest~6": "", "latest~x": "latest~x", "5~1~1": "3", "3~4": "", "latest~99999999999999999999": "",
	} {
		c, _ := scripted(t, Config{}, answer(200, `{"id": 5}`))
		got, err := c.Resolve(t.Context(), name)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q and error %v, want %q", name, got, err, want)
		}
	}
}

const (
	missing = `{"revision":5,"status":"failure","policies":[{"name":"p","validations":[{"name":"v","status":"missing"}]}]}`
	failing = `{"revision":5,"status":"failure","policies":[{"name":"p","validations":[
		{"name":"v","status":"missing"},{"name":"w","status":"failure"}]}]}`
	succeeded = `{"revision":5,"status":"success","policies":[{"name":"p","validations":[{"name":"v","status":"success"}]}]}`
)

// Waits are sent to a server that supports them, at most ten minutes per request, and latest is resolved only once.
func TestStatus_waits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, s := scripted(t, Config{}, answer(412, missing), answer(412, missing), answer(200, succeeded))
		verdict, _, err := c.Status(t.Context(), "latest", 25*time.Minute, time.Second)
		if err != nil || verdict.Status != "success" {
			t.Errorf("verdict %+v, error %v", verdict, err)
		}
		want := []string{
			"GET /api/v1.0/revisions/latest/status?expect=success&wait=10m0s",
			"GET /api/v1.0/revisions/5/status?expect=success&wait=10m0s",
			"GET /api/v1.0/revisions/5/status?expect=success&wait=5m0s",
		}
		if diff := cmp.Diff(want, s.seen); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
	})
}

// If a server stops during a wait, the remaining time is requested once it is back.
func TestStatus_restart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stops := answer(503, busy, "Retry-After", "1")
		stops.after = 4 * time.Minute
		c, s := scripted(t, Config{}, stops, answer(412, missing))
		verdict, _, err := c.Status(t.Context(), "5", 5*time.Minute, time.Second)
		if err != nil || verdict.Status != "failure" {
			t.Errorf("verdict %+v, error %v", verdict, err)
		}
		want := []string{
			"GET /api/v1.0/revisions/5/status?expect=success&wait=5m0s",
			"GET /api/v1.0/revisions/5/status?expect=success&wait=59s",
		}
		if diff := cmp.Diff(want, s.seen); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
	})
}

// An older server is polled.
func TestStatus_polls(t *testing.T) {
	t.Parallel()
	unknown := answer(400, envelope("HTTPInvalidParam", `The "wait" parameter is invalid. This endpoint has no parameter of that name.`))
	for name, test := range map[string]struct {
		answers []reply
		status  string
		asked   []time.Duration
	}{
		"success": {
			[]reply{unknown, answer(200, missing), answer(200, missing), answer(200, succeeded)},
			"success",
			[]time.Duration{0, 0, 5 * time.Second, 10 * time.Second},
		},
		"in vain": {
			[]reply{unknown, answer(200, missing)},
			"failure",
			[]time.Duration{0, 0, 5 * time.Second, 10 * time.Second, 12 * time.Second},
		},
		"cannot become one": {
			[]reply{unknown, answer(200, failing)},
			"failure",
			[]time.Duration{0, 0},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, s := scripted(t, Config{}, test.answers...)
				verdict, _, err := c.Status(t.Context(), "latest", 12*time.Second, 5*time.Second)
				if err != nil || verdict.Status != test.status {
					t.Errorf("verdict %+v, error %v", verdict, err)
				}
				if diff := cmp.Diff(test.asked, s.at); diff != "" {
					t.Errorf("asked at (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestList_pages(t *testing.T) {
	t.Parallel()
	c, s := scripted(t, Config{}, answer(200, `{"results":[1,2],"next":"x"}`), answer(200, `{"results":[3],"next":null}`))
	items, more, err := c.List(t.Context(), 5000, nil, "buckets")
	if err != nil || more || len(items) != 3 {
		t.Errorf("items %s, more %v, error %v", items, more, err)
	}
	want := []string{"GET /api/v1.0/buckets?limit=1000&offset=0", "GET /api/v1.0/buckets?limit=1000&offset=2"}
	if diff := cmp.Diff(want, s.seen); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestVerdict_Final(t *testing.T) {
	t.Parallel()
	of := func(status string, validations ...Validation) Policy { return Policy{"p", status, validations} }
	missing, good := Validation{Name: "v", Status: "missing"}, Validation{Name: "w", Status: success}
	for name, test := range map[string]struct {
		policies []Policy
		final    bool
	}{
		"missing":                          {[]Policy{of("failure", missing)}, false},
		"missing, of the server":           {[]Policy{of("failure", Validation{Name: "deckhand-v", Status: "missing"})}, true},
		"missing, reserved":                {[]Policy{of("failure", Validation{Name: "purser-v", Status: "missing"})}, true},
		"expired":                          {[]Policy{of("failure", Validation{Name: "v", Status: "expired"})}, false},
		"a broken policy":                  {[]Policy{of("failure", good)}, true},
		"a broken policy and missing":      {[]Policy{of("failure"), of("failure", missing)}, true},
		"a policy of nothing, and missing": {[]Policy{of(success), of("failure", missing)}, false},
	} {
		verdict := Verdict{Status: "failure", Policies: test.policies}
		if verdict.Final() != test.final {
			t.Errorf("%s: final %v, want %v", name, !test.final, test.final)
		}
	}
}
