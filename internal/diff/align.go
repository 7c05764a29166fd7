package diff

import "slices"

// hunk is where two lists differ: items [i, iEnd) of the first stand where the second has [j, jEnd).
type hunk struct{ i, iEnd, j, jEnd int }

// shared is how many items of a hunk stand against each other; the rest of the longer side is removed or added.
func (h hunk) shared() int { return min(h.iEnd-h.i, h.jEnd-h.j) }

// positional is two lists compared item by item.
func positional[T any](before, after []T) []hunk { return []hunk{{0, len(before), 0, len(after)}} }

// alignOrPair aligns two lists, or takes them by position if that makes no more changes, as deepdiff does.
func alignOrPair[T comparable](m *meter, before, after []T) []hunk {
	aligned, paired := align(m, before, after), positional(before, after)
	if changes(aligned, before, after) >= changes(paired, before, after) {
		return paired
	}
	return aligned
}

// changes counts the items that hunks change, add or remove.
func changes[T comparable](hunks []hunk, before, after []T) int {
	n := 0
	for _, h := range hunks {
		n += max(h.iEnd-h.i, h.jEnd-h.j)
		for k := range h.shared() {
			if before[h.i+k] == after[h.j+k] {
				n--
			}
		}
	}
	return n
}

// align finds the common parts of two lists as Python's difflib.SequenceMatcher does (without junk): the longest run of
// equal items, the earliest of several, then recursively on both sides of it. It returns the parts between the runs.
func align[T comparable](spent *meter, before, after []T) []hunk {
	size := entrySize * (len(before) + len(after))
	spent.charge(entryCost * (len(before) + len(after)))
	if spent.hold(size); spent.err != nil {
		return nil
	}
	defer spent.hold(-size)
	m := matcher{
		places:   make([][]int, len(before)),
		previous: make([]int, len(after)+1),
		current:  make([]int, len(after)+1),
		steps:    stepsPerItem * (len(before) + len(after)),
	}
	places := make(map[T][]int, len(after))
	for j, item := range after {
		places[item] = append(places[item], j)
	}
	for i, item := range before {
		m.places[i] = places[item]
	}
	m.divide(positional(before, after)[0])
	spent.charge(matchCost * (stepsPerItem*(len(before)+len(after)) - m.steps))
	if m.steps < 0 {
		return trim(before, after)
	}
	return m.hunks
}

// stepsPerItem lets lists of some twenty items be anything, and longer ones be as long as they like unless they repeat
// the same few items: the effort for those grows with the square of their length, or the cube.
const stepsPerItem = 100

// trim removes the common beginning and end of two lists.
func trim[T comparable](before, after []T) []hunk {
	h := positional(before, after)[0]
	for h.shared() > 0 && before[h.i] == after[h.j] {
		h.i, h.j = h.i+1, h.j+1
	}
	for h.shared() > 0 && before[h.iEnd-1] == after[h.jEnd-1] {
		h.iEnd, h.jEnd = h.iEnd-1, h.jEnd-1
	}
	return []hunk{h}
}

// matcher aligns one pair of lists.
type matcher struct {
	places [][]int // of each item before: where the same one stands after, ascending
	// The lengths of the runs that end with the item before the current one, and with it, at the index after each place;
	// zero wherever nothing was written.
	previous, current []int
	steps             int // that are left; negative when the effort was too much
	hunks             []hunk
}

// divide adds the differences in a part of the lists.
func (m *matcher) divide(part hunk) {
	if part.shared() == 0 {
		if part.i < part.iEnd || part.j < part.jEnd {
			m.hunks = append(m.hunks, part)
		}
		return
	}
	run := m.longest(part)
	switch {
	case m.steps < 0:
	case run.i == run.iEnd:
		m.hunks = append(m.hunks, part)
	default:
		m.divide(hunk{part.i, run.i, part.j, run.j})
		m.divide(hunk{run.iEnd, part.iEnd, run.jEnd, part.jEnd})
	}
}

// longest returns the longest run of equal items in a part, an empty one if there is none.
func (m *matcher) longest(part hunk) (run hunk) {
	var last []int
	for i := part.i; i < part.iEnd && m.steps >= 0; i++ {
		places := within(m.places[i], part.j, part.jEnd)
		m.steps -= 1 + len(places)
		for _, j := range places {
			n := m.previous[j] + 1
			m.current[j+1] = n
			if n > run.iEnd-run.i {
				run = hunk{i + 1 - n, i + 1, j + 1 - n, j + 1}
			}
		}
		m.clear(last)
		m.previous, m.current, last = m.current, m.previous, places
	}
	m.clear(last)
	return run
}

// clear forgets the runs of the item before; after the last one they stand where the next would have looked for them.
func (m *matcher) clear(places []int) {
	for _, j := range places {
		m.previous[j+1] = 0
	}
}

// within cuts ascending places to [from, to).
func within(places []int, from, to int) []int {
	first, _ := slices.BinarySearch(places, from)
	end, _ := slices.BinarySearch(places, to)
	return places[first:end]
}
