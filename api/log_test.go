package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"purser/api"
	"purser/internal/authn"
	"purser/internal/queries"
	"purser/internal/revisions"
)

// lines returns the log.
func (s site) lines(t *testing.T) (all []map[string]any) {
	t.Helper()
	for line := range strings.Lines(s.log.String()) {
		var entry map[string]any
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatal(err)
		}
		all = append(all, entry)
	}
	return all
}

const (
	trace       = "4bf92f3577b34da6a3ce929d0e0e4736"
	traceparent = "00-" + trace + "-00f067aa0ba902b7-01"
)

func TestLog_request(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "b?message=why", widget("w", "{}")).is(t, http.StatusOK)
	s.log.Reset()
	marker := "m" + strings.Repeat("x", 999)
	got := s.get(t, "revisions/latest/documents?limit=5", "X-Context-Marker", marker, "traceparent", traceparent).is(t, http.StatusOK)
	logged := s.lines(t)[0]
	took, isNumber := logged["duration_seconds"].(float64)
	if !isNumber || took < 0 || took > 60 {
		t.Errorf("duration_seconds is %v", logged["duration_seconds"])
	}
	for _, name := range []string{"time", "duration_seconds", "bytes"} {
		delete(logged, name)
	}
	want := map[string]any{
		"level": "INFO", "msg": "request", "method": "GET", "path": "/api/v1.0/revisions/latest/documents", "query": "limit=5",
		"status": 200.0, "revision": 1.0, "remote": "192.0.2.1:1234", "request": got.Header.Get("X-Deckhand-Req"), "user": "noauth",
		"context_marker": marker[:200] + "…", "trace_id": trace,
	}
	if diff := cmp.Diff(want, logged); diff != "" {
		t.Errorf("logged (-want +got)\n%s", diff)
	}
}

// Queries are logged without search terms and unknown parameters, and are cut off.
func TestLog_query(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "b", widget("w", "{}")).is(t, http.StatusOK)
	for query, want := range map[string]string{
		"limit=5&search=hunter2":    "limit=5&search=…",
		"s%65arch=hunter2":          "s%65arch=…",
		"token=hunter2&hunter2":     "token=…&…",
		"%zz=hunter2&&limit=1":      "%zz=…&limit=1",
		"schema=a/b/v1&":            "schema=a/b/v1",
		"":                          "",
		strings.Repeat("limit=", 1): "limit=",
	} {
		s.log.Reset()
		s.get(t, "revisions/1/documents?"+query)
		if got, _ := s.lines(t)[0]["query"].(string); got != want {
			t.Errorf("%q is logged as %q, want %q", query, got, want)
		}
	}
	s.log.Reset()
	s.get(t, "revisions/1/documents?sort="+strings.Repeat("é", 5000))
	s.get(t, "nowhere/"+strings.Repeat("x", 5000)+"?limit=hunter2")
	lines := s.lines(t)
	if query, _ := lines[0]["query"].(string); len(query) > 1003 {
		t.Errorf("%d bytes of a query are logged", len(query))
	}
	if path, _ := lines[1]["path"].(string); len(path) > 1003 || lines[1]["query"] != "limit=…" {
		t.Errorf("of an unknown path are logged %d bytes, and of its query %v", len(path), lines[1]["query"])
	}
}

// failingAudit cannot record.
type failingAudit struct{ queries.Audit }

func (failingAudit) Record(context.Context, revisions.AuditEvent) error { return errors.New("no") }

// Log records written during a request identify it.
func TestLog_insideRequest(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(config *api.Config) { config.Audit = failingAudit{} })
	got := s.do(t, http.MethodDelete, "revisions/1/tags", "", "X-Context-Marker", "m", "traceparent", traceparent)
	lines := s.lines(t)
	if len(lines) != 2 {
		t.Fatalf("%d lines, want that of the audit and that of the request: %v", len(lines), lines)
	}
	for _, line := range lines {
		if line["request"] != got.Header.Get("X-Deckhand-Req") || line["context_marker"] != "m" || line["trace_id"] != trace {
			t.Errorf("of another request: %v", line)
		}
	}
}

