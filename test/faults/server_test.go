//go:build linux

package faults_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// server is a Purser server on a port of the loopback interface.
type server struct {
	program string
	args    []string
	url     string
	*process
}

// raceExit is the exit code of a program that the race detector ended.
const raceExit = 66

// newServer returns a server that is not started yet.
func newServer(t *testing.T, program, tokens, database string, flags ...string) *server {
	t.Helper()
	address := fmt.Sprintf("127.0.0.1:%d", freePort(t))
	return &server{program: program, url: "http://" + address, args: append([]string{
		"serve", "--listen", address, "--database-url", database, "--auth", "tokens", "--tokens-file", tokens,
		"--request-rate", "0", "--site-changes", "0", "--user-ingests", "1000", "--log-level", "warn",
	}, flags...)}
}

func (s *server) start(t *testing.T) {
	t.Helper()
	cmd := exec.Command(s.program, s.args...)
	cmd.Env = append(os.Environ(), fmt.Sprintf("GORACE=halt_on_error=1 atexit_sleep_ms=0 exitcode=%d", raceExit))
	s.process = run(t, cmd, syscall.SIGKILL)
}

// crash ends the server with SIGKILL.
func (s *server) crash(t *testing.T) {
	t.Helper()
	s.kill()
	s.unraced(t)
}

func (s *server) unraced(t *testing.T) {
	t.Helper()
	if s.ProcessState.ExitCode() == raceExit {
		t.Errorf("the server had a data race:\n%s", s.said)
	}
}

// stop ends the server as an operator does.
func (s *server) stop(t *testing.T) {
	t.Helper()
	s.signal(syscall.SIGTERM)
	eventually(t, "the server ends", func() bool { return !s.running() })
	if s.unraced(t); !s.ProcessState.Success() {
		t.Errorf("the server ended with %v\n%s", s.ProcessState, s.said)
	}
}

// isReady reports whether /readyz says that the server is ready. It must answer within 5 seconds in any case.
func (s *server) isReady(t *testing.T) bool {
	t.Helper()
	const limit = 5 * time.Second
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/readyz", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	got, err := http.DefaultClient.Do(request)
	if err != nil {
		if ctx.Err() != nil {
			t.Errorf("/readyz does not answer within %v", limit)
		}
		return false
	}
	got.Body.Close()
	return got.StatusCode == http.StatusOK
}

// ready waits until the server can be used, and returns how long that took.
func (s *server) ready(t *testing.T) time.Duration {
	t.Helper()
	return eventually(t, "the server is ready", func() bool {
		if !s.running() {
			t.Fatalf("the server has ended: %v\n%s", s.ProcessState, s.said)
		}
		return s.isReady(t)
	})
}

// makeToken creates a tokens file with one token.
func makeToken(t *testing.T, program string) (file, token string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "tokens.yaml")
	out, err := exec.Command(program, "token", "new", "--tokens-file", file, "--user", "anna", "--role", "admin",
		"--expires", "1d").Output()
	if err != nil {
		t.Fatalf("make a token: %v", err)
	}
	return file, strings.TrimSpace(string(out))
}
