package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"purser/api"
	"purser/internal/feed"
	"purser/internal/sites"
	"purser/internal/store/storetest"
)

// requiring is a policy that requires validations of others.
func requiring(names ...string) string {
	return "---\nschema: deckhand/ValidationPolicy/v1\nmetadata: {schema: metadata/Control/v1, name: p}\n" +
		"data: {validations: [{name: " + strings.Join(names, "}, {name: ") + "}]}\n"
}

// claim asks for work on validations.
func (s site) claim(t *testing.T, names, worker string) response {
	t.Helper()
	return s.post(t, "claims", fmt.Sprintf("{validations: [%s], worker: %s}", names, worker))
}

// resultOf posts a result to the URL of a claim.
func (s site) resultOf(t *testing.T, claim map[string]any, status string) response {
	t.Helper()
	path := strings.TrimPrefix(claim["result"].(string), siteURL+"/api/v1.0/")
	return s.post(t, path, "{status: "+status+", validator: {name: v}}")
}

// Work of the newest revision comes first, in the order of the names; a result ends it, once.
func TestClaims(t *testing.T) {
	t.Parallel()
	s := schemasSite(t)
	s.put(t, "policy", requiring("a-validation", "b-validation")).is(t, http.StatusOK)
	s.claim(t, "other", "w1").is(t, http.StatusNoContent)
	first := s.claim(t, "b-validation, a-validation", "w1").is(t, http.StatusCreated).mapping(t)
	stamp := s.get(t, "revisions/1").mapping(t)["stamp"]
	at := siteURL + "/api/v1.0/revisions/1/"
	want := map[string]any{
		"id": first["id"], "revision": 1, "stamp": stamp, "validation": "b-validation", "attempt": 1, "expiresAt": first["expiresAt"],
		"progress": nil, "documents": at + "rendered-documents",
		"result": fmt.Sprintf("%svalidations/b-validation?claim=%v&revision-stamp=%v", at, first["id"], stamp),
	}
	if diff := cmp.Diff(want, first); diff != "" {
		t.Errorf("the claim (-want +got):\n%s", diff)
	}
	second := s.claim(t, "b-validation, a-validation", "w2").is(t, http.StatusCreated).mapping(t)
	s.claim(t, "b-validation, a-validation", "w3").is(t, http.StatusNoContent)
	if second["validation"] != "a-validation" {
		t.Errorf("the second claim is to %v", second["validation"])
	}
	if text := s.get(t, "revisions/1/status", "Accept", "text/plain").text; !strings.Contains(text, "claimed by w1 since") {
		t.Errorf("status: %s", text)
	}
	path := fmt.Sprintf("claims/%v", first["id"])
	extended := s.send(t, request{method: http.MethodPut, path: path, body: "{progress: half}", header: inYAML})
	if got := extended.is(t, http.StatusOK).mapping(t)["progress"]; got != "half" {
		t.Errorf("the progress is %v", got)
	}
	s.resultOf(t, first, "success").is(t, http.StatusCreated)
	s.resultOf(t, first, "failure").is(t, http.StatusOK)
	if got := s.get(t, "revisions/1/validations/b-validation").mapping(t)["count"]; got != 1 {
		t.Errorf("%v results of one claim", got)
	}
	s.send(t, request{method: http.MethodPut, path: path}).isFault(t, http.StatusConflict, "ClaimOver")
	// One that is given back is work again.
	back := request{method: http.MethodDelete, path: fmt.Sprintf("claims/%v", second["id"])}
	s.send(t, back).is(t, http.StatusNoContent)
	s.send(t, back).is(t, http.StatusNoContent)
	third := s.claim(t, "a-validation", "w3").is(t, http.StatusCreated).mapping(t)
	if third["attempt"] != 1 {
		t.Errorf("attempt %v after a claim was given back", third["attempt"])
	}
	s.send(t, back).isFault(t, http.StatusConflict, "ClaimLost")
	s.resultOf(t, second, "success").isFault(t, http.StatusConflict, "ClaimLost")
	s.post(t, fmt.Sprintf("revisions/1/validations/b-validation?claim=%v", third["id"]), "{status: success, validator: x}").
		isFault(t, http.StatusNotFound, "UnknownClaim")
	// A result without a claim ends the work, too.
	s.post(t, "revisions/1/validations/a-validation", "{status: success, validator: x}").is(t, http.StatusCreated)
	s.claim(t, "a-validation, b-validation", "w4").is(t, http.StatusNoContent)
	s.resultOf(t, third, "success").isFault(t, http.StatusConflict, "ClaimOver")
	s.send(t, request{method: http.MethodDelete, path: "claims/0f8d4c1e-8f6e-4a53-9b0d-3d2f1f0c7a55"}).
		isFault(t, http.StatusNotFound, "UnknownClaim")
}

