//go:build !unix

package plugin

import "os/exec"

// inGroup returns what kills a command. What the command has started lives on: there are no process groups.
func inGroup(cmd *exec.Cmd) (kill func() error) {
	return func() error { return cmd.Process.Kill() }
}
