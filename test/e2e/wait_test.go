package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	terminate = syscall.SIGTERM
	drainTime = 10 * time.Second // of the server
)

// later sends a request that waits. Its answer is sent to the channel.
func (s *server) later(t *testing.T, path string, header ...string) <-chan answer {
	t.Helper()
	answers := make(chan answer, 1)
	before := s.waiting(t)
	go func() {
		a, err := s.try(t.Context(), request{method: http.MethodGet, path: path, header: pairs(header)})
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		answers <- a
	}()
	eventually(t, "the request waits", func() bool { return s.waiting(t) > before })
	return answers
}

// waiting returns the number of waiting requests.
func (s *server) waiting(t *testing.T) (n int) {
	t.Helper()
	text := s.get(t, "/metrics").is(t, http.StatusOK).text
	_, after, _ := strings.Cut(text, "\npurser_waiting_requests ")
	if _, err := fmt.Sscan(after, &n); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return n
}

func TestWait_status(t *testing.T) {
	t.Parallel()
	const path = "/status?expect=success&wait=PT10M"
	text := []string{"Accept", "text/plain"}
	t.Run("until it succeeds", func(t *testing.T) {
		t.Parallel()
		s := start(t)
		s.put(t, "b", policy("p", "a-validation", "b-validation")).is(t, http.StatusOK)
		s.tag(t, 1, "this")
		latest, tagged := s.later(t, "revisions/latest"+path, text...), s.later(t, "revisions/tag:this"+path, text...)
		s.put(t, "b2", widget("w", "{}")).is(t, http.StatusOK) // makes another revision the latest
		s.report(t, 2, "a-validation", "success")
		s.report(t, 1, "a-validation", "success")
		s.report(t, 1, "b-validation", "success")
		for _, a := range []answer{<-latest, <-tagged} {
			if a.is(t, http.StatusOK).text != "success\n" || !strings.HasPrefix(a.got.Get("ETag"), `"1-`) {
				t.Errorf("%v\n%s", a.got, a.text)
			}
			var waited float64
			if _, err := fmt.Sscan(a.got.Get("Purser-Waited"), &waited); err != nil {
				t.Errorf("Purser-Waited: %q", a.got.Get("Purser-Waited"))
			}
		}
	})
	t.Run("until it fails", func(t *testing.T) {
		t.Parallel()
		s := start(t)
		s.put(t, "b", policy("p", "a-validation", "b-validation")).is(t, http.StatusOK)
		answers := s.later(t, "revisions/1"+path, text...)
		s.report(t, 1, "a-validation", "failure")
		if a := (<-answers).is(t, http.StatusPreconditionFailed); !strings.Contains(a.text, "a-validation: failure") {
			t.Error(a.text)
		}
	})
	t.Run("until it is gone", func(t *testing.T) {
		t.Parallel()
		s := start(t)
		s.put(t, "b", policy("p", "a-validation")).is(t, http.StatusOK)
		answers := s.later(t, "revisions/1"+path, text...)
		s.put(t, "b", policy("p", "b-validation")).is(t, http.StatusOK)
		s.prune(t).is(t, http.StatusOK)
		(<-answers).is(t, http.StatusGone)
	})
	t.Run("not at all", func(t *testing.T) {
		t.Parallel()
		s := start(t)
		s.put(t, "b", policy("p", "a-validation")).is(t, http.StatusOK)
		at := func(path string, status int) {
			t.Helper()
			a := s.get(t, path).is(t, status)
			if waited := a.got.Get("Purser-Waited"); waited != "0.0" {
				t.Errorf("%s: waited %q", path, waited)
			}
		}
		at("revisions/1/status?expect=success&wait=0s", http.StatusPreconditionFailed)
		at("revisions/1/status?wait=9m", http.StatusOK)
		at("revisions/1?wait=9m", http.StatusOK)
		s.report(t, 1, "a-validation", "failure")
		at("revisions/1"+path, http.StatusPreconditionFailed) // it can no longer become a success
		s.report(t, 1, "a-validation", "success")
		at("revisions/1"+path, http.StatusOK)
		s.put(t, "broken", sizes()+policy("q", own)+widget("w", "{size: 1000}")).is(t, http.StatusOK)
		at("revisions/2"+path, http.StatusPreconditionFailed)
		for _, wait := range []string{"11m", "PT11M", "P1D", "x", "", "-1s", "9999999h", "P99999999Y"} {
			s.send(t, request{method: "GET", path: "revisions/1?wait=" + wait, bad: true}).fails(t, http.StatusBadRequest, "HTTPInvalidParam", "wait")
		}
	})
	t.Run("until the time is over", func(t *testing.T) {
		t.Parallel()
		s := start(t)
		s.put(t, "b", policy("p", "a-validation")).is(t, http.StatusOK)
		a := s.get(t, "revisions/1/status?expect=success&wait=1s", text...).is(t, http.StatusPreconditionFailed)
		// The header does not include the time before the server knows that the request has to wait.
		if waited := a.got.Get("Purser-Waited"); waited == "0.0" || !strings.Contains(a.text, "missing") {
			t.Errorf("waited %q:\n%s", waited, a.text)
		}
	})
}

