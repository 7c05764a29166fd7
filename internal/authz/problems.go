package authz

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"purser/internal/words"
)

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

// each calls visit for all rules in the order of their names, so that messages have a fixed order.
func (b *builder) each(visit func(*rule)) {
	for _, name := range b.names(everyRule) {
		visit(b.rules[name])
	}
}

// names returns the names of the rules for which wanted returns true, sorted.
func (b *builder) names(wanted func(*rule) bool) (names []string) {
	for name, candidate := range b.rules {
		if wanted(candidate) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func everyRule(*rule) bool        { return true }
func registeredOnly(r *rule) bool { return r.registered }

// suggestion returns a question for the rule with the most similar name, disregarding the prefix deckhand:, or "" if
// none is similar.
func (b *builder) suggestion(name string, candidates func(*rule) bool) string {
	const prefix = "deckhand:"
	full := map[string]string{}
	var short []string
	for _, candidate := range b.names(candidates) {
		if candidate != name {
			trimmed := strings.TrimPrefix(candidate, prefix)
			full[trimmed], short = candidate, append(short, trimmed)
		}
	}
	best := words.Nearest(strings.TrimPrefix(name, prefix), short)
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", quote(full[best]))
}
