package api_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"purser/api"
	"purser/internal/authn"
	"purser/internal/feed"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/sites"
	"purser/internal/store"
)

// users accepts the name of a user as its token until expired is set.
type users struct{ expired atomic.Bool }

// Authenticate implements authn.Authenticator.
func (u *users) Authenticate(_ context.Context, token string) (authn.Caller, error) {
	if u.expired.Load() {
		return authn.Caller{}, &authn.Rejected{Reason: "expired"}
	}
	return authn.Caller{UserID: token, Roles: []string{"admin"}}, nil
}

// withUsers makes users the authenticator.
func withUsers(u *users) func(*api.Config) {
	return func(c *api.Config) { c.Access.Authenticator, c.Access.Anonymous = u, false }
}

// waiting makes n waiting requests concurrently and returns when n places are taken; answers returns their answers.
func (s site) waiting(t *testing.T, told feed.Site, n int, path string, header ...string) (answers func() []response) {
	t.Helper()
	all := make([]response, n)
	var done sync.WaitGroup
	before := told.Waiting()
	for i := range n {
		done.Go(func() { all[i] = s.get(t, path, header...) })
	}
	for told.Waiting() < before+n {
		if t.Context().Err() != nil {
			t.Fatal("the requests do not wait")
		}
		time.Sleep(time.Millisecond)
	}
	return func() []response {
		done.Wait()
		return all
	}
}

// A user may have no more places than remain free, so that others can still wait and stream.
func TestWait_places(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	var told feed.Site
	s := newSite(t, withUsers(new(users)), func(c *api.Config) {
		config := c.Feed.Config
		config.MaxWaits = 7
		c.Feed, c.Stopping = feed.New(config).Of(sites.Default), stop
		told = c.Feed
	})
	const wait, stream, user = "events?since=now&wait=10m", "text/event-stream", "X-Auth-Token"
	greedy := s.waiting(t, told, 3, wait, user, "greedy")
	open := s.waiting(t, told, 1, "events?since=now", user, "greedy", "Accept", stream)
	for _, header := range [][]string{{"Accept", stream}, {"Accept", "application/json"}} {
		refused := s.get(t, wait, append(header, user, "greedy")...)
		refused.is(t, http.StatusTooManyRequests)
		if refused.Header.Get("Retry-After") == "" {
			t.Error("no Retry-After where a user has its share")
		}
	}
	modest := s.waiting(t, told, 2, wait, user, "modest")
	s.get(t, wait, user, "modest").is(t, http.StatusTooManyRequests)
	last := s.waiting(t, told, 1, wait, user, "late")
	s.get(t, wait, user, "later").is(t, http.StatusServiceUnavailable)
	close(stop)
	for _, answers := range []func() []response{greedy, modest, last} {
		for _, a := range answers() {
			a.is(t, http.StatusServiceUnavailable)
		}
	}
	open()
	if n := told.Waiting(); n != 0 {
		t.Errorf("%d places are taken after all have left", n)
	}
	s.get(t, "events?since=now&wait=0s", user, "greedy").is(t, http.StatusOK)
	var errors int
	for _, line := range s.lines(t) {
		if line["level"] == "ERROR" {
			errors++
		}
	}
	if errors != 1 {
		t.Errorf("%d lines of level ERROR, want 1, about the one that found no place", errors)
	}
}

// Waiting requests share a large answer.
func TestWait_large(t *testing.T) {
	t.Parallel()
	var told feed.Site
	s := newSite(t, func(c *api.Config) { told = c.Feed })
	s.put(t, "b", widget("w", "{}")).is(t, http.StatusOK)
	const path = "revisions/latest/documents"
	tag := s.get(t, path).is(t, http.StatusOK).Header.Get("ETag")
	answers := s.waiting(t, told, 20, path+"?wait=10m", "If-None-Match", tag)
	large := strings.Replace(widget("large", "{}"), "data: {}", "data: {text: "+strings.Repeat("x", 1<<20)+"}", 1)
	s.put(t, "c", large).is(t, http.StatusOK)
	want := s.get(t, path).is(t, http.StatusOK)
	for _, a := range answers() {
		if a.is(t, http.StatusOK); a.text != want.text || a.Header.Get("ETag") != want.Header.Get("ETag") {
			t.Errorf("%d bytes %v, want %d %v", len(a.text), a.Header, len(want.text), want.Header)
		}
	}
}

