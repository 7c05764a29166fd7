package main

import (
	"slices"
	"time"
)

// timed returns the duration of work.
func timed(work func() error) (time.Duration, error) {
	began := time.Now()
	err := work()
	return time.Since(began), err
}

// medianTime returns the median duration of n repetitions.
func medianTime(n int, work func(i int) error) (time.Duration, error) {
	times := make([]time.Duration, n)
	for i := range times {
		var err error
		if times[i], err = timed(func() error { return work(i) }); err != nil {
			return 0, err
		}
	}
	return median(times), nil
}

func median[T time.Duration | float64 | int64](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// medianOf returns the median of a value of each turn.
func medianOf[R any, T time.Duration | float64 | int64](turns []R, value func(R) T) T {
	values := make([]T, len(turns))
	for i, turn := range turns {
		values[i] = value(turn)
	}
	return median(values)
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
