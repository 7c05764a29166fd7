// Package budgettest measures work for tests, independently of the load of the machine.
package budgettest

import (
	"syscall"
	"time"
)

// CPU returns the processor time that this process has used. Compare only ratios between calls, and only while no other
// test runs.
func CPU() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err) // fails only for an invalid argument
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
