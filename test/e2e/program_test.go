package e2e_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// program returns the path of the server built with the race detector, and lean that of one built without, whose use of
// memory and time is realistic.
var (
	program = sync.OnceValues(func() (string, error) { return buildProgram("purser/cmd/server", "server", "-race") })
	lean    = sync.OnceValues(func() (string, error) { return buildProgram("purser/cmd/server", "lean") })
)

// commandLine returns the path of the command purser. The tests of its package have the race detector, with which each of
// hundreds of runs would take four times as long.
var commandLine = sync.OnceValues(func() (string, error) { return buildProgram("purser/cmd/purser", "purser") })

// buildProgram builds a program as the Makefile does, except for the race detector, in the user's cache. There it stays,
// because nothing runs after the last test that could remove it. Each source tree has its own.
func buildProgram(main, name string, flags ...string) (string, error) {
	root, err := filepath.Abs("../..")
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	dir := filepath.Join(cache, "purser-e2e")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make a place for programs: %w", err)
	}
	tree := fnv.New64a()
	_, _ = tree.Write([]byte(root))
	path := filepath.Join(dir, fmt.Sprintf("%s-%x", name, tree.Sum64()))
	fresh := fmt.Sprintf("%s.%d", path, os.Getpid())
	_ = os.Link(path, fresh) // go build keeps a program that is up to date
	defer func() { _ = os.Remove(fresh) }()
	args := append(append([]string{"build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w"}, flags...), "-o", fresh, main)
	cmd := exec.CommandContext(context.Background(), "go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if slices.Contains(flags, "-race") {
		cmd.Env = append(cmd.Env, "CGO_ENABLED=1")
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", main, err, out)
	}
	// Another run of these tests may be using the old file, which remains valid for it.
	return path, os.Rename(fresh, path)
}

const (
	// raceExit is the exit code of a program that the race detector ended.
	raceExit = 66
	raceText = "WARNING: DATA RACE"
)

// invoke returns a command that runs a built program. A data race ends the program immediately.
func invoke(ctx context.Context, path string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = append(os.Environ(), fmt.Sprintf("GORACE=halt_on_error=1 atexit_sleep_ms=0 exitcode=%d", raceExit))
	return cmd
}

// command runs a command of the server program to its end and returns its output.
func command(t *testing.T, args ...string) (string, error) {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	said, err := invoke(ctx, path, args...).CombinedOutput()
	if strings.Contains(string(said), raceText) {
		t.Errorf("%q has a data race:\n%s", args, said)
	}
	return string(said), err
}
