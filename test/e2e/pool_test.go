package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"purser/internal/store/storetest"
)

// pool holds the idle servers. Starting one, with its database and connections, takes longer than most tests.
type pool struct {
	mutex   sync.Mutex
	servers []*server
}

// idle is the pool of servers without flags.
var idle pool

func (p *pool) take() *server {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if len(p.servers) == 0 {
		return nil
	}
	last := len(p.servers) - 1
	s := p.servers[last]
	p.servers = p.servers[:last]
	return s
}

func (p *pool) put(s *server) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.servers = append(p.servers, s)
}

// close stops the servers. Each of them must exit normally.
func (p *pool) close() error {
	var failed []error
	for s := p.take(); s != nil; s = p.take() {
		if err := s.halt(); err != nil {
			failed = append(failed, fmt.Errorf("%w; it logged:\n%s", err, s.log.text()))
		}
	}
	return errors.Join(failed...)
}

// borrow lends a server to a test. It empties the server and returns it to the pool if the test passes.
func borrow(t *testing.T) *server {
	t.Helper()
	s := idle.take()
	if s == nil {
		s = startLasting(t)
	}
	s.log.forget()
	t.Cleanup(func() {
		if err := s.empty(); err != nil {
			t.Errorf("empty the site after the test: %v", err)
		}
		if t.Failed() {
			s.stop(t)
			return
		}
		idle.put(s)
	})
	return s
}

// empty deletes all revisions, so that the next one is 1 again.
func (s *server) empty() error {
	got, err := s.try(context.Background(), request{method: http.MethodDelete, path: "revisions"})
	if err == nil && got.status != http.StatusNoContent {
		err = fmt.Errorf("status %d: %s", got.status, brief(got.text))
	}
	return err
}

// startLasting starts a server that outlives the test.
func startLasting(t *testing.T) *server {
	t.Helper()
	database, err := storetest.Lasting()
	if err != nil {
		t.Fatal(err)
	}
	s := launch(t, program, patientClient(), database)
	s.ready(t)
	return s
}

// A returned server is as empty as a new one when the next test gets it.
func TestPool(t *testing.T) {
	t.Parallel()
	s := startFresh(t)
	s.put(t, "b", widget("w", "{}")).isNames(t, "w@1")
	s.report(t, 1, "b-validation", "success")
	if err := s.empty(); err != nil {
		t.Fatal(err)
	}
	s.get(t, "revisions/latest").is(t, http.StatusNotFound)
	s.put(t, "c", widget("w", "{}")).isNames(t, "w@1")
	if text := s.get(t, "revisions/1/validations").text; strings.Contains(text, "b-validation") {
		t.Errorf("a result from before is still there:\n%s", text)
	}
}
