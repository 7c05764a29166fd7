package jsonschema

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	santhosh "github.com/santhosh-tekuri/jsonschema/v5"
)

// keywords makes the keywords that this package evaluates in the library's stead:
//
//	type                as Python has it: the library takes 1.0 as an integer, and leaves a schema whose type is wrong
//	enum, uniqueItems   fast, and bounded: the library compares numbers by writing out their digits each time
//	anyOf, oneOf, not   in order, no further than needed, and without keeping what failed inside them
//	a $ref to nowhere   noted when it is reached
//	what others add     (extension.go)
type keywords struct {
	schema *Schema
	nodes  []*node
}

// Compile implements the library's extension point.
func (k keywords) Compile(ctx santhosh.CompilerContext, m map[string]any) (santhosh.ExtSchema, error) {
	id, ok := schemaNumber(m[own])
	if !ok {
		return nil, nil //nolint:nilnil // which the library takes for "no such keyword here"
	}
	n := k.nodes[id]
	if n.ref != nil {
		k.schema.dangling = true
		return nowhere{k.schema}, nil
	}
	c := &checks{
		schema: k.schema, types: typesOf(n), enum: n.raw.member("enum"), unique: holds(n, "uniqueItems"), added: n.added,
	}
	if c.enum != nil {
		c.allowed = c.enum.plain().([]any) //nolint:forcetypeassert // the metaschema wants an array
	}
	return c, c.compile(ctx, n)
}

func holds(n *node, keyword string) bool {
	v := n.raw.member(keyword)
	return v != nil && v.kind == boolean && v.text == "true"
}

func typesOf(n *node) []string {
	v := n.raw.member("type")
	switch {
	case v == nil:
		return nil
	case v.kind == text:
		return []string{v.text}
	}
	types := make([]string, len(v.items))
	for i, item := range v.items {
		types[i] = item.text
	}
	return types
}

// branch is a schema below anyOf, oneOf or not.
type branch struct {
	path   string
	schema *santhosh.Schema
	types  []string // that it takes; nil if any
}

// checks are the keywords of one schema.
type checks struct {
	schema              *Schema
	types               []string
	enum                *value
	allowed             []any
	unique              bool
	anyOf, oneOf, notAt []branch
	added               []Keyword
}

func (c *checks) compile(ctx santhosh.CompilerContext, n *node) error {
	for i := range n.edges {
		e := &n.edges[i]
		var to *[]branch
		switch e.keyword {
		case "anyOf":
			to = &c.anyOf
		case "oneOf":
			to = &c.oneOf
		case "not":
			to = &c.notAt
		default:
			continue
		}
		path := strings.TrimSuffix(e.keyword+"/"+e.name, "/")
		schema, err := ctx.CompileRef(definition(e.to), path, true)
		if err != nil {
			return fmt.Errorf("compile %s: %w", path, err)
		}
		*to = append(*to, branch{path, schema, typesOf(e.to.resolved())})
	}
	return nil
}

// Validate implements the library's extension point. A message to the library is never empty: it would take the error
// for a wrapper.
func (c *checks) Validate(ctx santhosh.ValidationContext, v any) error {
	var wrong []error
	if c.types != nil && !isOfTypes(v, c.types) {
		wrong = append(wrong, ctx.Error("type", "type"))
	}
	if c.enum != nil && !isAllowed(v, c.allowed) {
		wrong = append(wrong, ctx.Error("enum", "enum"))
	}
	if items, ok := v.([]any); ok && c.unique && !areUnique(items) {
		wrong = append(wrong, ctx.Error("uniqueItems", "uniqueItems"))
	}
	wrong = c.extended(ctx, v, c.combine(ctx, v, wrong))
	switch len(wrong) {
	case 0:
		return nil
	case 1:
		return wrong[0]
	}
	return santhosh.ValidationError{}.Group(ctx.Error("", "several"), wrong...) //nolint:wrapcheck // as it wants
}

// combine evaluates the combinators. What reached a reference to nowhere is known to be valid only for want of a
// schema, so oneOf and not say nothing then.
func (c *checks) combine(ctx santhosh.ValidationContext, v any, wrong []error) []error {
	if c.anyOf != nil && len(valid(ctx, v, c.anyOf, 1)) == 0 {
		wrong = append(wrong, ctx.Error("anyOf", "anyOf"))
	}
	before := len(c.schema.reached)
	if c.oneOf != nil {
		indexes := valid(ctx, v, c.oneOf, len(c.oneOf))
		if len(indexes) != 1 && len(c.schema.reached) == before {
			wrong = append(wrong, ctx.Error("oneOf", "oneOf %s", strings.Join(indexes, " ")))
		}
	}
	before = len(c.schema.reached)
	if c.notAt != nil && len(valid(ctx, v, c.notAt, 1)) > 0 && len(c.schema.reached) == before {
		wrong = append(wrong, ctx.Error("not", "not"))
	}
	return wrong
}

// valid returns the indexes of the branches that v satisfies, up to enough of them.
func valid(ctx santhosh.ValidationContext, v any, branches []branch, enough int) []string {
	var indexes []string
	for i, b := range branches {
		if b.types != nil && !isOfTypes(v, b.types) {
			continue // what most branches differ in; a violation is slow to make, and would be thrown away
		}
		if ctx.Validate(b.schema, b.path, v, "") == nil {
			if indexes = append(indexes, strconv.Itoa(i)); len(indexes) == enough {
				break
			}
		}
	}
	return indexes
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

// nowhere stands for a reference that points nowhere. Reaching it is no failure of the data but a finding all the
// same, wherever it is: so it is noted, and passes.
type nowhere struct{ schema *Schema }

// Validate implements the library's extension point. The check holds the schema alone.
func (n nowhere) Validate(ctx santhosh.ValidationContext, _ any) error {
	n.schema.reached = append(n.schema.reached, ctx.Error("$ref", "nowhere"))
	return nil
}
