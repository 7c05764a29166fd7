package jsonschema

import (
	"encoding/json"
	"math"
	"math/big"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	santhosh "github.com/santhosh-tekuri/jsonschema/v5"
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
