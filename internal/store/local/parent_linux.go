package local

import "syscall"

// dieWithParent has the kernel ask Postgres for a fast shutdown when the thread that started it ends.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGINT }
