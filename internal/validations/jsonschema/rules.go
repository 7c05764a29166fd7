package jsonschema

import (
	"math"

	"purser/internal/regex"
)

// objectRules are the keywords that apply schemas to the members of an object.
type objectRules struct {
	properties  propertySet
	patterns    []patternRule
	additional  *node // nil if the keyword is absent or a boolean
	closed      bool  // additionalProperties is false
	isComplete  bool  // additionalProperties is set, so every member is evaluated
	names       *node
	unevaluated *node
}

// arrayRules are the keywords that apply schemas to the items of an array.
type arrayRules struct {
	prefix             []*node
	prefixKeyword      string
	additional         *node // of additionalItems; nil if the keyword is absent or a boolean
	afterPrefix        *node // of the items after the prefix; nil if the keyword is absent or a boolean
	afterPrefixKeyword string
	closed             bool // no items are allowed after the prefix
	isComplete         bool // every item is evaluated
	contains           *node
	least, most        int // bounds of the number of items that match contains
	hasLeast           bool
	marksContained     bool // items that match contains are evaluated
	unevaluated        *node
}

// combinators are the keywords that apply schemas to the value itself.
type combinators struct {
	allOf, anyOf, oneOf []*node
	not                 *node
	cond, then, other   *node // if, then and else
	dependents          []dependent
}

// forObjects returns the rules for objects. It creates them if there are none.
func (r *rules) forObjects() *objectRules {
	if r.objects == nil {
		r.objects = &objectRules{}
	}
	return r.objects
}

// forArrays returns the rules for arrays. It creates them if there are none.
func (r *rules) forArrays() *arrayRules {
	if r.arrays == nil {
		r.arrays = &arrayRules{most: math.MaxInt}
	}
	return r.arrays
}

// forValue returns the rules for the value itself. It creates them if there are none.
func (r *rules) forValue() *combinators {
	if r.inPlace == nil {
		r.inPlace = &combinators{}
	}
	return r.inPlace
}

func addTo(list *[]*node, e edge) { *list = append(*list, e.to) }

func (r *rules) addPattern(e edge) {
	o := r.forObjects()
	o.patterns = append(o.patterns, patternRule{e.pattern, e.name, e.to})
}

func (r *rules) addPrefix(e edge) {
	a := r.forArrays()
	a.prefix, a.prefixKeyword = append(a.prefix, e.to), e.keyword
}

// addItems adds a schema of items, which is for one item if the keyword has a list, as it may before 2020-12.
func (r *rules) addItems(e edge) {
	if e.name != "" {
		r.addPrefix(e)
		return
	}
	a := r.forArrays()
	a.afterPrefix, a.afterPrefixKeyword = e.to, e.keyword
}

func (r *rules) addDependent(e edge) {
	c := r.forValue()
	c.dependents = append(c.dependents, dependent{e.keyword, e.name, e.to})
}

// close reads the booleans of additionalProperties, additionalItems and items, which are not schemas of their own, and
// what depends on several keywords, which may be in any order.
func (n *node) close() {
	if held, ok := n.members.Lookup("additionalProperties"); ok {
		o := n.forObjects()
		o.closed, o.isComplete = held == false, true
	}
	if n.arrays == nil {
		return
	}
	a := n.arrays
	if held, ok := n.members.Lookup("additionalItems"); ok && a.prefixKeyword == "items" {
		a.afterPrefix, a.afterPrefixKeyword, a.closed = a.additional, "additionalItems", held == false
	}
	if a.afterPrefix != nil && a.afterPrefix.isFalse && a.prefixKeyword == "prefixItems" {
		a.closed, a.afterPrefix = true, nil
	}
	a.isComplete = a.isComplete || a.afterPrefixKeyword != ""
	a.marksContained = n.draft().atLeast(draft2020)
	a.least = 1
	if n.draft().atLeast(draft2019) {
		if held, ok := n.members.Lookup("minContains"); ok {
			a.least, a.hasLeast = countOf(held), true
		}
		if held, ok := n.members.Lookup("maxContains"); ok {
			a.most = countOf(held)
		}
	}
}

// tracks reports whether the schema depends on the items and properties evaluated by others.
func (n *node) tracks() bool {
	return n.objects != nil && n.objects.unevaluated != nil || n.arrays != nil && n.arrays.unevaluated != nil
}

// accepts returns the types that the root of the schema allows.
func (n *node) accepts() types {
	for range maxSteps {
		if n.types != 0 || n.ref == nil || n.ref.to == nil {
			break
		}
		n = n.ref.to
	}
	return n.types
}

// propertySet maps names of properties to schemas.
type propertySet struct {
	list  []property
	index map[string]*node // nil if a linear search is as fast
}

type property struct {
	name string
	to   *node
}

// fewProperties is the number of properties up to which a linear search is used.
const fewProperties = 8

func (s *propertySet) add(name string, to *node) {
	s.list = append(s.list, property{name, to})
	switch {
	case s.index != nil:
		s.index[name] = to
	case len(s.list) > fewProperties:
		s.index = make(map[string]*node, 2*len(s.list))
		for _, p := range s.list {
			s.index[p.name] = p.to
		}
	}
}

// find returns the schema of a property, or nil.
func (s *propertySet) find(name string) *node {
	if s.index != nil {
		return s.index[name]
	}
	for i := range s.list {
		if s.list[i].name == name {
			return s.list[i].to
		}
	}
	return nil
}

// patternRule is a member of patternProperties.
type patternRule struct {
	pattern *regex.Expression
	name    string
	to      *node
}

// dependent is a schema that applies if a key is present.
type dependent struct {
	keyword, name string
	to            *node
}
