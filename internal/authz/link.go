package authz

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"purser/internal/words"
)

// refuseUnknown reports references to rules that do not exist.
func (b *builder) refuseUnknown() {
	for _, from := range b.byName() {
		for _, name := range from.references {
			if b.rules[name] == nil && !b.problems.full() {
				b.problems.addf(from, "refers to %s, which does not exist%s", quote(name), b.suggestion(name, false))
			}
		}
	}
}

// refuseUnused reports rules of the file that neither a route nor another rule uses. Most of them are misspelt.
func (b *builder) refuseUnused() {
	used := map[string]bool{fallback: true}
	for _, from := range b.rules {
		for _, name := range from.references {
			used[name] = used[name] || name != from.name
		}
	}
	for _, unused := range b.byName() {
		if !unused.registered && !used[unused.name] {
			b.problems.addf(unused, "no operation has this rule, and no other rule of the file refers to it%s",
				b.suggestion(unused.name, true))
		}
	}
}

// refuseCycles reports rules that refer to themselves, directly or indirectly, and chains of references that are too
// long. It visits the rules and their references depth first, each rule once.
func (b *builder) refuseCycles() {
	heights, circular := map[*rule]int{}, false // heights: the rules in the longest chain from a rule, including it
	var path []*rule
	var visit func(from *rule) int
	visit = func(from *rule) int {
		if height, done := heights[from]; done {
			return height
		}
		path = append(path, from)
		height := 0
		for _, name := range from.references {
			to := b.rules[name]
			if i := slices.Index(path, to); i >= 0 {
				circular = true
				b.refuseCycle(path[i:])
			} else if to != nil {
				height = max(height, visit(to))
			}
		}
		path = path[:len(path)-1]
		heights[from] = height + 1
		return height + 1
	}
	rules := b.byName()
	for _, from := range rules {
		visit(from)
	}
	for _, from := range rules {
		if !circular && heights[from] == maxNesting+1 { // longer chains contain one of this length
			b.problems.addf(from, "refers to others over more than %d steps", maxNesting)
		}
	}
}

// refuseCycle reports a cycle at its first rule that is in the file, and omits the middle of a long one. The defaults
// alone have no cycle.
func (b *builder) refuseCycle(cycle []*rule) {
	const maxNames = 10
	first := max(0, slices.IndexFunc(cycle, func(r *rule) bool { return r.location.line > 0 }))
	cycle = slices.Concat(cycle[first:], cycle[:first])
	names := make([]string, 0, maxNames+1)
	for i, r := range cycle {
		if i < maxNames || i == len(cycle)-1 {
			names = append(names, r.name)
		} else if i == maxNames {
			names = append(names, fmt.Sprintf("(%d more)", len(cycle)-1-maxNames))
		}
	}
	b.problems.addf(cycle[0], "refers to itself: %s", strings.Join(append(names, cycle[0].name), " -> "))
}

// byName returns all rules in the order of their names, so that messages have a fixed order.
func (b *builder) byName() []*rule {
	return slices.SortedFunc(maps.Values(b.rules), func(x, y *rule) int { return strings.Compare(x.name, y.name) })
}

// ordered returns the rules in the order of Policy.order.
func (b *builder) ordered() (order []*rule) {
	for _, known := range registered {
		order = append(order, b.rules[known.Name])
	}
	return append(order, slices.DeleteFunc(b.byName(), func(r *rule) bool { return r.registered })...)
}

// suggestion returns a question for the rule with the most similar name, among all or only the registered ones,
// disregarding the prefix deckhand:, or "" if none is similar.
func (b *builder) suggestion(name string, onlyRegistered bool) string {
	const prefix = "deckhand:"
	full := map[string]string{}
	var short []string
	for _, candidate := range b.byName() {
		if candidate.name != name && (candidate.registered || !onlyRegistered) {
			trimmed := strings.TrimPrefix(candidate.name, prefix)
			full[trimmed], short = candidate.name, append(short, trimmed)
		}
	}
	best := words.Nearest(strings.TrimPrefix(name, prefix), short)
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", quote(full[best]))
}

// maxProblems bounds the problems that are listed for one file.
const maxProblems = 100

// problems collects the problems of a file.
type problems struct {
	list []problem
	more int // problems that are not in the list
}

type problem struct {
	line int
	err  error
}

// full reports whether further problems are only counted.
func (p *problems) full() bool { return len(p.list) >= maxProblems }

func (p *problems) add(line int, err error) {
	if p.full() {
		p.more++
		return
	}
	p.list = append(p.list, problem{line, err})
}

// addf adds a problem of a rule, with its line.
func (p *problems) addf(r *rule, format string, args ...any) {
	where := "rule " + quote(r.name)
	if r.location.line > 0 {
		where = fmt.Sprintf("line %d: %s", r.location.line, where)
	}
	p.add(r.location.line, fmt.Errorf("%s: %w", where, fmt.Errorf(format, args...)))
}

// err joins the problems in the order of the file. It returns nil if there are none.
func (p *problems) err() error {
	slices.SortStableFunc(p.list, func(a, b problem) int { return cmp.Compare(a.line, b.line) })
	errs := make([]error, 0, len(p.list)+1)
	for _, found := range p.list {
		errs = append(errs, found.err)
	}
	if p.more > 0 {
		errs = append(errs, fmt.Errorf("and %d more", p.more))
	}
	return errors.Join(errs...)
}
