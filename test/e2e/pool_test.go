package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"purser/internal/secrets"
	"purser/internal/store/storetest"
)

// pool holds the idle servers by their flags. Starting one, with its database and connections, takes longer than most
// tests.
type pool struct {
	mutex   sync.Mutex
	servers map[string][]*server
}

var idle = pool{servers: map[string][]*server{}}

// take returns an idle server with the flags, nil if there is none.
func (p *pool) take(flags string) *server {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	all := p.servers[flags]
	if len(all) == 0 {
		return nil
	}
	last := len(all) - 1
	p.servers[flags] = all[:last]
	return all[last]
}

func (p *pool) put(flags string, s *server) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.servers[flags] = append(p.servers[flags], s)
}

// close stops the servers. Each of them must exit normally.
func (p *pool) close() error {
	var failed []error
	for _, servers := range p.servers {
		for _, s := range servers {
			if err := s.halt(); err != nil {
				failed = append(failed, fmt.Errorf("%w; it logged:\n%s", err, s.log.text()))
			}
		}
	}
	return errors.Join(failed...)
}

// start lends a server with these flags to a test. It empties the server and returns it to the pool if the test passes.
func start(t *testing.T, flags ...string) *server {
	t.Helper()
	skipBelow(t, flags)
	kind := strings.Join(flags, " ")
	s := idle.take(kind)
	if s == nil {
		s = startLasting(t, flags...)
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
		idle.put(kind, s)
	})
	return s
}

// lastingKeyset creates a keyset for all tests that only need some keyset.
var lastingKeyset = sync.OnceValues(func() (path string, err error) {
	dir, err := os.MkdirTemp("", "purser-keyset-")
	if err != nil {
		return "", fmt.Errorf("make a place for a keyset: %w", err)
	}
	storetest.AfterTests(func() error { return os.RemoveAll(dir) })
	path = filepath.Join(dir, "keyset.json")
	return path, secrets.Create(path, nil)
})

// startSealed lends a server that stores encrypted documents.
func startSealed(t *testing.T) *server {
	t.Helper()
	keyset, err := lastingKeyset()
	if err != nil {
		t.Fatal(err)
	}
	return start(t, "--secrets-keyset", keyset)
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
func startLasting(t *testing.T, flags ...string) *server {
	t.Helper()
	database, err := storetest.Lasting()
	if err != nil {
		t.Fatal(err)
	}
	s := launch(t, program, patientClient(), database, flags...)
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