// A claim changes the ETag of the status and is in the audit, with the user; a heartbeat and a worker without work are not.
func TestClaims_recorded(t *testing.T) {
	t.Parallel()
	s := openSite(t, settings{defaults: []string{}}, withUsers(new(users)))
	const user = "X-Auth-Token"
	send := func(method, path, body string) response {
		t.Helper()
		return s.send(t, request{method: method, path: path, body: body, header: append(inYAML, user, "anna")})
	}
	send(http.MethodPut, "buckets/policy/documents", requiring("a-validation")).is(t, http.StatusOK)
	tag := func() string {
		return s.get(t, "revisions/1/status", user, "anna").is(t, http.StatusOK).Header.Get("ETag")
	}
	missing := tag()
	const ask = "{validations: [a-validation], worker: w}"
	claim := send(http.MethodPost, "claims", ask).is(t, http.StatusCreated).mapping(t)
	claimed := tag()
	path := fmt.Sprintf("claims/%v", claim["id"])
	send(http.MethodPut, path, "{progress: half}").is(t, http.StatusOK)
	send(http.MethodPut, "claims/x", "{progress: half}").is(t, http.StatusNotFound)
	send(http.MethodPost, "claims", ask).is(t, http.StatusNoContent)
	if held := tag(); missing == claimed || held != claimed {
		t.Errorf("ETags %s, claimed %s, after a heartbeat %s", missing, claimed, held)
	}
	listed := s.get(t, "claims", user, "anna").mapping(t)["results"].([]any)[0].(map[string]any)
	if listed["user"] != "anna" || listed["progress"] != "half" || listed["id"] != nil {
		t.Errorf("listed: %v", listed)
	}
	s.send(t, request{method: http.MethodDelete, path: path, header: []string{user, "anna"}}).is(t, http.StatusNoContent)
	if back := tag(); back == claimed {
		t.Errorf("the ETag is the same after the claim was given back")
	}
	send(http.MethodPost, "revisions/1/validations/a-validation/request", "{}").is(t, http.StatusAccepted)
	var got []string
	for _, entry := range s.get(t, "audit", user, "anna").mapping(t)["results"].([]any) {
		entry := entry.(map[string]any)
		target := strings.ReplaceAll(entry["target"].(string), path[len("claims/"):], "ID")
		got = append(got, fmt.Sprint(entry["method"], " ", strings.TrimPrefix(target, "/api/v1.0/"), " ", entry["revision"], " ",
			entry["status"]))
	}
	want := []string{
		"POST revisions/1/validations/a-validation/request 1 202", "DELETE claims/ID 1 204", "POST claims 1 201",
		"PUT buckets/policy/documents 1 200",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the audit (-want +got)\n%s", diff)
	}
}

