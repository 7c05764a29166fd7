//go:build !linux

package local

import "syscall"

// dieWithParent is something only Linux can do.
func dieWithParent(*syscall.SysProcAttr) {}
