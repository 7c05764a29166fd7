package e2e_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// site models a site: the documents of each revision as plain maps.
type site struct {
	head    snapshot
	history map[int]snapshot // the remaining revisions
	tags    map[int][]string
	newest  int
	places  int // number of places assigned so far
}

// snapshot holds documents by name.
type snapshot map[string]paper

type paper struct {
	bucket       string
	data         int
	since, place int
}

func newSite() *site {
	return &site{history: map[int]snapshot{}, tags: map[int][]string{}, head: snapshot{}}
}

// line formats a document like the server's, for comparison.
func (p paper) line(name string) string {
	return fmt.Sprintf("%s/%s=%d@%d", p.bucket, name, p.data, p.since)
}

// lines formats the documents of a snapshot in order.
func (s snapshot) lines() []string {
	lines := []string{}
	for _, name := range slices.SortedFunc(maps.Keys(s), func(a, b string) int { return cmp.Compare(s[a].place, s[b].place) }) {
		lines = append(lines, s[name].line(name))
	}
	return lines
}

// entry is a document in a payload.
type entry struct {
	name, bucket string
	data         int
}

// plan returns the newest documents after buckets are replaced by a payload; ok is false if there is a conflict.
func (s *site) plan(buckets []string, payload []entry) (next snapshot, changed, ok bool) {
	next = maps.Clone(s.head)
	maps.DeleteFunc(next, func(_ string, p paper) bool { return slices.Contains(buckets, p.bucket) })
	places := s.places
	for _, e := range payload {
		if _, taken := next[e.name]; taken {
			return nil, false, false // the name is in another bucket, or in the payload twice
		}
		p, was := s.head[e.name]
		if !was {
			places++
			p.place = places
		}
		if !was || p.bucket != e.bucket || p.data != e.data {
			p = paper{e.bucket, e.data, s.newest + 1, p.place}
		}
		next[e.name] = p
	}
	return next, !maps.Equal(next, s.head), true
}

// become makes a snapshot the next revision.
func (s *site) become(next snapshot) {
	for _, p := range next {
		s.places = max(s.places, p.place)
	}
	s.newest++
	s.head, s.history[s.newest] = next, next
}

// restored returns the newest documents after a rollback. A document that is equal and in the same place in both
// revisions is unchanged.
func (s *site) restored(target int) snapshot {
	next := snapshot{}
	for name, p := range s.history[target] {
		if now, is := s.head[name]; is && now.place == p.place && now.bucket == p.bucket && now.data == p.data {
			p.since = now.since
		} else {
			p.since = s.newest + 1
		}
		next[name] = p
	}
	return next
}

// prune deletes all revisions but the newest keep and those with tags.
func (s *site) prune(keep int) (gone []int) {
	left := slices.Sorted(maps.Keys(s.history))
	for _, revision := range left[:max(0, len(left)-keep)] {
		if len(s.tags[revision]) == 0 {
			gone = append(gone, revision)
			delete(s.history, revision)
		}
	}
	return gone
}

// diff compares the buckets of two snapshots.
func diff(older, newer snapshot) map[string]any {
	contents := func(s snapshot) map[string][]string {
		of := map[string][]string{}
		for name, p := range s {
			of[p.bucket] = append(of[p.bucket], fmt.Sprintf("%s=%d", name, p.data))
		}
		return of
	}
	before, after := contents(older), contents(newer)
	buckets := map[string]any{}
	for bucket := range before {
		buckets[bucket] = "deleted"
	}
	for bucket, documents := range after {
		slices.Sort(documents)
		slices.Sort(before[bucket])
		switch {
		case before[bucket] == nil:
			buckets[bucket] = "created"
		case slices.Equal(before[bucket], documents):
			buckets[bucket] = "unmodified"
		default:
			buckets[bucket] = "modified"
		}
	}
	return buckets
}

// write returns a payload as the body of a request.
func write(payload []entry) string {
	var body strings.Builder
	for _, e := range payload {
		body.WriteString(widget(e.name, fmt.Sprintf("{x: %d}", e.data)))
		fmt.Fprintf(&body, "status: {bucket: %s}\n", e.bucket)
	}
	return body.String()
}
