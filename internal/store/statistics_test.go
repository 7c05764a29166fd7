package store

import (
	"testing"
	"time"
)

// Statistics are updated when many documents were added, by one change or by several, and not again within ten minutes.
func TestStatistics_add(t *testing.T) {
	t.Parallel()
	var s statistics
	now := time.Unix(0, 0)
	for i, step := range []struct {
		after     time.Duration
		documents int
		want      int
		unused    bool
	}{
		{0, manyAdded - 1, 0, false},
		{0, 1, manyAdded, true}, // the database knows of as many
		{0, manyAdded - 1, 0, false},
		{0, 3, manyAdded + 2, false},
		{time.Minute, 5000, 0, false},
		{analyzeEvery - time.Minute - 1, 1, 0, false},
		{1, 0, 5001, false},
		{analyzeEvery, manyAdded - 1, 0, false},
	} {
		now = now.Add(step.after)
		if got := s.add(step.documents, now); got != step.want {
			t.Errorf("step %d: %d, want %d", i, got, step.want)
		}
		if step.unused {
			s.unused()
		}
	}
}
