package local

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// socketDir returns the directory of the socket: in dir, or, where that path is too long or has a comma, at which pgx
// splits a list of hosts, a temporary one whose name depends on dir only.
func socketDir(dir string) string {
	const maxPath = 103 // bytes that every Unix accepts (Linux 107, macOS 103)
	usual := filepath.Join(dir, "socket")
	if len(usual)+len("/.s.PGSQL."+port) <= maxPath && !strings.Contains(usual, ",") {
		return usual
	}
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(os.TempDir(), fmt.Sprintf("purser-%x", sum[:8]))
}

// makeSocketDir replaces the directory of the socket by an empty one that only the account can enter. In the temporary
// directory this fails if another user has made it: only that user and root can remove it.
func (c *Cluster) makeSocketDir() error {
	err := os.RemoveAll(c.socket)
	if err == nil {
		err = c.user.mkdir(c.socket)
	}
	if err != nil {
		return fmt.Errorf("make socket directory: %w", err)
	}
	return nil
}

// lock makes the state directory if it is missing, and locks it. One that exists keeps its owner and mode. The kernel
// releases the lock with the process that holds it, however that ends.
func (c *Cluster) lock(ctx context.Context) (*os.File, error) {
	err := os.MkdirAll(filepath.Dir(c.dir), 0o755) //nolint:gosec // Postgres's user has to pass
	if err == nil {
		err = c.user.mkdir(c.dir)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("make state directory: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(c.dir, "lock"), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock state directory: %w", err)
	}
	// A child forked while this process held the lock earlier keeps it until it executes its program.
	waitFor(ctx, time.Second, func() bool {
		err = flock(file)
		return !errors.Is(err, syscall.EWOULDBLOCK)
	})
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		holder, _ := io.ReadAll(io.LimitReader(file, 20))
		err = fmt.Errorf("another Purser server (pid %s) uses state directory %s; stop it or pass another --state-dir",
			strings.TrimSpace(string(holder)), c.dir)
	case err == nil:
		_, err = fmt.Fprintf(file, "%-19d\n", os.Getpid()) // as long as any that was there
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// flock locks a file or directory, for all processes that inherit it.
func flock(file *os.File) error {
	return os.NewSyscallError("flock", syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB))
}

// openLog opens Postgres's log. It renames a long one first, so that the two stay small.
func (c *Cluster) openLog() (*os.File, error) {
	const maxSize = 8 << 20
	path := filepath.Join(c.dir, "postgres.log")
	if info, err := os.Lstat(path); err == nil && info.Size() > maxSize {
		_ = os.Rename(path, path+".old") // if this fails, the log grows on
	}
	//nolint:gosec,wrapcheck // in the state directory; the error names it
	return os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
}

// claim returns the data directory, opened and locked for the next Postgres, once nothing is left of the one before.
// The processes of that one hold the lock, which each of them inherited. A postmaster that still runs was left by a
// killed server and is stopped.
func (c *Cluster) claim(ctx context.Context) (*os.File, error) {
	data, err := os.Open(c.data)
	if err != nil {
		return nil, fmt.Errorf("open cluster: %w", err)
	}
	if pid := postmaster(c.data); pid != 0 {
		c.log.WarnContext(ctx, "stopping a private postgres that was left over", "pid", pid)
		_ = syscall.Kill(pid, syscall.SIGQUIT) // fails only when it has ended
	}
	if !waitFor(ctx, 20*time.Second, func() bool { return postmaster(c.data) == 0 && flock(data) == nil }) {
		err := fmt.Errorf("a postgres that was left over still runs; end it: pg_ctl stop -D %s", c.data)
		return nil, errors.Join(err, data.Close())
	}
	// Postgres would refuse to start if the number in this file is now that of another process.
	_ = os.Remove(filepath.Join(c.data, pidFile))
	return data, nil
}

// pidFile is the lock file of a postmaster, in the data directory.
const pidFile = "postmaster.pid"

// postmaster returns the process that its lock file names, 0 if that is not one which works in the data directory, as a
// postmaster does throughout its life. A zombie does not, nor a process that got the same number after a reboot.
func postmaster(data string) (pid int) {
	text, _ := os.ReadFile(filepath.Join(data, pidFile)) //nolint:gosec // in the cluster
	_, _ = fmt.Sscan(string(text), &pid)
	want, wantErr := os.Stat(data)
	got, err := os.Stat(fmt.Sprintf("/proc/%d/cwd", pid))
	if wantErr != nil || err != nil || !os.SameFile(want, got) {
		return 0
	}
	return pid
}
