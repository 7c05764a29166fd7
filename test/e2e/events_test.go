package e2e_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// received is an event as a reader receives it.
type received struct {
	ID      string         `json:"id"`
	Type    string         `json:"type"`
	Subject string         `json:"subject"`
	Data    map[string]any `json:"data"`
}

func (e received) String() string {
	text, err := json.Marshal(e.Data)
	if err != nil {
		return err.Error() // cannot happen: it was decoded from JSON
	}
	return strings.TrimPrefix(e.Type, "purser.") + " " + e.Subject + " " + string(text)
}

// page is a page of the feed.
type page struct {
	Cursor string     `json:"cursor"`
	Events []received `json:"events"`
}

// page decodes a page of the feed.
func (a answer) page(t *testing.T) (p page) {
	t.Helper()
	if err := json.Unmarshal([]byte(a.is(t, http.StatusOK).text), &p); err != nil {
		t.Fatalf("%v\n%s", err, a.text)
	}
	return p
}

func (s *server) events(t *testing.T, query string) page {
	t.Helper()
	return s.get(t, "events?"+query, "Accept", "application/json").page(t)
}

// now returns the cursor of the newest event.
func (s *server) now(t *testing.T) string {
	t.Helper()
	return s.events(t, "since=now").Cursor
}

func lines(events []received) (list []string) {
	for _, e := range events {
		for _, key := range []string{"stamp", "chain", "epoch"} { // these differ between runs
			if e.Data[key] != nil {
				e.Data[key] = "?"
			}
		}
		list = append(list, e.String())
	}
	return list
}

