//go:build unix

package plugin

import (
	"os/exec"
	"syscall"
)

// inGroup makes a command run in a process group of its own. What it returns kills the group: the command, and what it
// has started that has not left the group.
func inGroup(cmd *exec.Cmd) (kill func() error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
