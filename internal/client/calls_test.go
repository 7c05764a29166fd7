package client

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// site answers requests for revisions with bodies by path; others do not exist.
type site map[string]string

func (s site) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", "application/json")
	body, ok := s[strings.TrimPrefix(r.URL.Path, "/api/v1.0/revisions/")]
	if !ok {
		w.Code, body = http.StatusNotFound, envelope("RevisionNotFound", "no such revision")
	}
	w.Body.WriteString(body)
	return w.Result(), nil
}

// NAME~N counts the revisions that are left: of the first five, 2 and 3 were pruned.
func TestResolve(t *testing.T) {
	t.Parallel()
	pruned := site{
		"latest": `{"id": 5, "previous": 4}`, "5": `{"id": 5, "previous": 4}`, "4": `{"id": 4, "previous": 1}`,
		"1": `{"id": 1, "previous": 0}`, "tag:a~b": `{"id": 4, "previous": 1}`,
	}
	old := site{"latest": `{"id": 5}`, "5": `{"id": 5}`, "4": `{"id": 4}`} // a server that does not say previous
	for _, c := range []struct {
		name, want string
		server     site
	}{
		{"17", "17", nil},
		{"latest", "latest", nil},
		{"tag:good", "tag:good", nil},
		{"latest~x", "latest~x", nil},
		{"latest~0", "5", pruned},
		{"latest~1", "4", pruned},
		{"latest~2", "1", pruned},
		{"latest~3", "0", pruned},
		{"latest~4", "", pruned},
		{"5~1~1", "1", pruned},
		{"tag:a~b~1", "1", pruned},
		{"3~1", "", pruned},
		{"latest~99999999999999999999", "", pruned},
		{"latest~2", "3", old},
	} {
		client, err := New(Config{Server: "http://purser.example", Transport: c.server})
		if err != nil {
			t.Fatal(err)
		}
		got, err := client.Resolve(t.Context(), c.name)
		if err != nil {
			got = ""
		}
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: %q and error %v, want %q", c.name, got, err, c.want)
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
		verdict, _, err := c.Status(t.Context(), "latest", nil, 25*time.Minute, time.Second)
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
		verdict, _, err := c.Status(t.Context(), "5", nil, 5*time.Minute, time.Second)
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
				verdict, _, err := c.Status(t.Context(), "latest", nil, 12*time.Second, 5*time.Second)
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
	items, err := c.List(t.Context(), 5000, nil, "buckets")
	if err != nil || len(items) != 3 {
		t.Errorf("items %s, error %v", items, err)
	}
	want := []string{"GET /api/v1.0/buckets?limit=1000&offset=0", "GET /api/v1.0/buckets?limit=1000&offset=2"}
	if diff := cmp.Diff(want, s.seen); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}