// A request for a new result opens work, and the result that there is counts until the new one is posted.
func TestClaims_request(t *testing.T) {
	t.Parallel()
	s := schemasSite(t)
	s.put(t, "policy", requiring("a-validation")).is(t, http.StatusOK)
	s.post(t, "revisions/1/validations/a-validation", "{status: success, validator: x}").is(t, http.StatusCreated)
	s.claim(t, "a-validation", "w").is(t, http.StatusNoContent)
	asked := s.post(t, "revisions/latest/validations/a-validation/request", "{reason: the switches were replaced}").
		is(t, http.StatusAccepted).mapping(t)
	if asked["reason"] != "the switches were replaced" || asked["requestedAt"] == nil {
		t.Errorf("answer %v", asked)
	}
	listed := s.get(t, "claims").is(t, http.StatusOK).mapping(t)["results"].([]any)
	if len(listed) != 1 || listed[0].(map[string]any)["state"] != "open" {
		t.Errorf("work %v", listed)
	}
	claim := s.claim(t, "a-validation", "w").is(t, http.StatusCreated).mapping(t)
	if got := s.get(t, "revisions/1/status").mapping(t)["status"]; got != "success" {
		t.Errorf("the status is %v while there is an earlier result", got)
	}
	s.resultOf(t, claim, "failure").is(t, http.StatusCreated)
	s.claim(t, "a-validation", "w").is(t, http.StatusNoContent)
	if got := s.get(t, "claims").mapping(t)["count"]; got != 0 {
		t.Errorf("%v pieces of work after the result", got)
	}
	s.post(t, "revisions/9/validations/a-validation/request", "{}").isFault(t, http.StatusNotFound, "RevisionNotFound")
	s.post(t, "revisions/1/validations/a-validation/request?revision-stamp=1", "{}").is(t, http.StatusPreconditionFailed)
}

func TestClaims_refuses(t *testing.T) {
	t.Parallel()
	s := schemasSite(t)
	s.put(t, "policy", requiring("a-validation")).is(t, http.StatusOK)
	for body, status := range map[string]int{
		"": 400, "[]": 400, "{validations: [], worker: w}": 400, "{validations: [a]}": 400,
		"{validations: [a], worker: ''}": 400, "{validations: [a], worker: w, timeout: PT0S}": 400,
		"{validations: [a], worker: w, timeout: PT61M}":                      400,
		"{validations: [a], worker: w, timeout: P1D}":                        400,
		"{validations: [a], worker: w, timout: PT5M}":                        400,
		"{validations: [1], worker: w}":                                      400,
		"{validations: [deckhand-schema-validation], worker: w}":             403,
		"{validations: [a], worker: " + strings.Repeat("ü", 101) + "}":       400,
		"{validations: [" + strings.Repeat("a, ", 50) + "a], worker: w}":     400,
		"{validations: [b], worker: " + strings.Repeat("ü", 100) + "}":       204,
		"{validations: [b, b], worker: w, timeout: 1s}":                      204,
		"{validations: [" + strings.Repeat("b, ", 49) + "b], worker: \"x\"}": 204,
	} {
		got := s.unchecked().send(t, request{method: http.MethodPost, path: "claims", body: body, header: inYAML})
		if got.StatusCode != status {
			t.Errorf("%.60s: %d, want %d: %s", body, got.StatusCode, status, got.text)
		}
	}
	s.post(t, "revisions/1/validations/deckhand-x/request", "{}").is(t, http.StatusForbidden)
	s.unchecked().post(t, "revisions/1/validations/a-validation/request", "{reason: "+strings.Repeat("x", 1001)+"}").
		is(t, http.StatusBadRequest)
	s.unchecked().get(t, "claims?state=open").is(t, http.StatusBadRequest)
}

// The routes do not exist in compat mode, and a claim of a result means nothing.
func TestClaims_compat(t *testing.T) {
	t.Parallel()
	s := compatSite(t)
	s.put(t, "policy", requiring("a-validation")).is(t, http.StatusOK)
	for _, r := range []request{
		{method: http.MethodPost, path: "claims", body: "{validations: [a], worker: w}", header: inYAML},
		{method: http.MethodGet, path: "claims"},
		{method: http.MethodPut, path: "claims/x"},
		{method: http.MethodPost, path: "revisions/1/validations/a-validation/request", body: "{}", header: inYAML},
	} {
		if got := s.send(t, r); got.StatusCode != http.StatusNotFound {
			t.Errorf("%s %s: %d", r.method, r.path, got.StatusCode)
		}
	}
}

