package store

import (
	"slices"
	"testing"
)

// A version is found in every revision it is valid in, once, and in no other.
func TestFork(t *testing.T) {
	t.Parallel()
	const most = 70
	for since := int64(1); since < most; since++ {
		for until := since + 1; until <= most; until++ {
			node := fork(since, until)
			for revision := int64(1); revision <= most; revision++ {
				before, after := ancestors(revision)
				found := 0
				if slices.Contains(before, node) && until > revision {
					found++
				}
				if slices.Contains(after, node) && since <= revision {
					found++
				}
				want := 0
				if since <= revision && revision < until {
					want = 1
				}
				if found != want {
					t.Fatalf("version [%d, %d) at node %d is found %d times in revision %d, want %d",
						since, until, node, found, revision, want)
				}
			}
		}
	}
}
