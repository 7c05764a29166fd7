package jsonschema

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// state returns the state of a value that the given schemas apply to.
func (m *meter) state(entry []meeting) int {
	entry = merge(entry)
	key := stateKey(entry)
	if id, ok := m.known[key]; ok {
		return id
	}
	id := len(m.states)
	m.known[key] = id
	s := state{entry: entry}
	for _, e := range m.expand(entry) {
		s.cost.add(e.node.alone, e.times)
	}
	m.states = append(m.states, s)
	return id
}

// after returns the states that follow one.
func (m *meter) after(id int) []int {
	if m.effort > maxEffort {
		return nil
	}
	if !m.states[id].expanded {
		next := m.follow(m.expand(m.states[id].entry))
		slices.Sort(next)
		m.states[id].next, m.states[id].expanded = slices.Compact(next), true
	}
	return m.states[id].next
}

// merge adds up the meetings of the same schema.
func merge(entry []meeting) []meeting {
	entry = slices.Clone(entry)
	slices.SortFunc(entry, func(a, b meeting) int { return cmp.Compare(a.node.id, b.node.id) })
	out := entry[:0]
	for _, e := range entry {
		if last := len(out) - 1; last >= 0 && out[last].node == e.node {
			out[last].times += e.times
		} else {
			out = append(out, e)
		}
	}
	return out
}

func stateKey(entry []meeting) string {
	var b strings.Builder
	for _, e := range entry {
		fmt.Fprintf(&b, "%d*%g ", e.node.id, e.times)
	}
	return b.String()
}

// expand adds all schemas that the given ones evaluate against the same value.
func (m *meter) expand(entry []meeting) []meeting {
	times := make(map[*node]float64, len(entry))
	var found []*node
	var reach func(n *node)
	reach = func(n *node) {
		m.effort++
		if _, ok := times[n]; ok || m.effort > maxEffort {
			return
		}
		times[n] = 0
		found = append(found, n)
		n.eachInPlace(func(to *node, _ bool) { reach(to) })
	}
	for _, e := range entry {
		reach(e.node)
		times[e.node] += e.times
	}
	slices.SortFunc(found, func(a, b *node) int { return cmp.Compare(b.rank, a.rank) })
	all := make([]meeting, len(found))
	for i, n := range found {
		all[i] = meeting{n, times[n]}
		n.eachInPlace(func(to *node, _ bool) { times[to] += times[n] })
	}
	return all
}

// follow returns the states of the members and the items of a value at which the given schemas meet.
func (m *meter) follow(all []meeting) []int {
	var next []int
	add := func(entry []meeting) {
		if m.effort += 1 + len(entry); len(entry) > 0 && m.effort <= maxEffort {
			next = append(next, m.state(entry))
		}
	}
	names, open := m.properties(all)
	for name, entry := range names {
		if m.effort += len(open); m.effort > maxEffort {
			return nil
		}
		for _, e := range open {
			entry = append(entry, e.at(name)...)
		}
		add(entry)
	}
	var other []meeting
	for _, e := range open {
		other = append(other, e.elsewhere()...)
	}
	add(other)
	m.items(all, add)
	return next
}

// properties returns what the schemas say of each property that one of them names, and those that say something of
// properties they do not name.
func (m *meter) properties(all []meeting) (map[string][]meeting, []opening) {
	names := make(map[string][]meeting)
	var open []opening
	for _, e := range all {
		o := opening{meeting: e}
		for i := range e.node.edges {
			m.effort++
			edge := &e.node.edges[i]
			if o.read(edge); edge.keyword == "properties" {
				names[edge.name] = append(names[edge.name], meeting{edge.to, e.times})
			}
		}
		if o.additional != nil || o.patterns != nil {
			open = append(open, o)
		}
	}
	return names, open
}

// opening is a schema that says something of properties it does not name.
type opening struct {
	meeting
	named      map[string]bool
	patterns   []*regexp.Regexp
	matched    []*node // by pattern
	additional *node
}

// read takes in one edge of the schema.
func (o *opening) read(e *edge) {
	switch e.keyword {
	case "properties":
		if o.named == nil {
			o.named = make(map[string]bool)
		}
		o.named[e.name] = true
	case "patternProperties":
		o.patterns = append(o.patterns, e.pattern.compiled)
		o.matched = append(o.matched, e.to)
	case "additionalProperties":
		o.additional = e.to
	}
}

// knows says whether the property name is no additional one.
func (o *opening) knows(name string) bool {
	return o.named[name] || slices.ContainsFunc(o.patterns, func(p *regexp.Regexp) bool { return p.MatchString(name) })
}

// at returns what the schema says of the property name beyond naming it.
func (o *opening) at(name string) []meeting {
	var said []meeting
	for i, p := range o.patterns {
		if p.MatchString(name) {
			said = append(said, meeting{o.matched[i], o.times})
		}
	}
	if len(said) == 0 && o.additional != nil && !o.named[name] {
		said = append(said, meeting{o.additional, o.times})
	}
	return said
}

// elsewhere returns what it can say at most of a property that no schema names: a key that matches all patterns is
// taken to exist.
func (o *opening) elsewhere() []meeting {
	var said []meeting
	for _, n := range o.matched {
		said = append(said, meeting{n, o.times})
	}
	if o.additional != nil {
		said = append(said, meeting{o.additional, o.times})
	}
	return said
}

// items adds the state of each item that some schema treats on its own, and of all beyond.
func (m *meter) items(all []meeting, add func([]meeting)) {
	longest := 0
	for _, e := range all {
		longest = max(longest, e.node.tuple())
	}
	for i := range longest + 1 {
		if m.effort += len(all); m.effort > maxEffort {
			return
		}
		var entry []meeting
		for _, e := range all {
			if to := e.node.item(i); to != nil {
				entry = append(entry, meeting{to, e.times})
			}
		}
		add(entry)
	}
}

// tuple is how many items the schema treats each on its own.
func (n *node) tuple() int {
	if v := n.raw.member("items"); v != nil && v.kind == array {
		return len(v.items)
	}
	return 0
}

// item returns the schema of the item at i, or nil.
func (n *node) item(i int) *node {
	if n.ref != nil {
		return nil
	}
	if to := n.child("items", ""); to != nil {
		return to
	}
	if i < n.tuple() {
		return n.child("items", strconv.Itoa(i))
	}
	if n.tuple() > 0 {
		return n.child("additionalItems", "")
	}
	return nil
}