// Requests can wait for a change of any resource with an ETag.
func TestWait_etag(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.put(t, "b", policy("p", "a-validation")+widget("w", "{}")).is(t, http.StatusOK)
	for path, change := range map[string]func(n int){
		"revisions":                      func(int) { s.tag(t, 1, "t") },
		"revisions/latest":               func(n int) { s.put(t, "c", widget("c", fmt.Sprintf("{x: %d}", n))) },
		"revisions/latest/documents":     func(n int) { s.put(t, "c", widget("c", fmt.Sprintf("{x: %d}", n))) },
		"revisions/1/tags":               func(n int) { s.tag(t, 1, fmt.Sprintf("t%d", n)) },
		"revisions/1/status":             func(int) { s.report(t, 1, "a-validation", "success") },
		"revisions/1/validations":        func(int) { s.report(t, 1, "b-validation", "failure") },
		"revisions/1/validations/detail": func(int) { s.report(t, 1, "c-validation", "failure") },
	} {
		tag := s.get(t, path, "Accept", "application/json").is(t, http.StatusOK).got.Get("ETag")
		header := []string{"Accept", "application/json", "If-None-Match", tag}
		s.get(t, path+"?wait=50ms", header...).is(t, http.StatusNotModified)
		answers := s.later(t, path+"?wait=10m", header...)
		change(len(path))
		if a := (<-answers).is(t, http.StatusOK); a.got.Get("ETag") == tag {
			t.Errorf("%s has the ETag %s again:\n%s", path, tag, a.text)
		}
	}
}

// An answer also changes when a result of any revision expires, even when several expire one after the other.
func TestWait_expiry(t *testing.T) {
	t.Parallel()
	s := start(t)
	const lasting, short = "{name: a-validation, expiresAfter: PT2S}", "{name: b-validation, expiresAfter: PT1S}"
	s.put(t, "b", policy("p", lasting, short)).is(t, http.StatusOK)
	s.put(t, "c", widget("w", "{}")).is(t, http.StatusOK) // the first revision is not the newest
	for _, revision := range []int{1, 2} {
		s.report(t, revision, "a-validation", "success")
		s.report(t, revision, "b-validation", "success")
	}
	var waits sync.WaitGroup
	for _, path := range []string{"revisions/1/status", "revisions/2/status", "revisions/1", "revisions/1/findings"} {
		waits.Go(func() {
			accept := []string{"Accept", "application/json"}
			a := s.get(t, path, accept...)
			for strings.Count(a.text, `"expired"`) < 2 {
				a = s.get(t, path+"?wait=1m", append(accept, "If-None-Match", a.got.Get("ETag"))...)
				if waited := a.got.Get("Purser-Waited"); a.status != http.StatusOK || len(waited) > len("9.9") {
					t.Errorf("%s: %d after %s seconds", path, a.status, waited)
					return
				}
			}
		})
	}
	waits.Wait()
}

// A reader of the feed waits for events of the requested types.
func TestWait_events(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.put(t, "b", widget("w", "{}")).is(t, http.StatusOK)
	answers := s.later(t, "events?since=now&type=purser.tag.set&wait=10m", "Accept", "application/json")
	s.put(t, "b", widget("w", "{x: 1}")).is(t, http.StatusOK)
	s.tag(t, 1, "t")
	p := (<-answers).page(t)
	if len(p.Events) != 1 || p.Events[0].Type != "purser.tag.set" {
		t.Errorf("%+v", p)
	}
	if p := s.events(t, "wait=50ms&since="+p.Cursor); len(p.Events) > 0 {
		t.Errorf("told again: %v", p)
	}
}

