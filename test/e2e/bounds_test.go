package e2e_test

import (
	"io"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

func TestBounds_rate(t *testing.T) {
	t.Parallel()
	k := newKeys(t, "hasty", "calm")
	s := k.startWith(t, "", "--request-rate", "1")
	var got answer
	for range 30 {
		if got = s.whoami(t, k, "hasty"); got.status != http.StatusOK {
			break
		}
	}
	got.fails(t, http.StatusTooManyRequests, "HTTPTooManyRequests", "10 requests", "within 10s", "--request-rate: 1 ")
	if got.got.Get("Retry-After") != "10" || got.got.Get("X-User-Name") != "hasty" {
		t.Errorf("headers: %v", got.got)
	}
	s.whoami(t, k, "calm").is(t, http.StatusOK)
	for range 30 {
		s.get(t, "whoami").is(t, http.StatusUnauthorized)
		s.get(t, "/readyz").is(t, http.StatusOK)
	}
}

// slowPut starts a PUT and waits until the server asks for its body. finish ends the body and returns the answer.
func slowPut(t *testing.T, s *server, bucket string, header map[string]string) (finish func() answer) {
	t.Helper()
	header = maps.Clone(header)
	header["Expect"] = "100-continue"
	body, rest := io.Pipe()
	answered := make(chan answer, 1)
	go func() {
		got, err := s.try(t.Context(), request{
			method: http.MethodPut, path: "buckets/" + bucket + "/documents", stream: body, header: header,
		})
		if err != nil {
			t.Error(err)
		}
		answered <- got
	}()
	if _, err := io.WriteString(rest, widget("w-"+bucket, "\n  a: 1")); err != nil { // after the 100 Continue
		t.Fatal(err)
	}
	return func() answer {
		_ = rest.Close()
		return <-answered
	}
}

func TestBounds_ingests(t *testing.T) {
	t.Parallel()
	k := newKeys(t, "admin")
	k.add(t, "other", "--role", "admin")
	s := k.startWith(t, "", "--user-ingests", "1")
	finish := slowPut(t, s, "slow", k.as("admin"))
	another := request{method: http.MethodPut, path: "buckets/b/documents", body: widget("w", "\n  a: 2"), header: k.as("admin")}
	got := s.send(t, another)
	got.fails(t, http.StatusTooManyRequests, "HTTPTooManyRequests", "under way")
	if got.got.Get("Retry-After") != "1" {
		t.Errorf("Retry-After: %q", got.got.Get("Retry-After"))
	}
	another.header = k.as("other")
	s.send(t, another).is(t, http.StatusOK)
	finish().is(t, http.StatusOK)
	another.header = k.as("admin")
	s.send(t, another).is(t, http.StatusOK)
}

var underWay = regexp.MustCompile(`"path":"/api/v1.0/buckets/waiting/documents"`)

// Requests wait until there is memory for their bodies.
func TestBounds_memory(t *testing.T) {
	t.Parallel()
	s := startFresh(t, "--ingest-memory", "1000")
	finish := slowPut(t, s, "slow", yamlBody()) // of unknown length, so it reserves the maximum
	waited := make(chan answer, 1)
	go func() {
		got, err := s.try(t.Context(), request{
			method: http.MethodPut, path: "buckets/waiting/documents", body: widget("w", "\n  a: 2"), header: yamlBody(),
		})
		if err != nil {
			t.Error(err)
		}
		waited <- got
	}()
	for range 20 { // requests without a body are answered meanwhile
		s.get(t, "revisions").is(t, http.StatusOK)
	}
	if underWay.MatchString(s.log.text()) {
		t.Error("a body is taken in for which there is no memory")
	}
	finish().is(t, http.StatusOK)
	(<-waited).is(t, http.StatusOK)
}

// --memory sets a soft limit on the heap.
func TestBounds_heap(t *testing.T) {
	t.Parallel()
	s := startFresh(t, "--memory", "512MiB")
	if metrics := s.get(t, "/metrics").text; !strings.Contains(metrics, "go_gc_gomemlimit_bytes 4.69762048e+08") {
		t.Errorf("the heap has no limit of 448 MiB:\n%s", metrics)
	}
}

func TestBounds_noMemoryInTime(t *testing.T) {
	t.Parallel()
	s := startFresh(t, "--ingest-memory", "1000", "--read-timeout", "4s")
	body := widget("w", "\n  a: "+strings.Repeat("x", 100))
	finish := slowPut(t, s, "slow", yamlBody())
	got := s.send(t, request{method: http.MethodPut, path: "buckets/b/documents", body: body, header: yamlBody()})
	switch got.status { // either may be the first to exceed the wait
	case http.StatusOK:
	case http.StatusServiceUnavailable:
		if got.got.Get("Retry-After") == "" {
			t.Error("it does not say when to come back")
		}
	default:
		t.Errorf("status %d\n%s", got.status, got.text)
	}
	finish().is(t, http.StatusRequestTimeout)
	s.put(t, "b", body).is(t, http.StatusOK)
}

// Metrics on a separate listener need no authentication, and are absent from the main one.
func TestMetrics_listenElsewhere(t *testing.T) {
	t.Parallel()
	k := newKeys(t, "admin")
	s := k.startWith(t, "", "--metrics-listen", "127.0.0.1:0")
	s.send(t, request{method: http.MethodGet, path: "/metrics", header: k.as("admin")}).is(t, http.StatusNotFound)
	at := regexp.MustCompile(`"url":"(http://[^"]*)/metrics"`).FindStringSubmatch(s.log.text())
	if at == nil {
		t.Fatal("it does not say where the metrics are")
	}
	main := s.url
	for path, want := range map[string]int{"/metrics": http.StatusOK, "/versions": http.StatusNotFound} {
		s.url = at[1]
		got, err := s.try(t.Context(), request{method: http.MethodGet, path: path})
		s.url = main
		if err != nil || got.status != want {
			t.Errorf("%s: status %d, %v", path, got.status, err)
		}
	}
}
