package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// account is the user that Postgres runs as: our own, or an unprivileged one if that is root, as whom it refuses to
// run.
type account struct {
	uid, gid int
	other    bool // not ours
}

// accountFor returns the owner of the cluster if we are root; for a new one the user postgres, or else nobody.
func accountFor(at layout) (account, error) {
	if os.Geteuid() != 0 {
		return account{uid: os.Geteuid(), gid: os.Getegid()}, nil
	}
	if info, err := os.Stat(at.data); err == nil {
		if uid, gid := ownerOf(info); uid > 0 {
			return account{uid: uid, gid: gid, other: true}, nil
		}
	} else if !errors.Is(err, os.ErrNotExist) {
		return account{}, fmt.Errorf("look at the cluster: %w", err)
	}
	found, err := user.Lookup("postgres")
	if err != nil {
		found, err = user.Lookup("nobody")
	}
	if err != nil {
		return account{}, errors.New("no user postgres or nobody to run Postgres as, which root must not:" +
			" make one, start Purser as another user, or name a server with --database-url")
	}
	uid, uidErr := strconv.Atoi(found.Uid)
	gid, gidErr := strconv.Atoi(found.Gid)
	if err := errors.Join(uidErr, gidErr); err != nil {
		return account{}, fmt.Errorf("user %s: %w", found.Username, err)
	}
	return account{uid: uid, gid: gid, other: true}, nil
}

// chown gives a file that we made to the account.
func (a account) chown(path string) error {
	if !a.other {
		return nil
	}
	return os.Lchown(path, a.uid, a.gid) //nolint:wrapcheck // it names the path
}

// name returns the name of the account, its number if it has none.
func (a account) name() string {
	id := strconv.Itoa(a.uid)
	if found, err := user.LookupId(id); err == nil {
		return found.Username
	}
	return id
}

// command returns one of Postgres's programs, to run as the account, in a session of its own and in the state
// directory: the account may be unable to enter our working directory.
func (c *Cluster) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(c.bin.dir, name), args...) //nolint:gosec // from pick
	cmd.Dir, cmd.Env = c.dir, environment()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if c.user.other {
		//nolint:gosec // ids that the system gave out
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(c.user.uid), Gid: uint32(c.user.gid)}
	}
	return cmd
}

// environment returns the few of our variables that Postgres needs. PG* variables would change its behaviour, and
// others hold secrets.
func environment() []string {
	env := []string{"LC_ALL=C"} // messages in English, and no locale that this machine lacks
	for _, name := range []string{"PATH", "TMPDIR", "LD_LIBRARY_PATH"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// checkAccess tries whether the account can enter the state directory.
func (c *Cluster) checkAccess(ctx context.Context) error {
	err := c.command(ctx, "postgres", "--version").Run()
	if errors.Is(err, syscall.EACCES) {
		return fmt.Errorf("user %s, as whom Postgres runs when Purser is started by root, cannot enter %s:"+
			" open the directories that lead there (chmod o+x) or pass another --state-dir", c.user.name(), c.dir)
	}
	if err != nil {
		return fmt.Errorf("run postgres as user %s: %w", c.user.name(), err)
	}
	return nil
}
