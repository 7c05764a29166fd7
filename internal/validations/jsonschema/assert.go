package jsonschema

import (
	"unicode/utf8"

	"purser/internal/document"
)

// assert evaluates the assertions of a schema, the type aside. Neither it nor fail is inlined, because that would make
// the stack frames of recursive functions larger.
//
//go:noinline
func (e *evaluation) assert(a *assertions) {
	if a.enum != nil && !a.enum.has(e.counter, e.value) {
		e.fail("enum")
	}
	if a.constant != nil && !a.constant.has(e.counter, e.value) {
		e.fail("const")
	}
	switch v := e.value.(type) {
	case string:
		e.assertText(a, v)
	case document.Number:
		e.assertNumber(a, v)
	case []any:
		e.assertBounds(a.items, len(v), "minItems", "maxItems")
		if a.unique && !areUnique(e.counter, v) {
			e.fail("uniqueItems")
		}
	case mapping:
		e.assertBounds(a.properties, len(v), "minProperties", "maxProperties")
		e.assertKeys(a, v)
	}
	if a.format != nil && !a.format(e.counter, e.value) {
		e.fail("format")
	}
}

// assertBounds compares a number with the bounds of two keywords.
func (e *evaluation) assertBounds(b bounds, n int, least, most string) {
	if n < b.min {
		e.fail(least)
	}
	if n > b.max {
		e.fail(most)
	}
}

// runeByte is the cost of counting the characters in a byte of text, in steps.
const runeByte = 3

func (e *evaluation) assertText(a *assertions, v string) {
	if a.length.holds() {
		e.spend(len(v) * runeByte)
		e.assertBounds(a.length, utf8.RuneCountInString(v), "minLength", "maxLength")
	}
	if a.pattern != nil && !e.matches(a.pattern, v) {
		e.fail("pattern")
	}
}

func (e *evaluation) assertNumber(a *assertions, v document.Number) {
	if !a.numeric {
		return
	}
	n := numberOf(e.counter, v)
	if a.minimum != nil && n.compare(*a.minimum) < 0 {
		e.fail("minimum")
	}
	if a.maximum != nil && n.compare(*a.maximum) > 0 {
		e.fail("maximum")
	}
	if a.exclusiveMinimum != nil && n.compare(*a.exclusiveMinimum) <= 0 {
		e.fail("exclusiveMinimum")
	}
	if a.exclusiveMaximum != nil && n.compare(*a.exclusiveMaximum) >= 0 {
		e.fail("exclusiveMaximum")
	}
	if a.multipleOf != nil && !n.isMultipleOf(e.counter, *a.multipleOf) {
		e.fail("multipleOf")
	}
}

func (e *evaluation) assertKeys(a *assertions, m mapping) {
	if a.required == nil && a.dependencies == nil {
		return
	}
	keys := keysOf(e.counter, m, len(a.required)+len(a.dependencies))
	missing := 0
	for _, key := range a.required {
		if e.spend(findSteps(key)); !keys.has(key) {
			missing++
		}
	}
	if missing > 0 {
		e.failAs(failure{keyword: "required", count: missing})
	}
	for _, d := range a.dependencies {
		if e.spend(lookupSteps); !keys.has(d.key) {
			continue
		}
		for i, key := range d.requires {
			if e.spend(findSteps(key)); !keys.has(key) {
				e.failAs(failure{
					keyword: d.keyword, names: []step{named(d.key), indexed(i)}, extras: []any{key, d.key},
				})
			}
		}
	}
}

// distinguish reports how a value agrees with an enum and with a const: how many of them allow it and do not.
func (a *assertions) distinguish(w counter, value any) (agree, differ int) {
	for _, allowed := range [...]*enumeration{a.constant, a.enum} {
		switch {
		case allowed == nil:
		case allowed.has(w, value):
			agree++
		default:
			differ++
		}
	}
	return agree, differ
}
