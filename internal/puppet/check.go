package puppet

import (
	"fmt"
	"maps"
	"slices"

	"purser/internal/budget"
)

// Check returns the problems that an instance has with any catalog: unknown types and parameters, invalid values and
// titles, and exceptions that match nothing. It does not check entries that filters omit.
func Check(meter *budget.Meter, in Instance, types *Types) (Problems, error) {
	c := checker{types: types, used: map[string]bool{}, titles: map[string]bool{}}
	visit := func(e entry) error { return c.check(meter, e) }
	skip := func(ref Ref, _ string) { c.used[ref.Type], c.titles[ref.Title] = true, true }
	form, err := in.walk(meter, visit, skip)
	if err != nil {
		return Problems{}, err
	}
	found := NewProblems(form)
	found.Append(c.problems, 0)
	found.Append(NewProblems(c.exceptions(meter, &in)), 0)
	if in.Secret {
		found = found.secret()
	}
	return found, nil
}

// UsedTypes returns the canonical names of the types in the configuration, sorted.
func (in *Instance) UsedTypes() (names []string) {
	for _, typed := range in.configuration {
		if name, ok := canonical(typed.Key); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// checker checks the entries of one instance.
type checker struct {
	types        *Types
	used, titles map[string]bool // of the configuration
	problems     Problems
}

func (c *checker) check(meter *budget.Meter, e entry) error {
	c.used[e.Type], c.titles[e.Title] = true, true
	t := c.types.find(e.Type)
	if t == nil {
		c.problems.add(Problem{Path: e.path(""), Message: c.types.notFound(meter, e.typeKey, !c.problems.Full())})
		return nil
	}
	ref := Ref{e.Type, e.Title}
	problems, err := checkParameters(meter, t, ref, e, false)
	if err != nil {
		return err
	}
	for _, problem := range problems {
		c.problems.add(problem)
	}
	message, err := t.checkTitle(meter, ref, e.parameters)
	if err != nil {
		return err
	}
	if t.titles != nil && message != "" {
		c.problems.add(Problem{Path: e.path(""), Message: message, Secret: t.Secret})
	}
	excluded, err := t.excluded(meter, ref, e.parameters, false)
	for _, x := range excluded {
		c.problems.add(Problem{Path: e.path(""), Message: x.message(ref)})
	}
	return err
}

// exceptions returns a problem for each exception from create that matches nothing in the configuration.
func (c *checker) exceptions(meter *budget.Meter, in *Instance) (problems []Problem) {
	report := func(key string, names, used map[string]bool) {
		meter.Charge(candidateSteps * (len(used) + len(names)))
		candidates := slices.Sorted(maps.Keys(used))
		for _, name := range slices.Sorted(maps.Keys(names)) {
			if !used[name] {
				meter.Charge(problemSteps)
				hint := ""
				if len(problems) < maxProblems { // the others are only counted
					hint = didYouMean(meter, name, candidates)
				}
				problems = append(problems, Problem{
					Path:    in.paths[key],
					Message: fmt.Sprintf("The exception '%s' matches nothing in the configuration%s", name, hint),
				})
			}
		}
	}
	report(keyTypesException, in.options.typesExcept, c.used)
	report(keyTitlesException, in.options.titlesExc, c.titles)
	return problems
}
