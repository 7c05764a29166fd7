package e2e_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"purser/internal/store/storetest/inmemory"
)

// privateServer is a server on a private Postgres that can be killed and restarted.
type privateServer struct {
	state string
	*server
}

func startPrivate(t *testing.T) *privateServer {
	t.Helper()
	if _, err := program(); err != nil {
		t.Fatal(err)
	}
	// Not t.TempDir(): Postgres, which does not run as root, could not enter the directory that root creates.
	state, err := os.MkdirTemp(inmemory.Dir(), "purser-kill-") //nolint:usetesting // as said
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(state) })
	if err := os.Chmod(state, 0o755); err != nil { // if the test runs as root, Postgres runs as another user
		t.Fatal(err)
	}
	s := &privateServer{state: filepath.Join(state, "state")}
	s.start(t)
	t.Cleanup(func() { s.stop(t) })
	return s
}

func (s *privateServer) start(t *testing.T) {
	t.Helper()
	s.server = begin(t, program, &http.Client{Transport: &http.Transport{}, Timeout: patience},
		"--listen", "127.0.0.1:0", "--log-format", "json", "--state-dir", s.state)
	s.ready(t)
}

// kill kills the server, as a crash would.
func (s *privateServer) kill(t *testing.T) {
	t.Helper()
	_ = s.process.Process.Kill()
	<-s.ended
	if s.process.ProcessState.ExitCode() == raceExit {
		t.Errorf("the server had a data race:\n%s", s.log.text())
	}
	s.client.CloseIdleConnections()
}

// ledger records acknowledged changes: the bucket and the data of each revision.
type ledger struct {
	mutex sync.Mutex
	acked map[int]string
}

func (l *ledger) size() int {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return len(l.acked)
}

// ingest repeatedly PUTs a bucket and records acknowledged changes, until ctx ends or the server does not answer.
func (l *ledger) ingest(ctx context.Context, s *server, bucket string) {
	for ctx.Err() == nil {
		token := strconv.FormatUint(rand.Uint64(), 36)
		a, err := s.try(ctx, request{
			method: http.MethodPut, path: "buckets/" + bucket + "/documents", header: yamlBody(),
			body: widget(bucket, "{token: t"+token+"}"),
		})
		if err != nil {
			return
		}
		if a.status != http.StatusOK {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		_, after, _ := strings.Cut(a.text, "revision: ")
		number, _, _ := strings.Cut(after, "\n")
		revision, err := strconv.Atoi(number)
		if err != nil {
			return
		}
		l.mutex.Lock()
		l.acked[revision] = bucket + " t" + token
		l.mutex.Unlock()
	}
}

// check compares the server's revisions with the acknowledged changes.
func (l *ledger) check(t *testing.T, s *server) {
	t.Helper()
	for i, item := range s.get(t, "revisions").results(t) {
		if revision, _ := item.(map[string]any); revision["id"] != i+1 {
			t.Errorf("revision %v stands at place %d", revision["id"], i+1)
		}
	}
	for revision, written := range l.acked {
		bucket, token, _ := strings.Cut(written, " ")
		text := s.get(t, fmt.Sprintf("revisions/%d/documents", revision)).is(t, http.StatusOK).text
		if !strings.Contains(text, "bucket: "+bucket) || !strings.Contains(text, "token: "+token) {
			t.Errorf("revision %d was acknowledged with %s, but has\n%s", revision, written, text)
		}
	}
}

// Killing the server with SIGKILL during ingests loses no acknowledged change and leaves no gap. A second server on the
// same state directory reports that another one is running.
func TestKill_server(t *testing.T) {
	t.Parallel()
	s := startPrivate(t)
	l := &ledger{acked: map[int]string{}}
	for l.size() < 50 {
		var writers sync.WaitGroup
		for w := range 4 {
			writers.Go(func() { l.ingest(t.Context(), s.server, fmt.Sprintf("bucket-%d", w)) })
		}
		goal := l.size() + 25
		eventually(t, "25 more ingests", func() bool { return l.size() >= goal })
		s.kill(t)
		writers.Wait()
		s.start(t)
	}
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	second := invoke(t.Context(), path, "--listen", "127.0.0.1:0", "--state-dir", s.state)
	out, err := second.CombinedOutput()
	want := fmt.Sprintf("another Purser server (pid %d) uses", s.process.Process.Pid)
	if err == nil || !strings.Contains(string(out), want) {
		t.Errorf("a second server ends with %v and says %q, want %q", err, out, want)
	}
	s.get(t, "revisions").is(t, http.StatusOK)
	l.check(t, s.server)
}

// Killing the private Postgres loses no acknowledged change either: the server restarts it and continues.
func TestKill_postgres(t *testing.T) {
	t.Parallel()
	s := startPrivate(t)
	l := &ledger{acked: map[int]string{}}
	for killed := range 2 {
		ctx, cancel := context.WithCancel(t.Context())
		var writers sync.WaitGroup
		for w := range 2 {
			writers.Go(func() { l.ingest(ctx, s.server, fmt.Sprintf("bucket-%d", w)) })
		}
		goal := l.size() + 10
		eventually(t, "10 more ingests", func() bool { return l.size() >= goal })
		kill(t, filepath.Join(s.state, "postgres", "postmaster.pid"))
		cancel()
		writers.Wait()
		eventually(t, "Postgres is started again", func() bool {
			return strings.Count(s.log.text(), "private Postgres is running") == killed+2
		})
	}
	l.check(t, s.server)
	s.put(t, "last", widget("last", "{}")).is(t, http.StatusOK)
}

// kill sends SIGKILL to the process whose id is in the first line of a file.
func kill(t *testing.T, pidFile string) {
	t.Helper()
	text, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}
