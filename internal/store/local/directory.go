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

// longestSocket is what every Unix takes as the path of a socket, in bytes (Linux 107, macOS 103).
const longestSocket = 103

// layout is where the parts of a cluster are; all paths are absolute.
type layout struct {
	dir    string // the state directory
	data   string
	socket string // a directory
	output string // Postgres's log file
}

func layoutOf(dir string) (layout, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return layout{}, fmt.Errorf("state directory: %w", err)
	}
	return layout{
		dir:    dir,
		data:   filepath.Join(dir, "postgres"),
		socket: socketDir(dir),
		output: filepath.Join(dir, "postgres.log"),
	}, nil
}

// socketDir returns the directory of the socket: in dir, or where the path gets too long or has a comma, at which pgx
// splits a list of hosts, one with a short name that is always the same for the same dir.
func socketDir(dir string) string {
	own := filepath.Join(dir, "socket")
	if len(own)+len("/.s.PGSQL."+port) <= longestSocket && !strings.Contains(own, ",") {
		return own
	}
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(os.TempDir(), fmt.Sprintf("purser-%x", sum[:8]))
}

// makeSocketDir makes sure of a directory that only the account can enter. The temp directory is open to all, so what
// already bears the name is used only if it is ours.
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
	if err := errors.Join(user.own(dir), os.Chmod(dir, 0o700)); err != nil { //nolint:gosec // a directory needs its x
		return fmt.Errorf("make socket directory: %w", err)
	}
	return nil
}

// claim makes the state directory if needed and takes the lock that says it is in use. The kernel drops the lock with
// the process that holds it, however that ends.
func claim(dir string, user account) (*os.File, error) {
	if err := makeStateDir(dir, user); err != nil {
		return nil, fmt.Errorf("make state directory: %w", err)
	}
	//nolint:gosec // in the directory that the operator named
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock state directory: %w", err)
	}
	if err := takeLock(lock, dir); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

func makeStateDir(dir string, user account) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil { //nolint:gosec // Postgres's user has to pass
		return err //nolint:wrapcheck // wrapped by claim
	}
	err := os.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrExist) {
		return nil // its owner and mode are somebody's decision
	}
	if err != nil {
		return err //nolint:wrapcheck // wrapped by claim
	}
	return user.own(dir)
}

func takeLock(lock *os.File, dir string) error {
	const patience, pause = 50, 20 * time.Millisecond
	err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	// A child of this process, forked while the lock was held and then let go, holds it until it runs its program.
	for range patience {
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			break
		}
		time.Sleep(pause)
		err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		holder, _ := io.ReadAll(io.LimitReader(lock, 20))
		return fmt.Errorf("another Purser server (pid %s) uses state directory %s; stop it or pass another --state-dir",
			strings.TrimSpace(string(holder)), dir)
	}
	if err == nil {
		err = lock.Truncate(0)
	}
	if err == nil {
		_, err = lock.WriteString(strconv.Itoa(os.Getpid()) + "\n")
	}
	if err != nil {
		return fmt.Errorf("lock state directory: %w", err)
	}
	return nil
}

// ownerOf returns the user and group that a file belongs to.
func ownerOf(info fs.FileInfo) (uid, gid int) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return -1, -1
	}
	return int(stat.Uid), int(stat.Gid)
}
