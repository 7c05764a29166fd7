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

	"purser/internal/files"
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

// initialise makes the cluster beside its place and renames it. If it is interrupted, the next call removes the rest.
func (c *Cluster) initialise(ctx context.Context) error {
	c.removePartial()
	partial, err := os.MkdirTemp(c.dir, partialPrefix)
	if err != nil {
		return fmt.Errorf("make cluster: %w", err)
	}
	defer c.removePartial() // after the rename there is nothing
	if err := c.initdb(ctx, partial); err != nil {
		return err
	}
	if err := os.Rename(partial, c.data); err != nil {
		return fmt.Errorf("make cluster: %w", err)
	}
	if err := files.SyncDirectory(c.dir); err != nil {
		return fmt.Errorf("make cluster: %w", err)
	}
	return nil
}

func (c *Cluster) initdb(ctx context.Context, dir string) error {
	if err := c.user.chown(dir); err != nil {
		return fmt.Errorf("make cluster: %w", err)
	}
	cmd := c.command(ctx, "initdb", "--pgdata="+dir, "--username="+database, "--encoding=UTF8", "--locale=C",
		"--data-checksums", "--auth-local=trust", "--auth-host=reject")
	// This also ends the postgres that initdb runs, which is in the same session.
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

// partialPrefix begins the names of clusters that are being made.
const partialPrefix = "postgres.new"

// removePartial removes what interrupted calls left. It only logs failures, because names are not used again.
func (c *Cluster) removePartial() {
	entries, _ := os.ReadDir(c.dir)
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), partialPrefix) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(c.dir, entry.Name())); err != nil {
			c.log.Warn("remove an unfinished cluster", "error", err)
		}
	}
}
