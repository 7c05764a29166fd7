package jsonschema

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	santhosh "github.com/santhosh-tekuri/jsonschema/v5"
)

// compiler makes the keywords that this package evaluates in the library's stead, of each schema:
//
//	assertions          (assertions.go)
//	anyOf, oneOf, not   in order, no further than needed, and without keeping what failed inside them
//	$ref                one to nowhere is noted when it is reached
//	what others add     (extension.go)
type compiler struct {
	schema *Schema
	run    *run
}

// Compile implements the library's extension point.
func (c compiler) Compile(ctx santhosh.CompilerContext, m map[string]any) (santhosh.ExtSchema, error) {
	id, ok := schemaNumber(m[own])
	if !ok {
		return nil, nil // which the library takes for "no such keyword here"
	}
	n := c.schema.nodes[id]
	if n.ref != nil {
		return c.reference(ctx, n.ref)
	}
	k := &keywords{run: c.run, node: n}
	return k, k.compile(ctx)
}

func (c compiler) reference(ctx santhosh.CompilerContext, ref *ref) (santhosh.ExtSchema, error) {
	if ref.to == nil {
		return reference{run: c.run}, nil
	}
	to, err := ctx.CompileRef(definition(ref.to), "$ref", true)
	if err != nil {
		return nil, fmt.Errorf("compile $ref: %w", err)
	}
	return reference{c.run, to}, nil
}

// reference evaluates a $ref.
type reference struct {
	run *run
	to  *santhosh.Schema // nil if it points nowhere
}

// Validate implements the library's extension point. Reaching a reference that points nowhere is no failure of the data
// but a finding all the same, wherever it is: so it is noted, and passes.
func (r reference) Validate(ctx santhosh.ValidationContext, v any) error {
	defer r.run.leave()
	if r.to != nil {
		return ctx.Validate(r.to, "$ref", v, "") //nolint:wrapcheck // as the library wants it
	}
	r.run.locate(len(r.run.frames)-1, 1)
	r.run.reached = append(r.run.reached, ctx.Error("$ref", "nowhere"))
	return nil
}

// branch is a schema below anyOf, oneOf or not.
type branch struct {
	path   string
	schema *santhosh.Schema
	types  []string // that it takes; nil if any
}

// keywords are those of one schema.
type keywords struct {
	run                 *run
	node                *node
	anyOf, oneOf, notAt []branch
}

func (k *keywords) compile(ctx santhosh.CompilerContext) error {
	for i := range k.node.edges {
		e := &k.node.edges[i]
		var to *[]branch
		switch e.keyword {
		case "anyOf":
			to = &k.anyOf
		case "oneOf":
			to = &k.oneOf
		case "not":
			to = &k.notAt
		default:
			continue
		}
		path := strings.TrimSuffix(e.keyword+"/"+e.name, "/")
		schema, err := ctx.CompileRef(definition(e.to), path, true)
		if err != nil {
			return fmt.Errorf("compile %s: %w", path, err)
		}
		*to = append(*to, branch{path, schema, e.to.resolved().asserts.types})
	}
	return nil
}

// Validate implements the library's extension point. It is the last that the library does with the schema.
func (k *keywords) Validate(ctx santhosh.ValidationContext, v any) error {
	defer k.run.leave()
	a := asserting{run: k.run, assertions: &k.node.asserts, ctx: ctx}
	a.value(v)
	wrong := k.extended(ctx, v, k.combine(ctx, v, a.wrong))
	switch {
	case len(wrong) == 0:
		return nil
	case len(wrong) == 1:
		return wrong[0]
	case k.run.branch > 0:
		return failed
	}
	return santhosh.ValidationError{}.Group(ctx.Error("", "several"), wrong...) //nolint:wrapcheck // as it wants
}

// combine evaluates the combinators. What reached a reference to nowhere is known to be valid only for want of a
// schema, so oneOf and not say nothing then.
func (k *keywords) combine(ctx santhosh.ValidationContext, v any, wrong []error) []error {
	if k.anyOf != nil && len(k.valid(ctx, v, k.anyOf, 1)) == 0 {
		wrong = append(wrong, k.run.fail(ctx, "anyOf", "anyOf"))
	}
	before := len(k.run.reached)
	if k.oneOf != nil {
		indexes := k.valid(ctx, v, k.oneOf, len(k.oneOf))
		if len(indexes) != 1 && len(k.run.reached) == before {
			wrong = append(wrong, k.run.fail(ctx, "oneOf", "oneOf "+strings.Join(indexes, " ")))
		}
	}
	before = len(k.run.reached)
	if k.notAt != nil && len(k.valid(ctx, v, k.notAt, 1)) > 0 && len(k.run.reached) == before {
		wrong = append(wrong, k.run.fail(ctx, "not", "not"))
	}
	return wrong
}

// valid returns the indexes of the branches that v satisfies, up to enough of them.
func (k *keywords) valid(ctx santhosh.ValidationContext, v any, branches []branch, enough int) []string {
	k.run.spend(combineSteps)
	outside := k.run.branch
	k.run.branch = len(k.run.frames)
	defer func() { k.run.branch = outside }()
	var indexes []string
	for i, b := range branches {
		k.run.spend(branchSteps)
		if b.types != nil && !isOfTypes(v, b.types) {
			continue // what most branches differ in
		}
		if ctx.Validate(b.schema, b.path, v, "") == nil {
			if indexes = append(indexes, strconv.Itoa(i)); len(indexes) == enough {
				break
			}
		}
	}
	return indexes
}

// schemaNumber reads an integer of a schema that the library decoded.
func schemaNumber(v any) (int, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	i, err := strconv.Atoi(string(n))
	return i, err == nil
}
