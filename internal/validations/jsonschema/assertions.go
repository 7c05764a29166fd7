package jsonschema

import (
	"math"
	"strconv"
	"strings"

	"purser/internal/document"
)

// assertions are the keywords of a schema that check a value without another schema.
type assertions struct {
	enum     *enumeration
	constant *enumeration
	pattern  *pattern
	format   func(any) bool

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

// assert reads the assertions of a schema. It ignores keywords of the wrong type; the metaschema reports them unless
// the schema is of another draft than the document.
func (g *graph) assert(n *node) {
	g.spend(len(n.members) * lookupSteps)
	a := &assertions{
		length: bounds{0, math.MaxInt}, items: bounds{0, math.MaxInt}, properties: bounds{0, math.MaxInt},
	}
	has := false
	for _, member := range n.members {
		if g.assertion(n, a, member.Key, member.Value) {
			has = true
		}
	}
	if has {
		a.excludeBounds(n)
		a.numeric = a.minimum != nil || a.maximum != nil || a.exclusiveMinimum != nil || a.exclusiveMaximum != nil ||
			a.multipleOf != nil
		n.asserts = a
	}
}

// assertion reads a keyword and reports whether it is an assertion.
func (g *graph) assertion(n *node, a *assertions, keyword string, held any) bool {
	switch keyword {
	case "type":
		n.types = typesOf(held)
		return false
	case "enum":
		list, _ := held.([]any)
		a.enum = newEnumeration(g.work, list)
	case "pattern":
		if written, ok := held.(string); ok {
			a.pattern = g.pattern(n, written, keyword)
		}
	case "minimum":
		a.minimum = limit(held)
	case "maximum":
		a.maximum = limit(held)
	case "multipleOf":
		a.multipleOf = limit(held)
	case "minLength":
		a.length.min = countIn(held)
	case "maxLength":
		a.length.max = countIn(held)
	case "minItems":
		a.items.min = countIn(held)
	case "maxItems":
		a.items.max = countIn(held)
	case "minProperties":
		a.properties.min = countIn(held)
	case "maxProperties":
		a.properties.max = countIn(held)
	case "uniqueItems":
		a.unique, _ = held.(bool)
	case "required":
		a.required = texts(held)
	default:
		return g.laterAssertion(n, a, keyword, held)
	}
	return true
}

// laterAssertion reads a keyword that only some drafts have. It reports whether it is an assertion.
func (g *graph) laterAssertion(n *node, a *assertions, keyword string, held any) bool {
	since := n.draft().since
	switch {
	case keyword == "exclusiveMinimum" && since >= since6:
		a.exclusiveMinimum = limit(held)
	case keyword == "exclusiveMaximum" && since >= since6:
		a.exclusiveMaximum = limit(held)
	case keyword == "const" && since >= since6:
		a.constant = newEnumeration(g.work, []any{held})
	case keyword == "dependencies" && since < since2019, keyword == "dependentRequired" && since >= since2019:
		m, _ := held.(mapping)
		for _, member := range m {
			if _, isList := member.Value.([]any); isList {
				a.dependencies = append(a.dependencies, dependency{keyword, member.Key, texts(member.Value)})
			}
		}
	case keyword == "format" && g.asserts(n.draft()):
		a.format = formatOf(text(held))
	default:
		return false
	}
	return true
}

// asserts reports whether format is an assertion.
func (g *graph) asserts(d *draft) bool {
	return d != draft4 && (g.options.AssertFormats || d == draft2020 && g.formats)
}

// excludeBounds reads the exclusive bounds of Draft 4, which are flags of the bounds.
func (a *assertions) excludeBounds(n *node) {
	if n.draft() != draft4 {
		return
	}
	if n.members.At("exclusiveMinimum") == true {
		a.minimum, a.exclusiveMinimum = nil, a.minimum
	}
	if n.members.At("exclusiveMaximum") == true {
		a.maximum, a.exclusiveMaximum = nil, a.maximum
	}
}

// texts returns the strings of a list.
func texts(list any) (all []string) {
	items, _ := list.([]any)
	for _, item := range items {
		all = append(all, text(item))
	}
	return all
}

func limit(held any) *number {
	n, ok := held.(document.Number)
	if !ok {
		return nil
	}
	return new(numberOf(n))
}

// countIn reads a number of characters, items or members. From Draft 6 on, 2.0 is valid.
func countIn(held any) int {
	n, _ := held.(document.Number)
	i, err := strconv.Atoi(strings.TrimSuffix(string(n), ".0"))
	if err != nil && !isWhole(n) {
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

// isWhole reports whether a number has no fraction, in any notation.
func isWhole(n document.Number) bool { return isInteger(n) || rational(bounded(n)).IsInt() }
