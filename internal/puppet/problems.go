package puppet

import (
	"fmt"
	"slices"
)

// Problems are the problems of one or several instances: at most maxProblems that depend on a secret and as many
// others, and the number of further ones of each kind. So the others reveal nothing of the secret ones.
type Problems struct {
	List       []Problem
	kept, more [2]int // of those that depend on no secret, and of secret ones: in List, and others
}

// kind is the index of a problem's kind in kept and more.
func (p Problem) kind() int {
	if p.Secret {
		return 1
	}
	return 0
}

// NewProblems returns the problems of a list.
func NewProblems(list []Problem) (l Problems) {
	for _, problem := range list {
		l.add(problem)
	}
	return l
}

// Full reports whether further problems that depend on no secret are only counted.
func (l *Problems) Full() bool { return l.kept[0] >= maxProblems }

func (l *Problems) add(problem Problem) {
	of := problem.kind()
	if l.kept[of] >= maxProblems {
		l.more[of]++
		return
	}
	l.kept[of]++
	l.List = append(l.List, problem)
}

// Append appends the problems of the instance at a position.
func (l *Problems) Append(others Problems, instance int) {
	for _, problem := range others.List {
		problem.Instance = instance
		l.add(problem)
	}
	for of, more := range others.more {
		l.more[of] += more
	}
}

// secret returns the problems of a secret instance.
func (l *Problems) secret() Problems {
	all := slices.Clone(l.List)
	for i := range all {
		all[i].Secret = true
	}
	made := NewProblems(all)
	made.more[1] += l.more[0] + l.more[1]
	return made
}

// Counted returns the problems without texts, to be appended to others that are Full. One of each kind remains.
func (l *Problems) Counted() Problems {
	counted := Problems{more: l.more}
	for _, problem := range l.List {
		if of := problem.kind(); counted.kept[of] > 0 {
			counted.more[of]++
			continue
		}
		counted.add(Problem{Secret: problem.Secret})
	}
	return counted
}

// All returns the problems. The message of the last one of each kind states how many were omitted.
func (l *Problems) All() []Problem {
	all := slices.Clone(l.List)
	more := l.more
	for i := range slices.Backward(all) {
		if of := all[i].kind(); more[of] > 0 {
			all[i].Message = fmt.Sprintf("%s (and %d more)", all[i].Message, more[of])
			more[of] = 0
		}
	}
	return all
}
