package fleet

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"purser/internal/words"
)

// Tally is what has become of sites so far. It is safe for concurrent use.
type Tally struct {
	mu     sync.Mutex
	groups *Groups
	of     map[string]int // the numbers of the groups of sites
	before int            // sites that an earlier run has done
	sites  int            // to be done, with those
}

// NewTally returns the tally of the sites of waves. It takes over what an earlier run has reported of them, and returns
// the waves of the others.
func NewTally(waves []Wave, earlier *Resumed) (t *Tally, left []Wave) {
	t = &Tally{groups: &earlier.Groups, of: map[string]int{}}
	done := map[string]bool{}
	for _, wave := range waves {
		for _, target := range wave.Targets {
			t.sites++
			if number, known := earlier.Done[target.Name]; known {
				done[target.Name], t.of[target.Name] = true, number
				t.groups.Count(number, 1)
			}
		}
	}
	t.before = len(done)
	return t, Without(waves, done)
}

// Add adds the outcome of a site, as Groups.Add does.
func (t *Tally) Add(site string, o Outcome) (group Group, changed bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	group, changed = t.groups.Add(site, o)
	t.of[site] = group.Number
	return group, changed
}

// Progress returns a line about what is done since a push began.
func (t *Tally) Progress(took time.Duration) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	rate := float64(len(t.of)-t.before) / max(took.Seconds(), 1)
	return fmt.Sprintf("%s of %s, %.0f/s, %s", Number(len(t.of)), Sites(t.sites), rate,
		words.Count(t.groups.Len(), "group"))
}

// Shown returns what a text says about the sites and, of each group, at most so many names, the first ones in order.
func (t *Tally) Shown(most int) Shown {
	t.mu.Lock()
	defer t.mu.Unlock()
	names := map[int][]string{}
	for _, site := range slices.Sorted(maps.Keys(t.of)) {
		if number := t.of[site]; len(names[number]) < most {
			names[number] = append(names[number], site)
		}
	}
	return Shown{Groups: t.groups.Sorted(), Names: names, Before: t.before}
}
