// Package e2e_test treats the built server as a black box: each test starts the real program on a database of its own,
// talks to it over HTTP and stops it with SIGTERM, after which it must exit with 0. Every request and every answer is
// held against openapi.yaml; requests that break the contract on purpose say so.
package e2e_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"purser/internal/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// program is the path of the built server. It stays in the user's cache, because nobody is left to remove it after the
// last test; each source tree has one of its own.
var program = sync.OnceValues(func() (string, error) {
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
		return "", fmt.Errorf("make a place for the server: %w", err)
	}
	tree := fnv.New64a()
	_, _ = tree.Write([]byte(root))
	path := filepath.Join(dir, fmt.Sprintf("server-%x", tree.Sum64()))
	fresh := fmt.Sprintf("%s.%d", path, os.Getpid())
	build := exec.CommandContext(context.Background(), "go", "build", "-o", fresh, "purser/cmd/server")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the server: %w\n%s", err, out)
	}
	// Another run of these tests may be using the old one, which stays alive under no name.
	return path, os.Rename(fresh, path)
})