// The number of waiting requests is bounded, and all of them end immediately when the server stops.
func TestWait_bounds(t *testing.T) {
	t.Parallel()
	s := startFresh(t, "--max-waits", "3")
	s.put(t, "b", policy("p", "a-validation")).is(t, http.StatusOK)
	const path = "revisions/1/status?expect=success&wait=10m"
	const soon = "revisions/1/status?expect=success&wait=0s"
	s.get(t, soon, "X-Pad", strings.Repeat("x", 31<<10)).is(t, http.StatusPreconditionFailed)
	for _, large := range []string{soon, "events?wait=0s"} {
		s.get(t, large, "X-Pad", strings.Repeat("x", 32<<10)).fails(t, http.StatusBadRequest, "HTTPBadRequest", "32768 bytes")
	}
	var waits []<-chan answer
	for range 2 {
		waits = append(waits, s.later(t, path))
	}
	for _, path := range []string{path, "events?wait=1s"} { // from the same address
		full := s.get(t, path)
		full.fails(t, http.StatusTooManyRequests, "HTTPTooManyRequests", "--max-waits")
		if full.got.Get("Retry-After") == "" {
			t.Error("no Retry-After where too many wait")
		}
	}
	began := time.Now()
	if err := s.process.Process.Signal(terminate); err != nil {
		t.Fatal(err)
	}
	for _, answers := range waits {
		a := <-answers
		a.fails(t, http.StatusServiceUnavailable, "HTTPServiceUnavailable")
		if a.got.Get("Retry-After") != "1" {
			t.Errorf("Retry-After %q", a.got.Get("Retry-After"))
		}
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("waits ended %v after SIGTERM", took)
	}
}

// A disconnecting client frees its wait.
func TestWait_clientGoesAway(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.put(t, "b", policy("p", "a-validation")).is(t, http.StatusOK)
	conn := s.dial(t)
	if _, err := conn.Write([]byte("GET " + below() + "/api/v1.0/revisions/1/status?expect=success&wait=10m HTTP/1.1\r\nHost: localhost\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it waits", func() bool { return s.waiting(t) == 1 })
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it waits no longer", func() bool { return s.waiting(t) == 0 })
}

// An expiry is reported once, although two servers look for it.
func TestEvents_expiry(t *testing.T) {
	t.Parallel()
	a := startFresh(t)
	b := startOn(t, a.database)
	a.put(t, "b", policy("p", "{name: a-validation, expiresAfter: PT1S}")).is(t, http.StatusOK)
	since := a.now(t)
	waits := []<-chan answer{
		a.later(t, "events?type=purser.verdict.changed&wait=1m&since="+since, "Accept", "application/json"),
	}
	a.report(t, 1, "a-validation", "success")
	cursor := (<-waits[0]).page(t).Cursor
	var expired sync.WaitGroup
	for _, s := range []*server{a, b} {
		answers := s.later(t, "events?type=purser.verdict.changed&wait=1m&since="+cursor, "Accept", "application/json")
		expired.Go(func() {
			got := (<-answers).page(t).Events
			if len(got) != 1 || got[0].Data["to"] != "failure" || fmt.Sprint(got[0].Data["because"]) != "[a-validation: expired (policy p)]" {
				t.Errorf("told: %v", got)
			}
		})
	}
	expired.Wait()
	if all := b.events(t, "type=purser.verdict.changed&wait=500ms&since="+since).Events; len(all) != 2 {
		t.Errorf("told in all: %v", all)
	}
}

// Like the reference, --compat=deckhand ignores the parameter wait, whatever its value, except on routes that the
// reference lacks.
func TestWait_compat(t *testing.T) {
	t.Parallel()
	s := start(t, "--compat=deckhand")
	s.put(t, "b", layers("site")+policy("p", "a-validation")+widget("w", "{}")).is(t, http.StatusOK)
	s.tag(t, 1, "t")
	for _, path := range []string{
		"revisions", "revisions/1", "revisions/latest", "revisions/1/documents", "revisions/1/rendered-documents",
		"revisions/1/validations", "revisions/1/validations/detail", "revisions/1/tags", "revisions/1/tags/t", "revisions/1/diff/0",
	} {
		want := s.get(t, path).is(t, http.StatusOK)
		tag := want.got.Get("ETag")
		for _, wait := range []string{"10m", "nonsense", "11m", ""} {
			got := s.send(t, request{method: "GET", path: path + "?wait=" + wait, bad: true}).is(t, http.StatusOK)
			if got.text != want.text || got.got.Get("ETag") != tag || got.got.Get("Purser-Waited") != "" {
				t.Errorf("%s with wait=%s: %v\n%s\nwant\n%s", path, wait, got.got, got.text, want.text)
			}
			header := map[string]string{"If-None-Match": tag}
			s.send(t, request{method: "GET", path: path + "?wait=" + wait, header: header, bad: true}).is(t, http.StatusNotModified)
		}
	}
	verdict := s.later(t, "revisions/latest/status?expect=success&wait=10m")
	s.report(t, 1, "a-validation", "success")
	(<-verdict).is(t, http.StatusOK)
	tagged := s.later(t, "events?since=now&wait=10m", "Accept", "application/json")
	s.tag(t, 1, "u")
	if p := (<-tagged).page(t); len(p.Events) != 1 {
		t.Errorf("told: %v", p)
	}
}
