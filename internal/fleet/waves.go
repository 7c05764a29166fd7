package fleet

import (
	"cmp"
	"slices"
	"strconv"

	"purser/internal/events"
	"purser/internal/wire"
)

// Target is a site that documents are copied to.
type Target struct {
	Name   string
	Status string // of its newest revision; "" if there is none
	Wave   string // the value of the label of waves; "" if it has none
}

// TargetOf returns a site of a list as a target, with the label of waves. ok is false if nothing is copied to it: it is
// archived, or the source, or, with follows, its bucket follows another one or none.
func TargetOf(site wire.Site, label, bucket string, from events.Upstream, follows bool) (target Target, ok bool) {
	if site.Archived || site.Name == from.Site {
		return Target{}, false
	}
	if of, followed := site.Sources[bucket]; follows && (!followed || of.Site != from.Site || of.Bucket != from.Bucket) {
		return Target{}, false
	}
	return Target{site.Name, string(site.Status), site.Labels[label]}, true
}

// Wave is sites that are changed at the same time, once those of the wave before are done.
type Wave struct {
	Name    string // the value of the label; "" for the sites without it
	Targets []Target
}

// Waves returns sites by their waves: in the order of numbers if all are numbers, and else of texts, and those without
// one last.
func Waves(targets []Target) (waves []Wave) {
	numbers := true
	number := map[string]float64{}
	for _, t := range targets {
		if t.Wave != "" {
			n, err := strconv.ParseFloat(t.Wave, 64)
			number[t.Wave], numbers = n, numbers && err == nil
		}
	}
	targets = slices.Clone(targets)
	slices.SortFunc(targets, func(a, b Target) int {
		order := cmp.Compare(isLast(a), isLast(b))
		if numbers {
			order = cmp.Or(order, cmp.Compare(number[a.Wave], number[b.Wave]))
		}
		return cmp.Or(order, cmp.Compare(a.Wave, b.Wave), cmp.Compare(a.Name, b.Name))
	})
	targets = slices.CompactFunc(targets, func(a, b Target) bool { return a.Name == b.Name })
	for _, t := range targets {
		if last := len(waves) - 1; last < 0 || waves[last].Name != t.Wave {
			waves = append(waves, Wave{Name: t.Wave})
		}
		wave := &waves[len(waves)-1]
		wave.Targets = append(wave.Targets, t)
	}
	return waves
}

// isLast returns 1 for sites without a wave, and else 0.
func isLast(t Target) int {
	if t.Wave == "" {
		return 1
	}
	return 0
}

// Without returns the waves without some sites, and without the waves that have no others.
func Without(waves []Wave, done map[string]bool) (left []Wave) {
	for _, wave := range waves {
		wave.Targets = slices.DeleteFunc(slices.Clone(wave.Targets), func(t Target) bool { return done[t.Name] })
		if len(wave.Targets) > 0 {
			left = append(left, wave)
		}
	}
	return left
}

// Count returns the number of sites in waves.
func Count(waves []Wave) (n int) {
	for _, wave := range waves {
		n += len(wave.Targets)
	}
	return n
}
