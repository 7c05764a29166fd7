package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// clear prepares a cluster that a killed server may have left in any state: it stops a postmaster that still runs, and
// removes stale lock files. Without /proc it leaves both to Postgres.
func (c *Cluster) clear(ctx context.Context) error {
	if _, err := os.Stat("/proc/self"); err != nil {
		return nil //nolint:nilerr // nothing is known about processes here
	}
	file := filepath.Join(c.data, "postmaster.pid")
	if pid := pidIn(file); pid != 0 && runsIn(pid, c.data) {
		c.log.WarnContext(ctx, "stopping a private postgres that was left over", "pid", pid)
		if err := c.stopLeftover(ctx, pid); err != nil {
			return err
		}
	}
	return errors.Join(removeStale(file), removeStale(filepath.Join(c.socket, ".s.PGSQL."+port+".lock")))
}

// stopLeftover stops a postmaster that is not our child, so that its end can only be polled for.
func (c *Cluster) stopLeftover(ctx context.Context, pid int) error {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT} {
		_ = syscall.Kill(pid, signal) // fails only when it has ended
		for end := time.Now().Add(10 * time.Second); time.Now().Before(end); {
			if !runsIn(pid, c.data) {
				return nil
			}
			if !sleep(ctx, poll) {
				return fmt.Errorf("stop the postgres left over: %w", ctx.Err())
			}
		}
	}
	return fmt.Errorf("the postgres left over in %s (pid %d) does not stop; kill it", c.data, pid)
}

// pidIn returns the process that a lock file of Postgres's names, 0 if there is none.
func pidIn(file string) int {
	text, _ := os.ReadFile(file) //nolint:gosec // in the cluster
	line, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || pid <= 1 {
		return 0
	}
	return pid
}

// runsIn reports whether dir is the working directory of a process, as it is of a postmaster throughout its life. It is
// not that of a process which got the same number after a reboot, nor of a zombie.
func runsIn(pid int, dir string) bool {
	want, wantErr := os.Stat(dir)
	got, err := os.Stat(fmt.Sprintf("/proc/%d/cwd", pid))
	return wantErr == nil && err == nil && os.SameFile(want, got)
}

// removeStale removes a lock file of a postmaster that does not run, if its number is now that of a zombie or of
// another process: Postgres would refuse to start. It removes other stale ones itself.
func removeStale(file string) error {
	pid := pidIn(file)
	if pid == 0 || errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return nil
	}
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove a stale lock file: %w", err)
	}
	return nil
}
