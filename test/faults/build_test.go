//go:build linux

package faults_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// built is the server with the race detector, in a directory that TestMain removes.
var built = sync.OnceValues(func() (string, error) { return build(filepath.Join(programs, "server"), "-race") })

// build builds the server at a path, which it returns.
func build(path string, flags ...string) (string, error) {
	args := append(append([]string{"build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w"}, flags...), "-o", path, "purser/cmd/server")
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if slices.Contains(flags, "-race") {
		cmd.Env = append(cmd.Env, "CGO_ENABLED=1")
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the server: %w\n%s", err, out)
	}
	return path, nil
}

// mutant is a server with a deliberate fault, which the suite must find.
type mutant struct {
	name, file string
	old, now   string // old occurs once in the file, and is replaced with now
}

// build builds the mutant.
func (m mutant) build(t *testing.T) string {
	t.Helper()
	file, err := filepath.Abs(filepath.Join("../..", m.file))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), m.old); n != 1 {
		t.Fatalf("%s has %d times what the mutant %q replaces; adapt the mutant", m.file, n, m.name)
	}
	dir := t.TempDir()
	replaced, overlay := filepath.Join(dir, "replaced.go"), filepath.Join(dir, "overlay.json")
	list, err := json.Marshal(map[string]map[string]string{"Replace": {file: replaced}})
	if err != nil {
		t.Fatal(err)
	}
	for path, content := range map[string]string{
		replaced: strings.Replace(string(text), m.old, m.now, 1), overlay: string(list),
	} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	path, err := build(filepath.Join(dir, "mutant"), "-overlay", overlay)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
