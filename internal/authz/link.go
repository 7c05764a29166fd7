package authz

import (
	"fmt"
	"slices"
	"strings"
)

// link sets the rule of every reference.
func (b *builder) link() {
	b.each(func(from *rule) {
		missing := map[string]bool{}
		for _, reference := range from.references {
			name := reference.name
			if reference.rule = b.rules[name]; reference.rule == nil && !missing[name] && !b.problems.full() {
				missing[name] = true
				b.problems.addf(from, "refers to %s, which nobody knows%s", quote(name), b.suggestion(name, everyRule))
			}
		}
	})
}

// refuseUnused reports rules of the file that neither a route nor another rule uses. Most of them are misspelt.
func (b *builder) refuseUnused() {
	used := map[*rule]bool{}
	b.each(func(from *rule) {
		for _, reference := range from.references {
			if reference.rule != from {
				used[reference.rule] = true
			}
		}
	})
	b.each(func(unused *rule) {
		if !unused.registered && !used[unused] && unused.name != fallback {
			b.problems.addf(unused, "nobody knows this rule, and no other rule of the file refers to it%s",
				b.suggestion(unused.name, registeredOnly))
		}
	})
}

// refuseCycles reports rules that refer to themselves, directly or indirectly, and chains of references that are too
// long.
func (b *builder) refuseCycles() {
	w := walk{heights: map[*rule]int{}, problems: &b.problems}
	b.each(func(from *rule) { w.height(from) })
	b.each(func(from *rule) {
		if !w.circular && w.heights[from] == maxNesting+1 { // longer chains contain one of this length
			b.problems.addf(from, "refers to others over more than %d steps", maxNesting)
		}
	})
}

// walk visits the rules and their references depth first, each rule once.
type walk struct {
	heights  map[*rule]int // results of height
	path     []*rule       // rules from the first to the current one
	circular bool
	problems *problems
}

// height returns the number of rules in the longest chain of references from a rule, including it.
func (w *walk) height(from *rule) int {
	if height, done := w.heights[from]; done {
		return height
	}
	w.path = append(w.path, from)
	height := 0
	for _, to := range next(from) {
		if i := slices.Index(w.path, to); i >= 0 {
			w.refuse(w.path[i:])
			continue
		}
		height = max(height, w.height(to))
	}
	w.path = w.path[:len(w.path)-1]
	w.heights[from] = height + 1
	return height + 1
}

// refuse reports a cycle at its first rule that is in the file. The defaults alone have no cycle.
func (w *walk) refuse(cycle []*rule) {
	w.circular = true
	first := max(0, slices.IndexFunc(cycle, func(r *rule) bool { return r.location.line > 0 }))
	cycle = slices.Concat(cycle[first:], cycle[:first])
	w.problems.addf(cycle[0], "refers to itself: %s", formatCycle(cycle))
}

// next returns the rules that a rule refers to, without duplicates.
func next(from *rule) (rules []*rule) {
	seen := map[*rule]bool{nil: true}
	for _, reference := range from.references {
		if !seen[reference.rule] {
			seen[reference.rule] = true
			rules = append(rules, reference.rule)
		}
	}
	return rules
}

// formatCycle formats a cycle as names with arrows between them and omits the middle of a long one.
func formatCycle(cycle []*rule) string {
	const maxNames = 10
	names := make([]string, 0, maxNames+1)
	for i, r := range cycle {
		if i < maxNames || i == len(cycle)-1 {
			names = append(names, r.name)
		} else if i == maxNames {
			names = append(names, fmt.Sprintf("(%d more)", len(cycle)-1-maxNames))
		}
	}
	return strings.Join(append(names, cycle[0].name), " -> ")
}
