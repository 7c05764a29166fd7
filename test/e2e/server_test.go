package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os/exec"
	"regexp"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"purser/internal/store/storetest"
)

// patience is how long the server may take to start or stop; a busy machine needs a while.
const patience = 30 * time.Second

// server is a running server that nobody else talks to.
type server struct {
	url      string
	database string
	process  *exec.Cmd
	client   *http.Client
	log      *logs
}

// start runs the server with some flags, on a database of its own, for the time of a test.
func start(t *testing.T, flags ...string) *server {
	t.Helper()
	return startOn(t, storetest.URL(t), flags...)
}

func startOn(t *testing.T, database string, flags ...string) *server {
	t.Helper()
	return startFor(t, &http.Client{Transport: &http.Transport{DisableCompression: true}, Timeout: patience}, database,
		flags...)
}

// startFor runs a server that is talked to by a client of the test's own.
func startFor(t *testing.T, client *http.Client, database string, flags ...string) *server {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	args := append([]string{
		"serve", "--listen", "127.0.0.1:0", "--log-format", "json", "--database-url", database,
	}, flags...)
	s := &server{
		database: database,
		process:  exec.CommandContext(context.WithoutCancel(t.Context()), path, args...),
		client:   client,
		log:      &logs{serving: make(chan string, 1)},
	}
	s.process.Stderr = s.log
	if err := s.process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.stop(t) })
	select {
	case s.url = <-s.log.serving:
	case <-time.After(patience):
		t.Fatal("the server does not say that it serves")
	}
	s.get(t, "/readyz").is(t, http.StatusOK)
	return s
}

// refusesToStart runs the server with flags for which it must end at once, and returns what it says.
func refusesToStart(t *testing.T, flags ...string) string {
	t.Helper()
	out, code := runProgram(t, append([]string{"serve", "--listen", "127.0.0.1:0", "--database-url", "postgres://"}, flags...)...)
	if code == 0 {
		t.Errorf("the server starts with %q", flags)
	}
	return out
}

// runProgram runs a command of the program to its end and returns what it prints, and the exit code.
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

// stop ends the server as an operator does; it must drain and exit with 0.
func (s *server) stop(t *testing.T) {
	t.Helper()
	s.client.CloseIdleConnections()
	_ = s.process.Process.Signal(syscall.SIGTERM)
	hung := time.AfterFunc(patience, func() { _ = s.process.Process.Kill() })
	defer hung.Stop()
	if err := s.process.Wait(); err != nil {
		t.Errorf("the server ended on SIGTERM with %v, want exit code 0", err)
	}
	if t.Failed() {
		t.Logf("what the server logged:\n%s", s.log.text())
	}
}

// eventually waits until something is so.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !so(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("still not so after %v: %s", patience, what)
		}
	}
}

// logs keeps what the server logs and listens for the line that says where it serves.
type logs struct {
	mutex   sync.Mutex
	lines   bytes.Buffer
	read    int // up to where it was listened to
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
	return l.lines.String()
}

var peak = regexp.MustCompile(`(?m)^VmHWM:\s+(\d+) kB$`)

// mostMemory is the most resident memory, in bytes, that the server ever had; 0 where the system does not tell.
func (s *server) mostMemory(t *testing.T) int {
	t.Helper()
	found := peak.FindSubmatch(procFile(s.process.Process.Pid, "status"))
	if found == nil {
		t.Log("this system does not tell how much memory a process has")
		return 0
	}
	kilobytes, err := strconv.Atoi(string(found[1]))
	if err != nil {
		t.Fatal(err)
	}
	return kilobytes << 10
}
