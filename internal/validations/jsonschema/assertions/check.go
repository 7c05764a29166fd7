package assertions

import (
	"unicode/utf8"

	"purser/internal/document"
	"purser/internal/validations/jsonschema/values"
	"purser/internal/validations/jsonschema/work"
)

// Failure is an assertion that does not hold for a value.
type Failure struct {
	Keyword string
	Count   int // of missing keys of required
	// Of dependencies and dependentRequired: the key that requires others, the missing one, and its index among these.
	Key, Missing string
	Index        int
}

// Check calls fail for each assertion that does not hold for a value, the type aside.
func (s *Set) Check(w work.Counter, value any, fail func(Failure)) {
	if s.enum != nil && !s.enum.has(w, value) {
		fail(Failure{Keyword: "enum"})
	}
	if s.constant != nil && !s.constant.has(w, value) {
		fail(Failure{Keyword: "const"})
	}
	switch v := value.(type) {
	case string:
		s.checkString(w, v, fail)
	case document.Number:
		s.checkNumber(w, v, fail)
	case []any:
		s.items.check(len(v), "minItems", "maxItems", fail)
		if s.unique && !areUnique(w, v) {
			fail(Failure{Keyword: "uniqueItems"})
		}
	case document.Mapping:
		s.properties.check(len(v), "minProperties", "maxProperties", fail)
		s.checkKeys(w, v, fail)
	}
	if s.format != nil && !s.format(w, value) {
		fail(Failure{Keyword: "format"})
	}
}

// check checks a number against the bounds of two keywords.
func (b bounds) check(n int, least, most string, fail func(Failure)) {
	if n < b.min {
		fail(Failure{Keyword: least})
	}
	if n > b.max {
		fail(Failure{Keyword: most})
	}
}

// runeByte is the cost of counting the characters in a byte of text, in steps.
const runeByte = 3

func (s *Set) checkString(w work.Counter, v string, fail func(Failure)) {
	if s.length.holds() {
		w.Spend(len(v) * runeByte)
		s.length.check(utf8.RuneCountInString(v), "minLength", "maxLength", fail)
	}
	if s.pattern != nil && !s.pattern.Matches(w, v) {
		fail(Failure{Keyword: "pattern"})
	}
}

func (s *Set) checkNumber(w work.Counter, v document.Number, fail func(Failure)) {
	if !s.numeric {
		return
	}
	n := numberOf(w, v)
	if s.minimum != nil && n.compare(*s.minimum) < 0 {
		fail(Failure{Keyword: "minimum"})
	}
	if s.maximum != nil && n.compare(*s.maximum) > 0 {
		fail(Failure{Keyword: "maximum"})
	}
	if s.exclusiveMinimum != nil && n.compare(*s.exclusiveMinimum) <= 0 {
		fail(Failure{Keyword: "exclusiveMinimum"})
	}
	if s.exclusiveMaximum != nil && n.compare(*s.exclusiveMaximum) >= 0 {
		fail(Failure{Keyword: "exclusiveMaximum"})
	}
	if s.multipleOf != nil && !n.isMultipleOf(w, *s.multipleOf) {
		fail(Failure{Keyword: "multipleOf"})
	}
}

func (s *Set) checkKeys(w work.Counter, m document.Mapping, fail func(Failure)) {
	if s.required == nil && s.dependencies == nil {
		return
	}
	keys := values.KeysOf(w, m, len(s.required)+len(s.dependencies))
	missing := 0
	for _, key := range s.required {
		if w.Spend(work.Find(key)); !keys.Has(key) {
			missing++
		}
	}
	if missing > 0 {
		fail(Failure{Keyword: "required", Count: missing})
	}
	for _, d := range s.dependencies {
		if w.Spend(work.Lookup); !keys.Has(d.key) {
			continue
		}
		for i, key := range d.asks {
			if w.Spend(work.Find(key)); !keys.Has(key) {
				fail(Failure{Keyword: d.keyword, Key: d.key, Missing: key, Index: i})
			}
		}
	}
}

// Distinguish reports how the value agrees with an enum and with a const: how many of them allow it and do not.
func (s *Set) Distinguish(w work.Counter, value any) (agree, differ int) {
	for _, allowed := range [...]*enumeration{s.constant, s.enum} {
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
