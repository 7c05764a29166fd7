//go:build unix

package plugin

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// inGroup makes a command run in a process group of its own. What it returns kills the group: the command, and what it
// has started that has not left the group. It returns os.ErrProcessDone if nothing of the group is left: exec.Cmd takes
// that, as it takes no ESRCH, for a command that has ended by itself.
func inGroup(cmd *exec.Cmd) (kill func() error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return func() error {
		err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err //nolint:wrapcheck // as of Process.Kill
	}
}
