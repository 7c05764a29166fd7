package assertions

import (
	"math"
	"strconv"
	"strings"

	"purser/internal/document"
	"purser/internal/validations/jsonschema/draft"
	"purser/internal/validations/jsonschema/pattern"
	"purser/internal/validations/jsonschema/values"
	"purser/internal/validations/jsonschema/work"
)

// Set is the set of assertions of a schema, besides its type.
type Set struct {
	enum     *enumeration
	constant *enumeration
	pattern  *pattern.Pattern
	format   format

	minimum, maximum, multipleOf       *number
	exclusiveMinimum, exclusiveMaximum *number
	numeric                            bool // one of the above is set

	length, items, properties bounds
	unique                    bool
	required                  []string
	dependencies              []dependency
}

// bounds are the minimum and maximum number of characters, items or members.
type bounds struct{ min, max int }

func (b bounds) holds() bool { return b.min > 0 || b.max < math.MaxInt }

// dependency lists the keys that a key requires.
type dependency struct {
	keyword string
	key     string
	asks    []string
}

// Read reads the assertions of a schema: the types that it allows, and the others, nil if there are none. p is its
// compiled pattern, nil if there is none, and formats reports whether format is an assertion.
//
// It ignores keywords of the wrong type; the metaschema reports them unless the schema is of another draft than the
// document.
func Read(w work.Counter, schema document.Mapping, d *draft.Draft, p *pattern.Pattern, formats bool) (Types, *Set) {
	w.Spend(len(schema) * work.Lookup)
	r := reader{Counter: w, draft: d, formats: formats, Set: &Set{
		length: bounds{0, math.MaxInt}, items: bounds{0, math.MaxInt}, properties: bounds{0, math.MaxInt}, pattern: p,
	}}
	has := false
	for _, member := range schema {
		if r.read(member.Key, member.Value) {
			has = true
		}
	}
	if !has {
		return r.types, nil
	}
	if d == draft.V4 {
		r.excludeBounds(schema)
	}
	s := r.Set
	s.numeric = s.minimum != nil || s.maximum != nil || s.exclusiveMinimum != nil || s.exclusiveMaximum != nil ||
		s.multipleOf != nil
	return r.types, s
}

// reader reads the assertions of one schema.
type reader struct {
	work.Counter
	*Set

	draft   *draft.Draft
	formats bool
	types   Types
}

// read reads a keyword and reports whether it is an assertion of the Set.
func (r *reader) read(keyword string, held any) bool {
	switch keyword {
	case "type":
		r.types = typesOf(held)
		return false
	case "enum":
		list, _ := held.([]any)
		r.enum = newEnumeration(r.Counter, list)
	case "pattern": // which is compiled
	case "minimum":
		r.minimum = r.limit(held)
	case "maximum":
		r.maximum = r.limit(held)
	case "multipleOf":
		r.multipleOf = r.limit(held)
	case "minLength":
		r.length.min = CountOf(held)
	case "maxLength":
		r.length.max = CountOf(held)
	case "minItems":
		r.items.min = CountOf(held)
	case "maxItems":
		r.items.max = CountOf(held)
	case "minProperties":
		r.properties.min = CountOf(held)
	case "maxProperties":
		r.properties.max = CountOf(held)
	case "uniqueItems":
		r.unique, _ = held.(bool)
	case "required":
		r.required = values.Texts(held)
	default:
		return r.readLater(keyword, held)
	}
	return true
}

// readLater reads a keyword that only some drafts have. It reports whether it is an assertion.
func (r *reader) readLater(keyword string, held any) bool {
	d := r.draft
	switch {
	case keyword == "exclusiveMinimum" && d.AtLeast(draft.V6):
		r.exclusiveMinimum = r.limit(held)
	case keyword == "exclusiveMaximum" && d.AtLeast(draft.V6):
		r.exclusiveMaximum = r.limit(held)
	case keyword == "const" && d.AtLeast(draft.V6):
		r.constant = newEnumeration(r.Counter, []any{held})
	case keyword == "dependencies" && !d.AtLeast(draft.V2019), keyword == "dependentRequired" && d.AtLeast(draft.V2019):
		m, _ := held.(document.Mapping)
		for _, member := range m {
			if _, isList := member.Value.([]any); isList {
				r.dependencies = append(r.dependencies, dependency{keyword, member.Key, values.Texts(member.Value)})
			}
		}
	case keyword == "format" && r.formats:
		r.format = formatOf(values.Text(held))
	default:
		return false
	}
	return true
}

// excludeBounds reads the exclusive bounds of Draft 4, which are flags of the bounds.
func (s *Set) excludeBounds(schema document.Mapping) {
	if schema.At("exclusiveMinimum") == true {
		s.minimum, s.exclusiveMinimum = nil, s.minimum
	}
	if schema.At("exclusiveMaximum") == true {
		s.maximum, s.exclusiveMaximum = nil, s.maximum
	}
}

func (r *reader) limit(held any) *number {
	n, ok := held.(document.Number)
	if !ok {
		return nil
	}
	return new(numberOf(r.Counter, n))
}

// CountOf reads a number of characters, items or members. From Draft 6 on, 2.0 is valid.
func CountOf(held any) int {
	n, _ := held.(document.Number)
	i, err := strconv.Atoi(strings.TrimSuffix(string(n), ".0"))
	if err != nil && !numberOf(work.Counter{}, n).isWhole() {
		return 0
	} else if err != nil {
		return math.MaxInt // too many digits
	}
	return i
}

// isInteger reports whether a number is written as an integer, which is Python's criterion in Draft 4.
func isInteger(n document.Number) bool {
	for i := range len(n) {
		switch n[i] {
		case '.', 'e', 'E':
			return false
		}
	}
	return true
}