// A waiting request gets no answer that was read before it arrived, which might be older than its client's own result.
func TestWait_late(t *testing.T) {
	t.Parallel()
	var told feed.Site
	slow := slowStore{read: make(chan struct{}), release: make(chan struct{})}
	s := schemasSite(t, func(c *api.Config) {
		slow.Store = c.Service.Store.(*store.Store)
		c.Queries, told = queries.NewService(queries.Config{Store: &slow, DefaultValidations: revisions.Defaults{}}), c.Feed
	})
	s.put(t, "b", widget("w", "{}")).is(t, http.StatusOK)
	s.report(t, 1, "a-validation", "failure")
	const path = "revisions/1/status?wait=10m"
	header := []string{"Accept", "text/plain", "If-None-Match", `"another"`}
	early := s.waiting(t, told, 1, path, header...)
	<-slow.read
	s.report(t, 1, "a-validation", "success")
	late := s.waiting(t, told, 3, path, header...)
	close(slow.release)
	for want, answers := range map[string]func() []response{"failure": early, "success": late} {
		for _, a := range answers() {
			if status, _, _ := strings.Cut(a.is(t, http.StatusOK).text, "\n"); status != want {
				t.Errorf("told of a %s, want a %s", status, want)
			}
		}
	}
}

// slowStore delays its first answer after reading it.
type slowStore struct {
	*store.Store

	once          sync.Once
	read, release chan struct{}
}

// EvidenceOf implements queries.Store.
func (s *slowStore) EvidenceOf(ctx context.Context, name queries.Name) (queries.Evidence, error) {
	evidence, err := s.Store.EvidenceOf(ctx, name)
	s.once.Do(func() {
		close(s.read)
		<-s.release
	})
	return evidence, err
}

// A wait ends when its caller may no longer make the request.
func TestWait_expires(t *testing.T) {
	t.Parallel()
	u := new(users)
	var told feed.Site
	s := newSite(t, withUsers(u), func(c *api.Config) { told = c.Feed })
	answers := s.waiting(t, told, 2, "events?since=now&wait=10m", "X-Auth-Token", "u")
	s.put(t, "b", widget("w", "{}"), "X-Auth-Token", "u").is(t, http.StatusOK)
	u.expired.Store(true)
	for _, a := range answers() {
		if a.StatusCode == http.StatusOK { // it was answered before
			continue
		}
		a.is(t, http.StatusUnauthorized)
	}
}

// A stream ends when the token of its caller expires or the server stops, even if it has not caught up.
func TestStream_backlog(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*users, chan struct{}){
		"the token expires": func(u *users, _ chan struct{}) { u.expired.Store(true) },
		"the server stops":  func(_ *users, stop chan struct{}) { close(stop) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u, stop := new(users), make(chan struct{})
			s := newSite(t, withUsers(u), func(c *api.Config) { c.Stopping = stop })
			const events = 350
			s.put(t, "b", widget("w", "{}"), "X-Auth-Token", "u").is(t, http.StatusOK)
			for i := range events {
				s.do(t, http.MethodPost, fmt.Sprintf("revisions/1/tags/t%d", i), "", "X-Auth-Token", "u").is(t, http.StatusCreated)
			}
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1.0/events", nil)
			r.Header.Set("Accept", "text/event-stream")
			r.Header.Set("X-Auth-Token", "u")
			reader := &slowReader{ResponseRecorder: httptest.NewRecorder(), first: func() { end(u, stop) }}
			s.ServeHTTP(reader, r)
			if n := strings.Count(reader.Body.String(), "\nid: "); n > 100 {
				t.Errorf("%d events were sent after the end", n)
			}
		})
	}
}

// slowReader calls first when it receives the first events.
type slowReader struct {
	*httptest.ResponseRecorder

	first func()
	once  sync.Once
}

// Write implements http.ResponseWriter.
func (r *slowReader) Write(text []byte) (int, error) {
	if strings.HasPrefix(string(text), "id: ") {
		r.once.Do(r.first)
	}
	return r.ResponseRecorder.Write(text)
}