// All changes of a site, including changes of verdicts, produce events in order.
//
//nolint:paralleltest,tparallel // one after the other
func TestEvents(t *testing.T) {
	t.Parallel()
	s := start(t)
	since := s.now(t)
	s.put(t, "policies", policy("p", "a-validation")).is(t, http.StatusOK)
	s.put(t, "site", widget("w", "{}")+widget("v", "{}")).is(t, http.StatusOK)
	s.put(t, "site", widget("w", "{x: 1}")).is(t, http.StatusOK)
	s.put(t, "site", widget("w", "{x: 1}")).is(t, http.StatusOK) // changes nothing
	s.report(t, 3, "a-validation", "success")
	s.report(t, 3, "a-validation", "success")
	s.tag(t, 2, "good%2Fone")
	s.tag(t, 2, "two")
	s.report(t, 2, "a-validation", "failure")
	s.report(t, 1, "a-validation", "success") // the revision is neither the newest nor tagged
	got := lines(s.events(t, "since="+since).Events)
	s.send(t, request{method: http.MethodDelete, path: "revisions/2/tags/two"}).is(t, http.StatusNoContent)
	s.send(t, request{method: http.MethodDelete, path: "revisions/2/tags"}).is(t, http.StatusNoContent)
	s.rollback(t, "2").is(t, http.StatusCreated)
	s.prune(t).is(t, http.StatusOK)
	s.prune(t).is(t, http.StatusOK) // deletes nothing
	s.purge(t)
	all := s.events(t, "since="+since)
	const made = ` {"added":%d,"buckets":["%s"],"chain":"?","kind":"%s","message":"","modified":%d,"removed":%d,"revision":%d,"stamp":"?","status":"%s","user":""}`
	const result = `validation.posted revisions/%[1]d/validations/a-validation {"name":"a-validation","revision":%[1]d,"status":"%[2]s",` +
		`"validator":{"name":"tester","version":"1"}}`
	want := []string{
		"revision.created revisions/1" + fmt.Sprintf(made, 1, "policies", "put", 0, 0, 1, "failure"),
		"revision.created revisions/2" + fmt.Sprintf(made, 2, "site", "put", 0, 0, 2, "failure"),
		"revision.created revisions/3" + fmt.Sprintf(made, 1, "site", "put", 1, 2, 3, "failure"),
		fmt.Sprintf(result, 3, "success"),
		fmt.Sprintf(result, 3, "success"),
		`tag.set revisions/2/tags/good/one {"revision":2,"tag":"good/one"}`,
		`tag.set revisions/2/tags/two {"revision":2,"tag":"two"}`,
		fmt.Sprintf(result, 2, "failure"),
		fmt.Sprintf(result, 1, "success"),
		`verdict.changed revisions/3 {"because":[],"from":"failure","revision":3,"stamp":"?","to":"success"}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
	want = append(want,
		`tag.deleted revisions/2/tags/two {"revision":2,"tag":"two"}`,
		`tag.deleted revisions/2/tags/good/one {"revision":2,"tag":"good/one"}`,
		"revision.created revisions/4"+fmt.Sprintf(made, 2, "site", "rollback", 1, 1, 4, "failure"),
		`revision.pruned revisions {"kept":1,"revisions":[{"first":1,"last":3}]}`,
		`site.purged revisions {"epoch":"?"}`,
	)
	if diff := cmp.Diff(want, lines(all.Events)); diff != "" {
		t.Errorf("told in the end (-want +got):\n%s", diff)
	}
	first, _ := strconv.Atoi(since)
	for i, e := range all.Events {
		if e.ID != strconv.Itoa(first+i+1) {
			t.Errorf("event %d has the id %s after %s", i, e.ID, since)
		}
	}
	t.Run("by type", func(t *testing.T) {
		some := s.events(t, "since="+since+"&type=purser.site.purged&type=purser.revision.pruned")
		if len(some.Events) != 2 || some.Cursor != all.Cursor {
			t.Errorf("%+v", some)
		}
		s.send(t, request{method: "GET", path: "events?type=purser.tag.sat", bad: true}).
			fails(t, http.StatusBadRequest, "HTTPInvalidParam", "purser.tag.set")
	})
	t.Run("by page", func(t *testing.T) {
		var paged []string
		for cursor := since; ; {
			p := s.events(t, "limit=4&since="+cursor)
			if len(p.Events) == 0 {
				break
			}
			cursor, paged = p.Cursor, append(paged, lines(p.Events)...)
		}
		if diff := cmp.Diff(want, paged); diff != "" {
			t.Errorf("pages of 4 (-want +got):\n%s", diff)
		}
	})
	t.Run("a cursor of the future", func(t *testing.T) {
		for _, since := range []string{"999999999", "9223372036854775807"} {
			s.get(t, "events?since="+since).fails(t, http.StatusGone, "EventsForgotten", "restored", "/revisions")
		}
		for _, since := range []string{"x", "-1", "99999999999999999999"} {
			s.send(t, request{method: "GET", path: "events?since=" + since, bad: true}).fails(t, http.StatusBadRequest, "HTTPInvalidParam")
		}
	})
}

// Old events are deleted, except the newest. A request for the events after a deleted one fails with an error that says
// where to continue.
func TestEvents_areForgotten(t *testing.T) {
	t.Parallel()
	s := startFresh(t)
	s.put(t, "b", widget("w", "{}")).is(t, http.StatusOK)
	s.exec(t, `INSERT INTO events (site, number, at, type, subject, data)
		SELECT 'default', n, now() - interval '8 days', 'purser.tag.set', 's', '{"revision": 1, "tag": "t"}' FROM generate_series(1, 12500) n`)
	s.exec(t, `UPDATE feeds SET newest = 12500`)
	s.exec(t, `UPDATE events SET at = now() WHERE number = 1100`) // the times of events need not be in order
	last := s.events(t, "since=12500&limit=1000")
	if got := lines(last.Events); len(got) != 1 || last.Cursor != "12501" {
		t.Fatalf("after 12500: %q", got)
	}
	forget := func() { // the server does so once a minute
		s.exec(t, `UPDATE feeds SET oldest = 1100; DELETE FROM events WHERE number < 1100`)
	}
	forget()
	s.get(t, "events?since=1098").fails(t, http.StatusGone, "EventsForgotten", "1100", "since=0")
	for _, since := range []string{"0", "1099"} {
		if p := s.events(t, "limit=1&since="+since); len(p.Events) != 1 || p.Events[0].ID != "1100" {
			t.Errorf("since %s: %+v", since, p)
		}
	}
}

// Events reveal nothing about encrypted documents to callers who may not list them.
func TestEvents_secrets(t *testing.T) {
	t.Parallel()
	k := newKeys(t, "admin", "plain")
	s := k.startWith(t, "'purser:list_events': role:admin or role:plain\n", "--secrets-keyset", newKeyset(t))
	send := func(method, path, body string) {
		t.Helper()
		if got := s.send(t, request{method: method, path: path, body: body, header: k.as("admin")}); got.status >= 300 {
			t.Fatalf("%s %s: %d\n%s", method, path, got.status, got.text)
		}
	}
	site := layers("site") + widget("w", "{size: 1}")
	send("PUT", "buckets/b/documents", site+passphrase("hidden-name", "sesame")+passphrase("other", "sesame"))
	send("PUT", "buckets/b/documents", site+passphrase("hidden-name", "hunter2"))
	send("PUT", "buckets/taking/documents", sizes()+policy("p", own, "deckhand-rendering-validation")+
		docWith("acme/Widget/v1", "taker", "{size: 1}", substitutes("{src: {schema: deckhand/Passphrase/v1, name: hidden-name, path: .}, dest: {path: .size}}")))
	numbers := map[string][]string{"admin": {"4-0", "1-2", "3-0"}, "plain": {"2-0", "0-0", "3-0"}}
	for user, want := range numbers {
		a := s.send(t, request{method: "GET", path: "events", header: map[string]string{"Accept": "application/json", "Authorization": k.as(user)["Authorization"]}})
		var got []string
		for _, e := range a.page(t).Events {
			if e.Type == "purser.revision.created" {
				got = append(got, fmt.Sprintf("%v-%v", e.Data["added"], e.Data["removed"]))
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("added and removed for %s (-want +got):\n%s", user, diff)
		}
		for _, secret := range []string{"hidden-name", "sesame", "hunter2", "other"} {
			if user == "plain" && strings.Contains(a.text, secret) {
				t.Errorf("%s reads %q:\n%s", user, secret, a.text)
			}
		}
		if streamed := s.streamed(t, "since=0", 3, "Authorization", k.as(user)["Authorization"]); strings.Contains(streamed[0].String(), `"added":4`) != (user == "admin") {
			t.Errorf("streamed to %s: %v", user, streamed)
		}
	}
}

// streamed reads n events of a stream.
func (s *server) streamed(t *testing.T, query string, n int, header ...string) (events []received) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	stream := s.stream(ctx, t, query, header...)
	for len(events) < n {
		e, ok := <-stream
		if !ok {
			t.Fatalf("the stream ends after %d events, want %d", len(events), n)
		}
		events = append(events, e)
	}
	return events
}

// stream opens a stream and sends its events to a channel, which is closed when the stream or ctx ends.
func (s *server) stream(ctx context.Context, t *testing.T, query string, header ...string) <-chan received {
	t.Helper()
	r, err := build(ctx, s.url, request{method: http.MethodGet, path: "events?" + query, header: pairs(append(header, "Accept", "text/event-stream"))})
	if err != nil {
		t.Fatal(err)
	}
	response, err := (&http.Client{Transport: s.client.Transport}).Do(r) //nolint:bodyclose // below
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("a stream: %d %v", response.StatusCode, response.Header)
	}
	events := make(chan received)
	go func() {
		defer close(events)
		defer response.Body.Close()
		var id, kind string
		for scanner := bufio.NewScanner(response.Body); scanner.Scan(); {
			name, value, _ := strings.Cut(scanner.Text(), ": ")
			switch name {
			case "id":
				id = value
			case "event":
				kind = value
			case "data":
				var e received
				if err := json.Unmarshal([]byte(value), &e); err != nil || e.ID != id || e.Type != kind {
					t.Errorf("%s %s: %s", id, kind, value)
					return
				}
				select {
				case events <- e:
				case <-ctx.Done():
					return
				}
			}
		}
	}()
	return events
}

// A stream continues after the last event that the client has read, and includes events that happen while it is open.
func TestEvents_stream(t *testing.T) {
	t.Parallel()
	s := startFresh(t)
	s.put(t, "b", widget("w", "{}")).is(t, http.StatusOK)
	s.tag(t, 1, "t")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream := s.stream(ctx, t, "since=0", "Last-Event-ID", "1")
	if e := <-stream; e.ID != "2" {
		t.Errorf("the stream begins with %v", e)
	}
	only := s.stream(ctx, t, "since=now&type=purser.revision.created")
	s.tag(t, 1, "u")
	s.put(t, "b", widget("w", "{x: 1}")).is(t, http.StatusOK)
	for _, want := range []string{"3", "4"} {
		if e := <-stream; e.ID != want {
			t.Errorf("the stream goes on with %v, want %s", e, want)
		}
	}
	if e := <-only; e.ID != "4" {
		t.Errorf("the stream of new revisions has %v", e)
	}
	began := time.Now()
	if err := s.process.Process.Signal(terminate); err != nil {
		t.Fatal(err)
	}
	for range stream {
		t.Error("there is another event")
	}
	<-s.ended
	if took := time.Since(began); took > drainTime/2 {
		t.Errorf("the server took %v to stop with open streams", took)
	}
}
