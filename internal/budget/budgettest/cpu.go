// Package budgettest measures work for tests, independently of how busy the machine is.
package budgettest

import (
	"syscall"
	"time"
)

// CPU returns the processor time used by this process so far. The time of a call is meaningful only as a multiple of
// the time of another call, and only while no other test runs.
func CPU() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err) // fails only for an invalid argument
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
