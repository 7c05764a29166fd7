package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"purser"
	"purser/internal/store/storetest"
	"purser/test/contract"
)

// patience bounds all waits. Only a hanging server exceeds it, however busy the machine is.
const patience = 2 * time.Minute

// server is a running server that only one test uses.
type server struct {
	url      string // of the site that is tested
	root     string // of the server
	database string
	process  *exec.Cmd
	client   *http.Client
	log      *logs
	ended    chan struct{} // closed when the process ends
	unit     time.Duration // cost of a plain request, once measured
}

// startFresh runs a new server, for tests that depend on its first requests or leave requests behind, and for flags that
// no other test has.
func startFresh(t *testing.T, flags ...string) *server {
	t.Helper()
	return startOn(t, storetest.URL(t), flags...)
}

func startOn(t *testing.T, database string, flags ...string) *server {
	t.Helper()
	return startFor(t, patientClient(), database, flags...)
}

// startFor runs a server that is used through the test's own client.
func startFor(t *testing.T, client *http.Client, database string, flags ...string) *server {
	t.Helper()
	return startAs(t, program, client, database, flags...)
}

// startLean runs a server without the race detector, for tests that measure its memory or its processor time.
func startLean(t *testing.T, flags ...string) *server {
	t.Helper()
	return startAs(t, lean, patientClient(), storetest.URL(t), flags...)
}

func startAs(t *testing.T, built func() (string, error), client *http.Client, database string, flags ...string) *server {
	t.Helper()
	s := launch(t, built, client, database, flags...)
	t.Cleanup(func() { s.stop(t) })
	s.ready(t)
	return s
}

func patientClient() *http.Client {
	transport := &http.Transport{DisableCompression: true, ExpectContinueTimeout: patience}
	return &http.Client{Transport: transport, Timeout: patience}
}

// launch starts a server on a database.
func launch(t *testing.T, built func() (string, error), client *http.Client, database string, flags ...string) *server {
	t.Helper()
	s := begin(t, built, client, append([]string{
		"serve", "--listen", "127.0.0.1:0", "--log-format", "json", "--database-url", database,
	}, flags...)...)
	s.database = database
	return s
}

// begin runs a command of the server program that serves.
func begin(t *testing.T, built func() (string, error), client *http.Client, args ...string) *server {
	t.Helper()
	return beginWith(t, nil, built, client, args...)
}

// beginWith is begin with additional environment variables.
func beginWith(t *testing.T, environment []string, built func() (string, error), client *http.Client, args ...string,
) *server {
	t.Helper()
	skipBelow(t, args)
	s, err := spawn(environment, built, client, args...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func spawn(environment []string, built func() (string, error), client *http.Client, args ...string) (*server, error) {
	path, err := built()
	if err != nil {
		return nil, err
	}
	s := &server{
		process: invoke(context.Background(), path, args...), client: client,
		log: &logs{serving: make(chan string, 1)}, ended: make(chan struct{}),
	}
	s.process.Stderr, s.process.SysProcAttr = s.log, withParent()
	s.process.Env = append(s.process.Env, environment...)
	started := make(chan error)
	go s.run(started)
	return s, <-started
}

// run starts the process and waits for its end in one thread, which the kernel considers its parent.
func (s *server) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := s.process.Start()
	started <- err
	if err == nil {
		_ = s.process.Wait() // the result is in ProcessState
		close(s.ended)
	}
}

// ready waits until the server answers.
func (s *server) ready(t *testing.T) {
	t.Helper()
	if err := s.await(); err != nil {
		t.Fatal(err)
	}
	s.url = s.root + below()
	s.makeSite(t)
	s.get(t, "/readyz").is(t, http.StatusOK)
}

// await waits until the server says where it serves.
func (s *server) await() error {
	select {
	case s.root = <-s.log.serving:
		s.url = s.root
		return nil
	case <-s.ended:
		return fmt.Errorf("the server does not start: %v\n%s", s.process.ProcessState, s.log.text())
	case <-time.After(patience):
		return errors.New("the server does not say that it serves")
	}
}

// refusesToStart runs the server with flags that make it exit immediately, and returns its output.
func refusesToStart(t *testing.T, flags ...string) string {
	t.Helper()
	out, code := runProgram(t, append([]string{"serve", "--listen", "127.0.0.1:0", "--database-url", "postgres://"}, flags...)...)
	if code == 0 {
		t.Errorf("the server starts with %q", flags)
	}
	return out
}

// runProgram runs a command of the server program to its end and returns its output and exit code.
func runProgram(t *testing.T, args ...string) (out string, code int) {
	t.Helper()
	out, err := command(t, args...)
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return out, failed.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out, 0
}

// stop stops the server as an operator would. It must drain and exit with 0.
func (s *server) stop(t *testing.T) {
	t.Helper()
	if err := s.halt(); err != nil {
		t.Error(err)
	}
	if t.Failed() {
		t.Logf("what the server logged:\n%s", s.log.text())
	}
}

// halt stops the server and returns an error if it did not exit normally.
func (s *server) halt() error {
	s.client.CloseIdleConnections()
	_ = s.process.Process.Signal(syscall.SIGTERM)
	hung := time.AfterFunc(patience, func() { _ = s.process.Process.Kill() })
	defer hung.Stop()
	<-s.ended
	if state := s.process.ProcessState; !state.Success() {
		return fmt.Errorf("the server ended on SIGTERM with %v, want exit code 0", state)
	}
	return nil
}

// eventually waits until so returns true. It asks less and less often, since most ask the server.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	const most = 200 * time.Millisecond
	end := time.Now().Add(patience)
	for pause := 5 * time.Millisecond; !so(); pause = min(2*pause, most) {
		if time.Now().After(end) {
			t.Fatalf("still not so after %v: %s", patience, what)
		}
		time.Sleep(pause)
	}
}

func TestContract_isServed(t *testing.T) {
	t.Parallel()
	s := start(t)
	got := s.get(t, "/openapi.yaml").is(t, http.StatusOK)
	if !bytes.Equal(purser.OpenAPI, []byte(got.text)) {
		t.Error("the server serves another text than openapi.yaml")
	}
	var written, served any
	if err := yaml.Unmarshal(purser.OpenAPI, &written); err != nil {
		t.Fatal(err)
	}
	written, err := contract.Plain(written)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(s.get(t, "/openapi.json").is(t, http.StatusOK).text), &served); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(written, served); diff != "" {
		t.Errorf("as JSON (-openapi.yaml +served):\n%s", diff)
	}
	page := s.get(t, "/docs").is(t, http.StatusOK)
	if policy := page.got.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") {
		t.Errorf("the page has the policy %q", policy)
	}
}

// logs keeps the log of a server, and waits for the line with its address.
type logs struct {
	mutex   sync.Mutex
	lines   bytes.Buffer
	read    int // offset up to which the lines were examined
	forgot  int // offset up to which text leaves lines out
	serving chan string
}

// Write implements io.Writer.
func (l *logs) Write(text []byte) (int, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.lines.Write(text)
	for {
		line, _, whole := bytes.Cut(l.lines.Bytes()[l.read:], []byte("\n"))
		if !whole {
			return len(text), nil
		}
		l.read += len(line) + 1
		var entry struct {
			Msg string `json:"msg"`
			URL string `json:"url"`
		}
		if json.Unmarshal(line, &entry) == nil && entry.Msg == "serving" {
			l.serving <- entry.URL
		}
	}
}

func (l *logs) text() string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return string(l.lines.Bytes()[l.forgot:])
}

// forget makes text omit the log so far.
func (l *logs) forget() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.forgot = l.read
}
