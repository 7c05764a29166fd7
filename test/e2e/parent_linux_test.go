package e2e_test

import "syscall"

// withParent makes the kernel stop a server when the thread that started it ends, for example because the tests are
// killed.
func withParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} }
