// Package budgettest measures work for tests, independently of the load of the machine.
package budgettest

import (
	"cmp"
	"encoding/json"
	"strings"
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

// attempts is how often a measurement is repeated before its result counts as too much. What else the machine does only
// adds to a measurement, but may do so for tens of milliseconds.
const attempts = 50

// Least repeats a measurement until it returns at most enough, 50 times at most, and returns the least result.
func Least[T cmp.Ordered](enough T, measure func() T) T {
	least := measure()
	for i := 1; i < attempts && least > enough; i++ {
		least = min(least, measure())
	}
	return least
}

// slowness returns how many times as much processor time as usual a fixed piece of work takes now: as on the machine on
// which prices were measured, while it did nothing else. It is at least 1.
func slowness() float64 {
	const rounds, usual = 20, 1700 * time.Microsecond
	text := []byte("[" + strings.Repeat(`{"key":["value",1.5,{"a":null}]},`, 100) + "0]")
	began := CPU()
	for range rounds {
		var value any
		if err := json.Unmarshal(text, &value); err != nil {
			panic(err) // the text is constant
		}
	}
	return max(1, float64(CPU()-began)/float64(usual))
}
