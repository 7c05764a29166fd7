package e2e_test

import "syscall"

// withParent has the kernel stop a server when the thread that started it ends, as all do when the tests are killed.
func withParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} }
