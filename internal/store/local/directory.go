package local

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// maxSocketPath is the length of a socket's path that every Unix accepts, in bytes (Linux 107, macOS 103).
const maxSocketPath = 103

// layout has the absolute paths of a cluster's parts.
type layout struct {
	dir    string // the state directory
	data   string
	socket string // the directory of the socket
	output string // Postgres's log file
}

func layoutOf(dir string) (layout, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return layout{}, fmt.Errorf("state directory: %w", err)
	}
	return layout{dir, filepath.Join(dir, "postgres"), socketDir(dir), filepath.Join(dir, "postgres.log")}, nil
}

// socketDir returns the directory of the socket: in dir, or, where that path is too long or has a comma, at which pgx
// splits a list of hosts, a temporary one whose name depends on dir only.
func socketDir(dir string) string {
	usual := filepath.Join(dir, "socket")
	if len(usual)+len("/.s.PGSQL."+port) <= maxSocketPath && !strings.Contains(usual, ",") {
		return usual
	}
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(os.TempDir(), fmt.Sprintf("purser-%x", sum[:8]))
}

// makeSocketDir makes a directory that only the account can enter. Everybody can write to the temporary directory, so a
// directory that exists is used only if it is ours.
func makeSocketDir(dir string, user account) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make socket directory: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("make socket directory: %w", err)
	}
	if uid, _ := ownerOf(info); !info.IsDir() || uid != user.uid && uid != os.Geteuid() {
		return fmt.Errorf("%s is in the way of the socket directory and belongs to someone else", dir)
	}
	if err := errors.Join(user.chown(dir), os.Chmod(dir, 0o700)); err != nil { //nolint:gosec // a directory needs its x
		return fmt.Errorf("make socket directory: %w", err)
	}
	return nil
}

// lockDir makes the state directory if it is missing, and locks it. The kernel releases the lock with the process that
// holds it, however that ends.
func lockDir(dir string, user account) (*os.File, error) {
	if err := makeStateDir(dir, user); err != nil {
		return nil, fmt.Errorf("make state directory: %w", err)
	}
	//nolint:gosec // in the directory that the operator named
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock state directory: %w", err)
	}
	err = flock(lock)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		holder, _ := io.ReadAll(io.LimitReader(lock, 20))
		err = fmt.Errorf("another Purser server (pid %s) uses state directory %s; stop it or pass another --state-dir",
			strings.TrimSpace(string(holder)), dir)
	case err == nil:
		_, err = lock.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// makeStateDir makes the directory for the account alone. One that exists keeps its owner and mode.
func makeStateDir(dir string, user account) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil { //nolint:gosec // Postgres's user has to pass
		return err //nolint:wrapcheck // wrapped by lockDir
	}
	switch err := os.Mkdir(dir, 0o700); {
	case errors.Is(err, fs.ErrExist):
		return nil
	case err != nil:
		return err //nolint:wrapcheck // the same
	}
	return user.chown(dir)
}

// flock locks a file and empties it. It tries for a second: a child that this process forked while it held the lock
// before keeps it until it runs its program.
func flock(file *os.File) (err error) {
	const tries = 50
	for range tries {
		err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			break
		}
		time.Sleep(poll)
	}
	if err == nil {
		err = file.Truncate(0)
	}
	if err != nil {
		return fmt.Errorf("lock state directory: %w", err)
	}
	return nil
}

// ownerOf returns the user and group that a file belongs to, -1 if they are unknown.
func ownerOf(info fs.FileInfo) (uid, gid int) {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Uid), int(stat.Gid)
	}
	return -1, -1
}
