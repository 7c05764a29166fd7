package jsonschema

import (
	"math"
	"strconv"
	"strings"

	"purser/internal/document"
	"purser/internal/regex"
)

// assertions is the set of assertions of a schema, besides its type.
type assertions struct {
	enum     *enumeration
	constant *enumeration
	pattern  *regex.Expression
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
	keyword  string
	key      string
	requires []string
}

// readAssertions reads the assertions of a schema: the types that it allows, and the others, nil if there are none. p
// is its compiled pattern, nil if there is none, and formats reports whether format is an assertion.
//
// It ignores keywords of the wrong type; the metaschema reports them unless the schema is of another draft than the
// document.
func readAssertions(w counter, schema mapping, d *draft, p *regex.Expression, formats bool) (types, *assertions) {
	w.spend(len(schema) * lookupSteps)
	r := assertionReader{counter: w, draft: d, formats: formats, assertions: &assertions{
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
	if d == draft4 {
		r.excludeBounds(schema)
	}
	s := r.assertions
	s.numeric = s.minimum != nil || s.maximum != nil || s.exclusiveMinimum != nil || s.exclusiveMaximum != nil ||
		s.multipleOf != nil
	return r.types, s
}

// assertionReader reads the assertions of one schema.
type assertionReader struct {
	counter
	*assertions

	draft   *draft
	formats bool
	types   types
}

// read reads a keyword and reports whether it is one of the assertions.
func (r *assertionReader) read(keyword string, held any) bool {
	switch keyword {
	case "type":
		r.types = typesOf(held)
		return false
	case "enum":
		list, _ := held.([]any)
		r.enum = newEnumeration(r.counter, list)
	case "pattern": // which is compiled
	case "minimum":
		r.minimum = r.limit(held)
	case "maximum":
		r.maximum = r.limit(held)
	case "multipleOf":
		r.multipleOf = r.limit(held)
	case "minLength":
		r.length.min = countOf(held)
	case "maxLength":
		r.length.max = countOf(held)
	case "minItems":
		r.items.min = countOf(held)
	case "maxItems":
		r.items.max = countOf(held)
	case "minProperties":
		r.properties.min = countOf(held)
	case "maxProperties":
		r.properties.max = countOf(held)
	case "uniqueItems":
		r.unique, _ = held.(bool)
	case "required":
		r.required = Texts(held)
	default:
		return r.readLater(keyword, held)
	}
	return true
}

// readLater reads a keyword that only some drafts have. It reports whether it is an assertion.
func (r *assertionReader) readLater(keyword string, held any) bool {
	d := r.draft
	switch {
	case keyword == "exclusiveMinimum" && d.atLeast(draft6):
		r.exclusiveMinimum = r.limit(held)
	case keyword == "exclusiveMaximum" && d.atLeast(draft6):
		r.exclusiveMaximum = r.limit(held)
	case keyword == "const" && d.atLeast(draft6):
		r.constant = newEnumeration(r.counter, []any{held})
	case keyword == "dependencies" && !d.atLeast(draft2019), keyword == "dependentRequired" && d.atLeast(draft2019):
		m, _ := held.(mapping)
		for _, member := range m {
			if _, isList := member.Value.([]any); isList {
				r.dependencies = append(r.dependencies, dependency{keyword, member.Key, Texts(member.Value)})
			}
		}
	case keyword == "format" && r.formats:
		r.format = formatOf(Text(held))
	default:
		return false
	}
	return true
}

// excludeBounds reads the exclusive bounds of Draft 4, which are flags of the bounds.
func (a *assertions) excludeBounds(schema mapping) {
	if schema.At("exclusiveMinimum") == true {
		a.minimum, a.exclusiveMinimum = nil, a.minimum
	}
	if schema.At("exclusiveMaximum") == true {
		a.maximum, a.exclusiveMaximum = nil, a.maximum
	}
}

func (r *assertionReader) limit(held any) *number {
	n, ok := held.(document.Number)
	if !ok {
		return nil
	}
	return new(numberOf(r.counter, n))
}

// countOf reads a number of characters, items or members. From Draft 6 on, 2.0 is valid.
func countOf(held any) int {
	n, _ := held.(document.Number)
	i, err := strconv.Atoi(strings.TrimSuffix(string(n), ".0"))
	if err != nil && !numberOf(counter{}, n).isWhole() {
		return 0
	} else if err != nil {
		return math.MaxInt // too many digits
	}
	return i
}
