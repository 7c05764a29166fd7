// Package budgettest measures work for tests, by what does not depend on how busy a machine is.
package budgettest

import (
	"syscall"
	"time"
)

// CPU returns the processor time that this process has taken so far. What a call takes means something only as a
// multiple of what another call takes, and only where no other test runs at the same time.
func CPU() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err) // fails only for a wrong argument
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
