package files_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"purser/internal/files"
)

func TestCreate(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state", "file")
	if err := files.Create(path, []byte("one")); err != nil {
		t.Fatal(err)
	}
	wantFile(t, path, "one", 0o600)
	err := files.Create(path, []byte("two"))
	if !errors.Is(err, fs.ErrExist) || err.Error() != "write "+path+": file exists" {
		t.Errorf("created again: %v", err)
	}
	wantFile(t, path, "one", 0o600)
}

func TestReplace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ mode, want fs.FileMode }{
		"keeps its mode":       {0o400, 0o400},
		"also an open one":     {0o644, 0o644},
		"a new one is private": {0, 0o600},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "file")
			if c.mode != 0 {
				if err := errors.Join(os.WriteFile(path, []byte("one"), 0o600), os.Chmod(path, c.mode)); err != nil {
					t.Fatal(err)
				}
			}
			if err := files.Replace(path, []byte("two")); err != nil {
				t.Fatal(err)
			}
			wantFile(t, path, "two", c.want)
		})
	}
}

func TestReplace_keepsOwner(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	if err := errors.Join(files.Create(path, nil), os.Chown(path, 12345, 23456)); err != nil {
		t.Skip("only root can give a file away:", err)
	}
	if err := files.Replace(path, []byte("two")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if stat, _ := info.Sys().(*syscall.Stat_t); stat.Uid != 12345 || stat.Gid != 23456 {
		t.Errorf("now it is owned by %d:%d", stat.Uid, stat.Gid)
	}
}

// A failed Replace leaves no temporary file behind.
func TestReplace_fails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if err := os.MkdirAll(filepath.Join(path, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := files.Replace(path, []byte("two")); err == nil {
		t.Error("a directory was replaced")
	}
	if entries, err := os.ReadDir(dir); len(entries) != 1 || err != nil {
		t.Errorf("left over: %v, %v", entries, err)
	}
}

// Concurrent changes under the lock are not lost, even through a symbolic link, which is preserved.
func TestLock(t *testing.T) {
	t.Parallel()
	path, link := filepath.Join(t.TempDir(), "file"), filepath.Join(t.TempDir(), "link")
	if err := errors.Join(files.Create(path, nil), os.Symlink(path, link)); err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	for range 8 {
		for _, name := range []string{path, link} {
			writers.Go(func() {
				target, unlock, err := files.Lock(name)
				if err != nil {
					t.Error(err)
					return
				}
				defer unlock()
				text, err := files.ReadPrivate(target, 100)
				if err := errors.Join(err, files.Replace(target, append(text, 'x'))); err != nil {
					t.Error(err)
				}
			})
		}
	}
	writers.Wait()
	wantFile(t, path, "xxxxxxxxxxxxxxxx", 0o600)
	if target, err := os.Readlink(link); target != path {
		t.Errorf("the link leads to %q, %v", target, err)
	}
}

func wantFile(t *testing.T, path, want string, mode fs.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	text, readErr := os.ReadFile(path)
	if err := errors.Join(err, readErr); err != nil {
		t.Fatal(err)
	}
	if string(text) != want || info.Mode() != mode {
		t.Errorf("the file has %q, mode %v", text, info.Mode())
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); len(entries) != 1 || err != nil {
		t.Errorf("left over: %v, %v", entries, err)
	}
}
