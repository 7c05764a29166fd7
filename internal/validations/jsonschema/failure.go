package jsonschema

import (
	"cmp"
	"math/bits"
	"slices"
	"strconv"
)

// step is one step of a path in the data or in the schema.
type step struct {
	name  string
	index int
	kind  stepKind
}

type stepKind uint8

const (
	isName stepKind = iota
	isIndex
	isRef // a reference was followed
)

func named(name string) step { return step{name: name} }

func indexed(i int) step { return step{index: i, kind: isIndex} }

func (s step) String() string {
	if s.kind == isIndex {
		return strconv.Itoa(s.index)
	}
	return s.name
}

// compare orders steps as strings, and numeric ones by value.
func (s step) compare(other step) int {
	if s.kind == isIndex && other.kind == isIndex {
		return cmp.Compare(s.index, other.index)
	}
	a, b := s.String(), other.String()
	if a == b {
		return 0
	}
	i, err := strconv.Atoi(a)
	j, err2 := strconv.Atoi(b)
	if err == nil && err2 == nil && i != j {
		return cmp.Compare(i, j)
	}
	return cmp.Compare(a, b)
}

func compareSteps(a, b []step) int { return slices.CompareFunc(a, b, step.compare) }

// failure is a violation of a keyword by a value.
type failure struct {
	node    *node  // the schema
	keyword string // its keyword; "" if the schema is false
	value   any
	data    []step // the path of the value
	route   []step // the path of the keyword, including references
	scope   []*resource
	names   []step // the path after the keyword: the property and the index in dependencies
	extras  []any  // details for the message: the items or names that are not allowed, or a dependency
	note    string // a detail as text
	added   *Violation
	count   int // number of findings; 0 is one
}

// order orders violations by their path in the data, then by keyword.
func (v *failure) order(other *failure) int {
	return cmp.Or(compareSteps(v.data, other.data), compareSteps(v.route, other.route))
}

// selection holds the violations that will be described: the first ones in order, each counting as at least one
// finding.
type selection struct {
	first []failure
	total int // number of findings of all violations
}

// add records a violation at the current place, unless violations are not needed. It follows equal ones, which
// preserves the order of those of an extension's keyword.
func (c *run) add(v failure) {
	if c.quiet > 0 {
		return
	}
	c.found.total += max(1, v.count)
	steps := placeSteps * (2 + len(c.data) + len(c.route))
	c.spend(errorSteps + steps)
	data, route := c.data, c.route
	c.route = append(c.route, named(v.keyword))
	c.route = append(c.route, v.names...)
	v.data, v.route = c.data, c.route
	c.route = route
	if len(c.found.first) == maxFindings {
		if v.order(&c.found.first[maxFindings-1]) >= 0 {
			return
		}
		c.found.first = c.found.first[:maxFindings-1]
	}
	c.spend(bits.Len(maxFindings)*steps + len(c.data) + len(c.route))
	v.data, v.route, v.scope = slices.Clone(data), slices.Clone(v.route), slices.Clone(c.scope)
	at, _ := slices.BinarySearchFunc(c.found.first, v, func(other, v failure) int {
		return cmp.Or(other.order(&v), -1)
	})
	c.found.first = slices.Insert(c.found.first, at, v)
}
