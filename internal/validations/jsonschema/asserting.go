package jsonschema

import (
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	santhosh "github.com/santhosh-tekuri/jsonschema/v5"
)

// asserting is the evaluation of the assertions for a value.
type asserting struct {
	*run
	*assertions

	ctx   santhosh.ValidationContext
	wrong []error
}

func (a *asserting) refuse(keyword, message string) {
	a.wrong = append(a.wrong, a.fail(a.ctx, keyword, message))
}

// value evaluates all that apply to v.
func (a *asserting) value(v any) {
	if a.types != nil && !isOfTypes(v, a.types) {
		a.refuse("type", "type")
	}
	if a.enum != nil && !a.enum.has(a.work, v) {
		a.refuse("enum", "enum")
	}
	switch v := v.(type) {
	case string:
		a.string(v)
	case json.Number:
		a.number(v)
	case []any:
		a.array(v)
	case map[string]any:
		a.object(v)
	}
}

// within evaluates a lower and an upper bound.
func (a *asserting) within(n int, b bounds, minimum, maximum string) {
	if n < b.min {
		a.refuse(minimum, minimum)
	}
	if n > b.max {
		a.refuse(maximum, maximum)
	}
}

func (a *asserting) string(v string) {
	if a.length.min > 0 || a.length.max < math.MaxInt {
		a.spend(len(v))
		a.within(utf8.RuneCountInString(v), a.length, "minLength", "maxLength")
	}
	if a.pattern != nil && !a.matches(a.pattern, v) {
		a.refuse("pattern", "pattern")
	}
}

func (a *asserting) number(v json.Number) {
	if a.minimum == nil && a.maximum == nil && a.multipleOf == nil {
		return
	}
	a.spend(4 * numberSteps)
	if strings.ContainsAny(string(v), "eE") {
		a.spend(4 * powerSteps)
	}
	n := rational(v)
	if a.minimum != nil {
		switch order := n.Cmp(a.minimum); {
		case order < 0 && !a.exclusiveMinimum:
			a.refuse("minimum", "minimum")
		case order <= 0 && a.exclusiveMinimum:
			a.refuse("exclusiveMinimum", "exclusiveMinimum")
		}
	}
	if a.maximum != nil {
		switch order := n.Cmp(a.maximum); {
		case order > 0 && !a.exclusiveMaximum:
			a.refuse("maximum", "maximum")
		case order >= 0 && a.exclusiveMaximum:
			a.refuse("exclusiveMaximum", "exclusiveMaximum")
		}
	}
	if a.multipleOf != nil && !new(big.Rat).Quo(n, a.multipleOf).IsInt() {
		a.refuse("multipleOf", "multipleOf")
	}
}

func (a *asserting) array(v []any) {
	a.within(len(v), a.items, "minItems", "maxItems")
	if a.unique && !areUnique(a.work, v) {
		a.refuse("uniqueItems", "uniqueItems")
	}
	if a.tuple >= 0 && len(v) > a.tuple {
		a.refuse("additionalItems", "additionalItems")
	}
}

func (a *asserting) object(v map[string]any) {
	a.within(len(v), a.properties, "minProperties", "maxProperties")
	if missing := a.missing(v, a.required); len(missing) > 0 {
		a.refuse("required", strconv.Itoa(len(missing)))
	}
	a.spend(len(a.dependencies) * branchSteps)
	for _, d := range a.dependencies {
		if _, ok := v[d.key]; !ok {
			continue
		}
		for _, i := range a.missing(v, d.asks) {
			a.refuse(d.path+"/"+strconv.Itoa(i), "dependencies")
		}
	}
	if a.closed == nil {
		return
	}
	for key := range v {
		if !a.closed.knows(a.work, key) {
			a.refuse("additionalProperties", "additionalProperties")
			return
		}
	}
}

// missing returns the indexes of the keys that an object lacks.
func (a *asserting) missing(v map[string]any, keys []string) (missing []int) {
	for i, key := range keys {
		a.spend(lookupSteps + len(key)/keyBytes)
		if _, ok := v[key]; !ok {
			missing = append(missing, i)
		}
	}
	return missing
}

func isOfTypes(v any, types []string) bool {
	for _, t := range types {
		if isOfType(v, t) {
			return true
		}
	}
	return false
}

func isOfType(v any, t string) bool {
	var ok bool
	switch t {
	case "null":
		ok = v == nil
	case "boolean":
		_, ok = v.(bool)
	case "string":
		_, ok = v.(string)
	case "array":
		_, ok = v.([]any)
	case "object":
		_, ok = v.(map[string]any)
	case "number":
		_, ok = v.(json.Number)
	case "integer":
		n, is := v.(json.Number)
		ok = is && isInteger(n)
	}
	return ok
}
