package puppet

import (
	"fmt"
	"slices"
)

// Problems are the first problems of one or several instances, at most maxProblems, and the number of the others.
type Problems struct {
	List []Problem
	More int
}

// NewProblems returns the problems of a list.
func NewProblems(list []Problem) (l Problems) {
	for _, problem := range list {
		l.add(problem)
	}
	return l
}

// Full reports whether further problems are only counted.
func (l *Problems) Full() bool { return len(l.List) >= maxProblems }

func (l *Problems) add(problem Problem) {
	if l.Full() {
		l.List[maxProblems-1].Secret = l.List[maxProblems-1].Secret || problem.Secret
		l.More++
		return
	}
	l.List = append(l.List, problem)
}

// Append appends the problems of the instance at a position.
func (l *Problems) Append(others Problems, instance int) {
	for _, problem := range others.List {
		problem.Instance = instance
		l.add(problem)
	}
	l.More += others.More
}

// Counted returns the problems without texts, to be appended to others that are Full.
func (l *Problems) Counted() Problems {
	if len(l.List) == 0 {
		return *l
	}
	isSecret := func(problem Problem) bool { return problem.Secret }
	return Problems{[]Problem{{Secret: slices.ContainsFunc(l.List, isSecret)}}, l.More + len(l.List) - 1}
}

// All returns the problems. The message of the last one states how many were omitted.
func (l *Problems) All() []Problem {
	if l.More == 0 {
		return l.List
	}
	all := slices.Clone(l.List)
	last := &all[len(all)-1]
	last.Message = fmt.Sprintf("%s (and %d more)", last.Message, l.More)
	return all
}
