//go:build !unix

package main

import "os/exec"

// inGroup returns a function that kills a command. Without process groups, it does not kill the command's children.
func inGroup(cmd *exec.Cmd) (kill func() error) {
	return func() error { return cmd.Process.Kill() }
}
