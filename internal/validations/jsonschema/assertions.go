package jsonschema

import (
	"encoding/json"
	"math"
	"math/big"
	"net/url"
	"strconv"
	"strings"
)

// assertions are the keywords of a schema that judge a value without another schema. They are evaluated here and not by
// the library, so that what they take and the errors that they make are counted; and
//
//	type                as Python has it: the library takes 1.0 as an integer, and leaves a schema whose type is wrong
//	enum, uniqueItems   in time that is in proportion to the value: the library compares each with each
type assertions struct {
	types   []string
	enum    *enumeration
	pattern *pattern

	minimum, maximum, multipleOf       *big.Rat
	exclusiveMinimum, exclusiveMaximum bool

	length, items, properties bounds
	unique                    bool
	tuple                     int // items that are allowed; negative if any
	required                  []string
	dependencies              []dependency
	closed                    *closed
}

// bounds are how few and how many characters, items or members there may be.
type bounds struct{ min, max int }

// dependency is a list of keys that a key asks for.
type dependency struct {
	path string // within the schema, as the library writes it
	key  string
	asks []string
}

// closed is additionalProperties: false.
type closed struct {
	named    map[string]bool
	patterns []*pattern
}

// read reads the keywords of n, which satisfies the metaschema.
func (a *assertions) read(w work, n *node) {
	a.types, a.tuple = typesOf(n), -1
	if v := n.raw.member("enum"); v != nil {
		a.enum = newEnumeration(w, v)
	}
	a.minimum, a.exclusiveMinimum = limit(n, "minimum"), holds(n, "exclusiveMinimum")
	a.maximum, a.exclusiveMaximum = limit(n, "maximum"), holds(n, "exclusiveMaximum")
	a.multipleOf = limit(n, "multipleOf")
	a.length = boundsOf(n, "minLength", "maxLength")
	a.items = boundsOf(n, "minItems", "maxItems")
	a.properties = boundsOf(n, "minProperties", "maxProperties")
	a.unique = holds(n, "uniqueItems")
	if items := n.raw.member("items"); items != nil && items.kind == array && denies(n, "additionalItems") {
		a.tuple = len(items.items)
	}
	if v := n.raw.member("required"); v != nil {
		a.required = texts(v)
	}
	if v := n.raw.member("dependencies"); v != nil {
		a.dependencies = dependenciesOf(v)
	}
	if denies(n, "additionalProperties") {
		a.closed = closedBy(n)
	}
}

func holds(n *node, keyword string) bool {
	v := n.raw.member(keyword)
	return v != nil && v.kind == boolean && v.text == "true"
}

func denies(n *node, keyword string) bool {
	v := n.raw.member(keyword)
	return v != nil && v.kind == boolean && v.text == "false"
}

func texts(list *value) []string {
	all := make([]string, len(list.items))
	for i, item := range list.items {
		all[i] = item.text
	}
	return all
}

func typesOf(n *node) []string {
	v := n.raw.member("type")
	switch {
	case v == nil:
		return nil
	case v.kind == text:
		return []string{v.text}
	}
	return texts(v)
}

func limit(n *node, keyword string) *big.Rat {
	v := n.raw.member(keyword)
	if v == nil {
		return nil
	}
	return rational(bounded(json.Number(v.text)))
}

func boundsOf(n *node, minimum, maximum string) bounds {
	read := func(keyword string, missing int) int {
		v := n.raw.member(keyword)
		if v == nil {
			return missing
		}
		if i, err := strconv.Atoi(v.text); err == nil {
			return i
		}
		return math.MaxInt // it has too many digits
	}
	return bounds{read(minimum, 0), read(maximum, math.MaxInt)}
}

func dependenciesOf(v *value) (all []dependency) {
	for i, key := range v.keys {
		if asked := v.items[i]; asked.kind == array {
			all = append(all, dependency{"dependencies/" + escape(key), key, texts(asked)})
		}
	}
	return all
}

func closedBy(n *node) *closed {
	c := &closed{named: make(map[string]bool)}
	for i := range n.edges {
		switch e := &n.edges[i]; e.keyword {
		case "properties":
			c.named[e.name] = true
		case "patternProperties":
			c.patterns = append(c.patterns, e.pattern)
		}
	}
	return c
}

// knows reports whether the property is no additional one.
func (c *closed) knows(w work, name string) bool {
	w.spend(lookupSteps + len(name)/keyBytes)
	if c.named[name] {
		return true
	}
	for _, p := range c.patterns {
		if w.matches(p, name) {
			return true
		}
	}
	return false
}

// escape writes a key as the library writes it in a path.
func escape(key string) string {
	return url.PathEscape(strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1"))
}
