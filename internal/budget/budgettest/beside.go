package budgettest

import (
	"runtime"
	"time"

	"pgregory.net/rapid"
)

// Beside fails the test if work beside what somebody else stored takes far more processor time than the same work
// beside harmless things: more than 1.3 times as much, and 20 ms. The least of several measurements of each counts. It
// measures the whole process, so no other test may run at the same time.
func Beside(t rapid.TB, costly, harmless func()) {
	t.Helper()
	const times, room = 5, 20 * time.Millisecond
	most := room
	if race {
		most *= underRace
	}
	took, usual := leastOf(times, costly), leastOf(times, harmless)
	t.Logf("%v, and %v beside harmless documents", took, usual)
	if 10*(took-most) > 13*usual {
		t.Errorf("%v, and %v beside harmless documents: at most 1.3 times as much and %v are expected", took, usual, most)
	}
}

// leastOf returns the least processor time that work takes. It collects the garbage of other work before.
func leastOf(times int, work func()) (least time.Duration) {
	runtime.GC()
	for i := range times {
		began := CPU()
		work()
		if took := CPU() - began; i == 0 || took < least {
			least = took
		}
	}
	return least
}
