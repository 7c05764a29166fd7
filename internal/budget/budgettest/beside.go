package budgettest

import (
	"runtime"
	"time"

	"pgregory.net/rapid"
)

// Beside fails the test if work beside what somebody else stored takes far more processor time than the same work
// beside harmless things: more than 1.3 times as much, and 20 ms. The costly work is measured until it is
// in this bound. It measures the whole process, so no other test may run at the same time.
func Beside(t rapid.TB, costly, harmless func()) {
	t.Helper()
	most := 20 * time.Millisecond
	if race {
		most *= underRace
	}
	usual := measured(harmless)
	for range 4 {
		usual = min(usual, measured(harmless))
	}
	bound := 13*usual/10 + most
	took := Least(bound, func() time.Duration { return measured(costly) })
	t.Logf("%v, and %v beside harmless documents", took, usual)
	if took > bound {
		t.Errorf("%v, and %v beside harmless documents: at most 1.3 times as much and %v are expected", took, usual, most)
	}
}

// measured returns the processor time that work takes. It collects the garbage of other work before.
func measured(work func()) time.Duration {
	runtime.GC()
	began := CPU()
	work()
	return CPU() - began
}
