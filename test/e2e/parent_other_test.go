//go:build !linux

package e2e_test

import "syscall"

func withParent() *syscall.SysProcAttr { return nil }
