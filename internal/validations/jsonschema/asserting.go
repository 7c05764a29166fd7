package jsonschema

import (
	"unicode/utf8"

	"purser/internal/document"
)

// assert evaluates the assertions.
func (e *evaluation) assert(a *assertions) {
	if a.enum != nil && !a.enum.has(e.work, e.value) {
		e.fail("enum", 1)
	}
	if a.constant != nil && !a.constant.has(e.work, e.value) {
		e.fail("const", 1)
	}
	switch v := e.value.(type) {
	case string:
		e.string(a, v)
	case document.Number:
		e.number(a, v)
	case []any:
		e.within(len(v), a.items, "minItems", "maxItems")
		if a.unique && !areUnique(e.work, v) {
			e.fail("uniqueItems", 1)
		}
	case mapping:
		e.within(len(v), a.properties, "minProperties", "maxProperties")
		e.required(a, v)
	}
	if a.format != nil && !a.format(e.value) {
		e.fail("format", 1)
	}
}

// within evaluates a lower and an upper bound.
func (e *evaluation) within(n int, b bounds, least, most string) {
	if n < b.min {
		e.fail(least, 1)
	}
	if n > b.max {
		e.fail(most, 1)
	}
}

func (e *evaluation) string(a *assertions, v string) {
	if a.length.holds() {
		e.spend(len(v))
		e.within(utf8.RuneCountInString(v), a.length, "minLength", "maxLength")
	}
	if a.pattern != nil && !e.matches(a.pattern, v) {
		e.fail("pattern", 1)
	}
	if a.format != nil {
		e.spend(formatSteps + len(v)*formatByte)
	}
}

func (e *evaluation) number(a *assertions, v document.Number) {
	if !a.numeric {
		return
	}
	e.spend(4 * numberSteps)
	if !isInteger(v) {
		e.spend(4 * powerSteps)
	}
	n := numberOf(v)
	if a.minimum != nil && n.compare(*a.minimum) < 0 {
		e.fail("minimum", 1)
	}
	if a.maximum != nil && n.compare(*a.maximum) > 0 {
		e.fail("maximum", 1)
	}
	if a.exclusiveMinimum != nil && n.compare(*a.exclusiveMinimum) <= 0 {
		e.fail("exclusiveMinimum", 1)
	}
	if a.exclusiveMaximum != nil && n.compare(*a.exclusiveMaximum) >= 0 {
		e.fail("exclusiveMaximum", 1)
	}
	if a.multipleOf != nil && !n.isMultipleOf(*a.multipleOf) {
		e.fail("multipleOf", 1)
	}
}

func (e *evaluation) required(a *assertions, m mapping) {
	if a.required == nil && a.dependencies == nil {
		return
	}
	keys := e.keys(m, len(a.required)+len(a.dependencies))
	missing := 0
	for _, key := range a.required {
		if e.spend(lookupSteps + len(key)/keyBytes); !keys.has(key) {
			missing++
		}
	}
	if missing > 0 {
		e.fail("required", missing)
	}
	for _, d := range a.dependencies {
		if e.spend(lookupSteps); !keys.has(d.key) {
			continue
		}
		for i, key := range d.asks {
			if e.spend(lookupSteps + len(key)/keyBytes); !keys.has(key) {
				e.ok = false
				e.add(violation{
					node: e.node, keyword: d.keyword, value: e.value, count: 1,
					names: []step{named(d.key), indexed(i)}, extras: []any{key, d.key},
				})
			}
		}
	}
}

// keySet finds the keys of an object.
type keySet struct {
	members mapping
	index   map[string]struct{} // nil if a linear search is as fast
}

func (k keySet) has(key string) bool {
	if k.index != nil {
		_, ok := k.index[key]
		return ok
	}
	_, ok := k.members.Lookup(key)
	return ok
}

// fewKeys is the number of keys up to which a linear search is faster than a map.
const fewKeys = 16

// keys returns the keys of an object for the given number of searches.
func (c *run) keys(m mapping, searches int) keySet {
	if len(m) <= fewKeys || searches == 1 {
		c.spend(len(m))
		return keySet{members: m}
	}
	c.spend(len(m) * lookupSteps)
	index := make(map[string]struct{}, len(m))
	for _, member := range m {
		index[member.Key] = struct{}{}
	}
	return keySet{index: index}
}
