package authz

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// maxProblems is how many problems of a file are listed.
const maxProblems = 100

// problems are what is wrong with a file.
type problems struct {
	list []problem
	more int // that are not listed
}

type problem struct {
	line int
	err  error
}

// full tells whether one more would only be counted.
func (p *problems) full() bool { return len(p.list) >= maxProblems }

func (p *problems) add(line int, err error) {
	if p.full() {
		p.more++
		return
	}
	p.list = append(p.list, problem{line, err})
}

// addf adds what is wrong with a rule.
func (p *problems) addf(r *rule, format string, args ...any) {
	where := "rule " + quote(r.name)
	if r.place.line > 0 {
		where = fmt.Sprintf("line %d: %s", r.place.line, where)
	}
	p.add(r.place.line, fmt.Errorf("%s: %w", where, fmt.Errorf(format, args...)))
}

// err joins all in the order of the file; nil if there are none.
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

// each visits all rules in the order of their names, so that messages come in the same order every time.
func (r *reader) each(visit func(*rule)) {
	for _, name := range r.names(everyRule) {
		visit(r.rules[name])
	}
}

// names lists rules by name.
func (r *reader) names(wanted func(*rule) bool) (names []string) {
	for name, candidate := range r.rules {
		if wanted(candidate) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func everyRule(*rule) bool        { return true }
func registeredOnly(r *rule) bool { return r.registered }

// suggestion names the rule that somebody may have meant, with or without the prefix; "" if none is near.
func (r *reader) suggestion(name string, candidates func(*rule) bool) string {
	const prefix, longest = "deckhand:", 60 // comparing long names takes long, and nobody misspells them
	best, nearest := "", len(strings.TrimPrefix(name, prefix))/3+1
	for _, candidate := range r.names(candidates) {
		if max(len(name), len(candidate)) > longest || candidate == name {
			continue
		}
		d := distance(strings.TrimPrefix(name, prefix), strings.TrimPrefix(candidate, prefix))
		if d < nearest {
			best, nearest = candidate, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", quote(best))
}

// distance counts the bytes to add, remove or change that make one text of the other.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, diagonal+1, row[j]+1)
		}
	}
	return row[len(b)]
}
