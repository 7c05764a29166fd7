package api

import (
	"sync/atomic"
	"testing"
)

// Answers are shared up to a number of bytes each, and all together.
func TestSharedAnswer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		others int64 // bytes of other answers
		parts  []int // bytes that are written
		want   int   // bytes that are shared
	}{
		"small":           {0, []int{10, 20}, 30},
		"at the edge":     {maxAllShared - maxShared, []int{maxShared}, maxShared},
		"too large":       {0, []int{10, maxShared - 9, 1}, 0},
		"too many others": {maxAllShared - 10, []int{10, 1}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var all atomic.Int64
			all.Store(c.others)
			answer := &sharedAnswer{info: new(requestInfo), all: &all}
			for _, size := range c.parts {
				if n, err := answer.Write(make([]byte, size)); n != size || err != nil {
					t.Fatalf("wrote %d of %d bytes: %v", n, size, err)
				}
			}
			if got := answer.body.Len(); got != c.want || answer.overflows != (c.want == 0) {
				t.Errorf("%d bytes are shared, want %d; overflows: %v", got, c.want, answer.overflows)
			}
		})
	}
}
