package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// major returns the version that made the cluster, 0 if there is no cluster yet.
func (c *Cluster) major() (int, error) {
	if _, err := os.Lstat(c.data); errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	text, err := os.ReadFile(filepath.Join(c.data, "PG_VERSION"))
	if err != nil {
		return 0, fmt.Errorf("%s is not a Postgres cluster: %w", c.data, err)
	}
	major, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0, fmt.Errorf("%s is not a Postgres cluster of a known version: %w", c.data, err)
	}
	return major, nil
}

// initialise makes the cluster unless there is one. A kill on the way leaves only a directory that the next call
// removes.
func (c *Cluster) initialise(ctx context.Context) error {
	if _, err := os.Lstat(c.data); err == nil {
		return nil
	}
	c.removePartial()
	partial, err := os.MkdirTemp(c.dir, "postgres.new")
	if err != nil {
		return fmt.Errorf("make cluster: %w", err)
	}
	defer c.removePartial() // nothing is left of it after the rename
	if err := c.initdb(ctx, partial); err != nil {
		return err
	}
	if err := os.Rename(partial, c.data); err != nil {
		return fmt.Errorf("make cluster: %w", err)
	}
	return syncDir(c.dir)
}

func (c *Cluster) initdb(ctx context.Context, dir string) error {
	if err := c.user.own(dir); err != nil {
		return fmt.Errorf("make cluster: %w", err)
	}
	cmd := c.command(ctx, "initdb", "--pgdata="+dir, "--username="+database, "--encoding=UTF8", "--locale=C",
		"--data-checksums", "--auth-local=trust", "--auth-host=reject")
	// The postgres that initdb runs goes with it: it is of the same session.
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return fmt.Errorf("make cluster: %w", ctx.Err())
	}
	if err != nil {
		return fmt.Errorf("make cluster with %s: %w%s", cmd.Path, err, lastLines(string(out)))
	}
	return nil
}

// removePartial removes what interrupted calls left. What cannot be removed is in nobody's way: names are never
// re-used.
func (c *Cluster) removePartial() {
	left, _ := filepath.Glob(filepath.Join(globEscape(c.dir), "postgres.new*"))
	for _, dir := range left {
		if err := os.RemoveAll(dir); err != nil {
			c.log.Warn("remove an unfinished cluster", "error", err)
		}
	}
}

// globEscape returns a pattern that matches just path.
func globEscape(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// syncDir makes a rename in dir last through a power cut, as initdb did with the files.
func syncDir(dir string) error {
	f, err := os.Open(dir) //nolint:gosec // the state directory
	if err != nil {
		return fmt.Errorf("make cluster: %w", err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("make cluster: %w", err)
	}
	return nil
}
