package authz

import (
	"fmt"
	"slices"
	"strings"
)

// link leads every reference to the rule that it names.
func (r *reader) link() {
	r.each(func(from *rule) {
		missing := map[string]bool{}
		for _, reference := range from.references {
			name := reference.name
			if reference.rule = r.rules[name]; reference.rule == nil && !missing[name] && !r.problems.full() {
				missing[name] = true
				r.problems.addf(from, "refers to %s, which nobody knows%s", quote(name), r.suggestion(name, everyRule))
			}
		}
	})
}

// refuseStrangers finds rules of the file that no route and no other rule asks about, which are mostly misspelt.
func (r *reader) refuseStrangers() {
	asked := map[*rule]bool{}
	r.each(func(from *rule) {
		for _, reference := range from.references {
			if reference.rule != from {
				asked[reference.rule] = true
			}
		}
	})
	r.each(func(stranger *rule) {
		if !stranger.registered && !asked[stranger] && stranger.name != fallback {
			r.problems.addf(stranger, "nobody knows this rule, and no other rule of the file refers to it%s",
				r.suggestion(stranger.name, registeredOnly))
		}
	})
}

// refuseCircles finds rules that refer to themselves by way of others, and chains that are too long to follow.
func (r *reader) refuseCircles() {
	w := walk{heights: map[*rule]int{}, problems: &r.problems}
	r.each(func(from *rule) { w.height(from) })
	r.each(func(from *rule) {
		if !w.circular && w.heights[from] == maxNesting+1 { // those beyond refer to one of these
			r.problems.addf(from, "refers to others over more than %d steps", maxNesting)
		}
	})
}

// walk goes down the references of rules, each rule once.
type walk struct {
	heights  map[*rule]int // of the chain below a rule that has been walked
	path     []*rule       // to where the walk is
	circular bool
	problems *problems
}

// height is how many rules the longest chain from here on has.
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

// refuse reports a circle at the first of its rules that stands in the file; defaults alone make none.
func (w *walk) refuse(way []*rule) {
	w.circular = true
	first := max(0, slices.IndexFunc(way, func(r *rule) bool { return r.place.line > 0 }))
	way = slices.Concat(way[first:], way[:first])
	w.problems.addf(way[0], "refers to itself: %s", circle(way))
}

// next lists the rules that a rule refers to, each once.
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

// circle writes a way from the first rule back to it; the middle of a long one is left out.
func circle(way []*rule) string {
	const most = 10
	names := make([]string, 0, most+1)
	for i, r := range way {
		if i < most || i == len(way)-1 {
			names = append(names, r.name)
		} else if i == most {
			names = append(names, fmt.Sprintf("(%d more)", len(way)-1-most))
		}
	}
	return strings.Join(append(names, way[0].name), " -> ")
}