// An outage is an ERROR once a minute and for each of its causes, and a WARN for each other request that it fails.
func TestLog_outage(t *testing.T) {
	t.Parallel()
	now, cause := time.Date(2026, 11, 26, 18, 0, 0, 0, time.UTC), "one"
	s := newSite(t, func(config *api.Config) {
		config.Now = func() time.Time { return now }
		config.Ping = func(context.Context) error { return errors.New(cause) }
	})
	for _, c := range []struct {
		after time.Duration
		cause string
		want  string
	}{
		{0, "one", "ERROR"},
		{time.Second, "one", "WARN"},
		{58 * time.Second, "one", "WARN"},
		{time.Second, "one", "ERROR"},
		{0, "other", "ERROR"},
		{time.Second, "other", "WARN"},
	} {
		now, cause = now.Add(c.after), c.cause
		s.log.Reset()
		s.get(t, "/readyz").is(t, http.StatusServiceUnavailable)
		if got := s.lines(t); len(got) != 1 || got[0]["level"] != c.want || !strings.Contains(got[0]["error"].(string), c.cause) {
			t.Errorf("%v later, because of %s: %v, want %s", c.after, c.cause, got, c.want)
		}
	}
}

// Successful health checks are not logged, however they are asked for; others are.
func TestLog_healthChecks(t *testing.T) {
	t.Parallel()
	var down error
	s := newSite(t, func(config *api.Config) { config.Ping = func(context.Context) error { return down } })
	for _, path := range []string{"/readyz", "/readyz/", "/readyz?unknown=", "/api/v1.0/health", "/api/v1.0/health/"} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			s.log.Reset()
			if got := s.do(t, method, path, "", asJSON...); (got.StatusCode < 400) == (len(s.lines(t)) > 0) {
				t.Errorf("%s %s: status %d, logged: %s", method, path, got.StatusCode, s.log)
			}
		}
	}
	s.get(t, "/readyz").is(t, http.StatusOK)
	down = errors.New("away")
	s.log.Reset()
	s.get(t, "/readyz").is(t, http.StatusServiceUnavailable)
	if got := s.lines(t); len(got) != 1 || got[0]["level"] != "ERROR" {
		t.Errorf("a failed check is logged as %v", got)
	}
}

// Refused credentials are counted by their kind. A request without any is not, as that of a browser that opens a page.
func TestHandler_countsRefusedSignIns(t *testing.T) {
	t.Parallel()
	counted := map[string]int{}
	s := newSite(t, func(config *api.Config) {
		config.Access.Anonymous, config.Access.Authenticator = false, refusing{}
		config.Refused = func(credential string) { counted[credential]++ }
	})
	for _, header := range [][]string{
		nil,
		{"X-Auth-Token", "wrong"},
		{"Authorization", "Bearer wrong"},
		{"Authorization", "Basic x"},
		{"X-Auth-Token", "a", "Authorization", "Bearer b"},
	} {
		s.get(t, "whoami", header...).is(t, http.StatusUnauthorized)
	}
	s.get(t, "whoami", "X-Auth-Token", "right").is(t, http.StatusOK)
	s.get(t, "/readyz").is(t, http.StatusOK)
	if diff := cmp.Diff(map[string]int{"token": 3}, counted); diff != "" {
		t.Errorf("counted (-want +got)\n%s", diff)
	}
}

// refusing knows one token.
type refusing struct{}

// Authenticate implements authn.Authenticator.
func (refusing) Authenticate(_ context.Context, token string) (authn.Caller, error) {
	if token != "right" {
		return authn.Caller{}, &authn.Rejected{Reason: "unknown"}
	}
	return authn.Caller{UserID: "u"}, nil
}
