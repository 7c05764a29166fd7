//go:build unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// inGroup makes a command run in its own process group and returns a function that kills the group. If no process of
// the group exists, the function returns os.ErrProcessDone, because exec.Cmd accepts that error, unlike ESRCH, for a
// command that has exited.
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