// tracedSite opens a site in which so many requests of one user may wait, with the spans of its statements. Closing stop
// ends the waits.
func tracedSite(t *testing.T, waits int) (s site, told feed.Site, spans *tracetest.SpanRecorder, stop chan struct{}) {
	t.Helper()
	spans = tracetest.NewSpanRecorder()
	traces := sdk.NewTracerProvider(sdk.WithSpanProcessor(spans))
	stop = make(chan struct{})
	s = openSite(t, settings{defaults: []string{}, traces: traces}, func(c *api.Config) {
		config := c.Feed.Config
		config.MaxWaits = 3 * waits
		c.Feed, c.Stopping = feed.New(config).Of(sites.Default), stop
		told = c.Feed
	})
	go told.Run(t.Context())
	next := s.Handler
	s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, span := traces.Tracer("").Start(r.Context(), "request") // statements of traced requests have spans
		defer span.End()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
	return s, told, spans, stop
}

// A thousand workers that wait cost a few statements when work appears: those of one server are served together.
func TestClaims_thousandWaiting(t *testing.T) {
	t.Parallel()
	const workers, works = 1000, 10
	s, told, spans, stop := tracedSite(t, workers)
	var names []string
	for i := range works {
		names = append(names, fmt.Sprintf("v%d-validation", i))
	}
	ask := "{validations: [" + strings.Join(names, ", ") + "], worker: w}"
	answers := make(chan response, workers)
	for range workers {
		go func() { answers <- s.post(t, "claims?wait=10m", ask) }()
	}
	statements := func() (n int) {
		for _, span := range spans.Ended() {
			for _, attribute := range span.Attributes() {
				text := attribute.Value.AsString()
				if strings.Contains(text, "PARTITION BY s.name") || strings.Contains(text, "before uuid") {
					n++
					break
				}
			}
		}
		return n
	}
	for told.Waiting() < workers {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(500 * time.Millisecond) // all have looked, or the count below includes a part of the first looks
	before := statements()
	s.put(t, "policy", requiring(names...)).is(t, http.StatusOK)
	claimed := map[any]bool{}
	for range works {
		claimed[(<-answers).is(t, http.StatusCreated).mapping(t)["validation"]] = true
	}
	if _, err := told.NumberEvents(t.Context()); err != nil {
		t.Error(err)
	}
	time.Sleep(500 * time.Millisecond)
	made := statements() - before
	close(stop)
	for range workers - works {
		(<-answers).is(t, http.StatusServiceUnavailable)
	}
	const each = 10 // a slow machine serves fewer of them together
	if len(claimed) != works || made == 0 || made > works*each {
		t.Errorf("%d claims by %d statements; %d before", len(claimed), made, before)
	}
	t.Logf("%d statements, and %d before", made, before)
}

// A worker that waits gets work when it appears, and when the claim of another runs out.
func TestClaims_wait(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	var told feed.Site
	s := openSite(t, settings{url: url, defaults: []string{}}, func(c *api.Config) { told = c.Feed })
	wait := func(names string) func() []response {
		done := make(chan response, 1)
		before := told.Waiting()
		go func() {
			done <- s.post(t, "claims?wait=10m", "{validations: ["+names+"], worker: w, timeout: PT10M}")
		}()
		for told.Waiting() == before && t.Context().Err() == nil {
			time.Sleep(time.Millisecond)
		}
		return func() []response { return []response{<-done} }
	}
	answer := wait("a-validation")
	s.put(t, "policy", requiring("a-validation")).is(t, http.StatusOK)
	claim := answer()[0].is(t, http.StatusCreated).mapping(t)
	answer = wait("a-validation")
	storetest.Execute(t, storetest.Connect(t, url), "UPDATE claims SET expires_at = now() - interval '1 minute'")
	s.post(t, "revisions/1/tags/woken", "").is(t, http.StatusCreated) // if nothing else has woken it
	got := answer()[0].is(t, http.StatusCreated).mapping(t)
	if got["revision"] != 1 || got["attempt"] != 2 || claim["attempt"] != 1 {
		t.Errorf("claims to %v and %v", claim, got)
	}
	s.post(t, "claims?wait=0s", "{validations: [a-validation], worker: w}").is(t, http.StatusNoContent)
}
