package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"syscall"
	"time"
)

// account is the user and group that Postgres runs as: ours, unless we are root, because Postgres refuses to run as
// root.
type account struct{ uid, gid int }

// accountFor returns the account for the cluster in data: if we are root, the owner of the cluster; for a new one that
// of the state directory, if it is there and not root's; or else the user postgres, or nobody.
func accountFor(data string) (account, error) {
	if os.Geteuid() != 0 {
		return account{os.Geteuid(), os.Getegid()}, nil
	}
	for _, path := range []string{data, filepath.Dir(data)} {
		info, err := os.Stat(path)
		if err != nil {
			continue
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Uid != 0 {
			return account{int(stat.Uid), int(stat.Gid)}, nil
		}
	}
	for _, name := range []string{"postgres", "nobody"} {
		found, err := user.Lookup(name)
		if err != nil {
			continue
		}
		var a account
		if _, err := fmt.Sscan(found.Uid+" "+found.Gid, &a.uid, &a.gid); err != nil {
			return account{}, fmt.Errorf("user %s: %w", name, err)
		}
		return a, nil
	}
	return account{}, errors.New("no user postgres or nobody to run Postgres as, which root must not:" +
		" make one, start Purser as another user, or name a server with --database-url")
}

// mkdir makes a directory that only the account can enter.
func (a account) mkdir(path string) error {
	if err := os.Mkdir(path, 0o700); err != nil {
		return err //nolint:wrapcheck // it names the path
	}
	return os.Lchown(path, a.uid, a.gid) //nolint:wrapcheck // the same
}

// command returns one of Postgres's programs, to run as the account, in a session of its own and in the state
// directory: the account may be unable to enter our working directory. The program is killed 10 seconds after ctx has
// ended; Postgres needs up to 5 to end its own processes.
func (c *Cluster) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(c.bin.dir, name), args...) //nolint:gosec // from pick
	cmd.Dir, cmd.WaitDelay = c.dir, 10*time.Second
	// PG* variables would change Postgres's behaviour, and others hold secrets. Messages are in English, and no locale
	// is needed that this machine lacks.
	cmd.Env = []string{"LC_ALL=C", "PATH=" + os.Getenv("PATH"), "LD_LIBRARY_PATH=" + os.Getenv("LD_LIBRARY_PATH")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: &syscall.Credential{
		Uid: uint32(c.user.uid), Gid: uint32(c.user.gid), //nolint:gosec // ids that the system gave out
		NoSetGroups: os.Geteuid() != 0, // only root may
	}}
	dieWithParent(cmd.SysProcAttr)
	return cmd
}

// explain adds advice to an error about an account that cannot enter the state directory.
func (c *Cluster) explain(err error) error {
	if os.Geteuid() != 0 || !errors.Is(err, syscall.EACCES) { // to root, nothing else is closed
		return err
	}
	return fmt.Errorf("user %d, as whom Postgres runs when Purser is started by root, cannot enter %s:"+
		" open the directories that lead there (chmod o+x) or pass another --state-dir: %w", c.user.uid, c.dir, err)
}
