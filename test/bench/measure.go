package main

import (
	"cmp"
	"slices"
	"time"
)

// Numbers of turns in a round of a comparison.
const (
	usually = 6  // work that takes milliseconds
	often   = 50 // work that takes less than a millisecond
	rarely  = 2  // work that adds revisions, to keep a short history short
)

// times are the durations of the same work, one for each turn.
type times []time.Duration

// String formats the median for people.
func (t times) String() string { return short(median(t)) }

// least returns the shortest time, which other processes have disturbed least.
func (t times) least() time.Duration { return slices.Min(t) }

func (t times) sum() (all time.Duration) {
	for _, took := range t {
		all += took
	}
	return all
}

// over returns the median of the ratios of all turns.
func (t times) over(against times) float64 {
	ratios := make([]float64, len(t))
	for i := range t {
		ratios[i] = ratio(t[i], against[i])
	}
	return median(ratios)
}

// perSecond returns how often work that takes the median fits into a second.
func (t times) perSecond() float64 { return float64(time.Second) / float64(median(t)) }

// series has the times of several kinds of work, by name.
type series map[string]times

func (s series) add(name string, took time.Duration) { s[name] = append(s[name], took) }

func (s series) time(name string, work func()) { s.add(name, timed(work)) }

// turns returns how often work is repeated in a round: once in a smoke.
func (o *options) turns(n int) int {
	if o.smoke {
		return 1
	}
	return n
}

// compared is work that should not take much longer than other work.
type compared struct {
	what              string
	limit             float64 // 0 if there is no target
	against, measured func()
	before            func() // untimed preparation before each side of a turn; nil for none
	repeats           int    // turns in each round; 0 for usually
}

// compare measures both sides in turns and adds their ratio to the table.
func (r *run) compare(row int, pairs ...compared) {
	if !r.wants(row) {
		return
	}
	for _, pair := range pairs {
		repeats := r.turns(cmp.Or(pair.repeats, usually))
		sides := []struct {
			work func()
			took times
		}{{work: pair.against}, {work: pair.measured}}
		for turn := range (1 + r.rounds) * repeats {
			for i := range sides {
				// The order alternates, because the second side finds warm caches, or garbage to collect.
				side := &sides[(turn+i)%len(sides)]
				if pair.before != nil {
					pair.before()
				}
				side.took = append(side.took, timed(side.work))
			}
		}
		against, measured := sides[0].took[repeats:], sides[1].took[repeats:] // the first round is a warm-up
		r.atMost(row, measured.over(against), pair.limit, pair.what, "%s, %s", measured, against)
	}
}

// timed returns the duration of work.
func timed(work func()) time.Duration {
	began := time.Now()
	work()
	return time.Since(began)
}

// medianTime returns the median duration of n repetitions.
func medianTime(n int, work func(i int)) time.Duration {
	took := make(times, n)
	for i := range took {
		took[i] = timed(func() { work(i) })
	}
	return median(took)
}

// repeat returns work that is done n times.
func repeat(n int, work func()) func() {
	return func() {
		for range n {
			work()
		}
	}
}

func median[T cmp.Ordered](values []T) T { return percentile(values, 50) }

// percentile returns the smallest value that is not less than the given percentage of all values.
func percentile[T cmp.Ordered](values []T, percent int) T {
	const all = 100
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)*percent/all]
}

func ratio(a, b time.Duration) float64 { return a.Seconds() / b.Seconds() }

// short formats a duration for people.
func short(d time.Duration) string {
	switch {
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= 10*time.Millisecond:
		return d.Round(100 * time.Microsecond).String()
	}
	return d.Round(time.Microsecond).String()
}
