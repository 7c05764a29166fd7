package propertygroups

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"purser/internal/document"
	"purser/internal/validations/jsonschema"
)

// plan is a rule for the brute-force evaluator: a path or, with an operator, a group.
type plan struct {
	operator string
	path     []string
	operands []plan
}

func anyPath(t *rapid.T) []string {
	part := rapid.SampledFrom([]string{"a", "a", "b", "c"})
	return rapid.SliceOfN(part, 1, 3).Draw(t, "path")
}

// anyPlan generates a rule with the operators of expressions.
func anyPlan(t *rapid.T, depth int) plan {
	if depth > 0 && rapid.IntRange(0, depth+1).Draw(t, "leaf") > 0 {
		return plan{path: anyPath(t)}
	}
	p := plan{operator: rapid.SampledFrom([]string{"and", "or", "xor"}).Draw(t, "operator")}
	for range rapid.IntRange(1, 3).Draw(t, "operands") {
		p.operands = append(p.operands, anyPlan(t, depth+1))
	}
	return p
}

func anyValue(t *rapid.T, depth int) any {
	switch kind := rapid.IntRange(0, 9).Draw(t, "kind"); {
	case depth > 4 || kind == 0:
		return rapid.SampledFrom([]any{nil, true, "", []any{}, map[string]any{}}).Draw(t, "scalar")
	case kind <= 3:
		list := make([]any, rapid.IntRange(0, 3).Draw(t, "items"))
		for i := range list {
			list[i] = anyValue(t, depth+1)
		}
		return list
	}
	return anyObject(t, depth)
}

func anyObject(t *rapid.T, depth int) map[string]any {
	object := map[string]any{}
	for _, key := range []string{"a", "b", "c"} {
		if rapid.IntRange(0, 3).Draw(t, "has "+key) > 0 {
			object[key] = anyValue(t, depth+1)
		}
	}
	return object
}

// anyNamed generates named groups, each referring only to later ones, and their plans.
func anyNamed(t *rapid.T, reference string) (value []any, plans []plan, terms []bool) {
	n := rapid.IntRange(1, 6).Draw(t, "groups")
	value, plans, terms = make([]any, n), make([]plan, n), make([]bool, n)
	for i := n - 1; i >= 0; i-- {
		p := plan{operator: rapid.SampledFrom([]string{"and", "or", "xor", "depends_on"}).Draw(t, "operator")}
		var entries []any
		for range rapid.IntRange(2, 4).Draw(t, "entries") {
			if to := rapid.IntRange(i+1-n, n-1).Draw(t, "to"); to > i {
				entries, p.operands, terms[to] = append(entries, reference+"g"+strconv.Itoa(to)), append(p.operands, plans[to]), true
				continue
			}
			path := anyPath(t)
			entries, p.operands = append(entries, strings.Join(path, ".")), append(p.operands, plan{path: path})
		}
		plans[i] = p
		value[i] = document.Mapping{{Key: "g" + strconv.Itoa(i), Value: document.Mapping{
			{Key: "operator", Value: p.operator}, {Key: "properties", Value: entries},
		}}}
	}
	return value, plans, terms
}

// expression converts a plan to an item of properties_groups_schema.
func (p plan) expression() any {
	list := []any{}
	for _, part := range p.path {
		list = append(list, part)
	}
	if p.operator == "" {
		return list
	}
	for _, o := range p.operands {
		list = append(list, o.expression())
	}
	return document.Mapping{{Key: p.operator, Value: list}}
}

// name converts a plan to named groups and appends them to groups, the plan itself last.
func (p plan) name(groups document.Mapping) document.Mapping {
	var entries []any
	for _, o := range p.operands {
		if o.operator == "" {
			entries = append(entries, strings.Join(o.path, "."))
			continue
		}
		groups = o.name(groups)
		entries = append(entries, groups[len(groups)-1].Key)
	}
	return append(groups, document.Member{Key: "g" + strconv.Itoa(len(groups)), Value: document.Mapping{
		{Key: "properties", Value: entries}, {Key: "operator", Value: p.operator},
	}})
}

// leaves returns all paths of a plan.
func (p plan) leaves() (paths [][]string) {
	if p.operator == "" {
		return [][]string{p.path}
	}
	for _, o := range p.operands {
		paths = append(paths, o.leaves()...)
	}
	return paths
}

// without removes the first n parts of all paths.
func (p plan) without(n int) plan {
	shorter := plan{operator: p.operator}
	if p.operator == "" {
		shorter.path = p.path[n:]
	}
	for _, o := range p.operands {
		shorter.operands = append(shorter.operands, o.without(n))
	}
	return shorter
}

func specified(value any, path []string) bool {
	if len(path) == 0 {
		return value != nil
	}
	if list, ok := value.([]any); ok {
		return slices.ContainsFunc(list, func(item any) bool { return specified(item, path) })
	}
	object, _ := value.(map[string]any)
	child, ok := object[path[0]]
	return ok && specified(child, path[1:])
}

// holds evaluates a plan at a value by counting true operands.
func (p plan) holds(value any) bool {
	if p.operator == "" {
		return specified(value, p.path)
	}
	n := 0
	for _, o := range p.operands {
		if o.holds(value) {
			n++
		}
	}
	switch p.operator {
	case "and":
		return n == len(p.operands)
	case "or":
		return n > 0
	case "xor":
		return n == 1
	}
	return !p.operands[0].holds(value) || n == len(p.operands)
}

// violated returns the places where a plan does not hold, as pointers.
func (p plan) violated(value any, at string) (places []string) {
	paths := p.leaves()
	common := 0
	for ; ; common++ {
		if slices.ContainsFunc(paths, func(path []string) bool { return common >= len(path)-1 || path[common] != paths[0][common] }) {
			break
		}
	}
	below, pointer := value, at
	for n := 0; ; n++ {
		if list, ok := below.([]any); ok && len(list) > 0 {
			for i, item := range list {
				places = append(places, p.without(n).violated(item, fmt.Sprintf("%s/%d", pointer, i))...)
			}
			return places
		}
		object, _ := below.(map[string]any)
		if n == common || object == nil {
			break
		}
		below = object[paths[0][n]]
		pointer += "/" + paths[0][n]
	}
	if !p.holds(value) {
		places = append(places, at)
	}
	return places
}

func mustParse(t rapid.TB, keyword string, value any) *Groups {
	g, err := Parse(document.Mapping{{Key: keyword, Value: value}})
	if err != nil {
		t.Fatalf("%s: %v", document.AppendJSON(nil, value), err)
	}
	return g
}

func pointers(found []jsonschema.Violation) (places []string) {
	for _, v := range found {
		place := strings.Join(append([]string{""}, v.Instance...), "/")
		places = append(places, place)
	}
	return places
}

// A check agrees with a direct evaluation of the specification.
func TestLaw_bruteForce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p, object := anyPlan(t, 0), anyObject(t, 0)
		got := judge(t, mustParse(t, expressionsKeyword, []any{p.expression()}), object, nil)
		if diff := cmp.Diff(p.violated(object, ""), pointers(got)); diff != "" {
			t.Fatalf("%v %v (-want +got)\n%s", p, object, diff)
		}
	})
}

// A check also agrees with the specification if groups refer to one another, repeatedly and in any combination.
func TestLaw_bruteForceNamed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		value, plans, terms := anyNamed(t, "")
		object := anyObject(t, 0)
		var want []string
		for i, p := range plans {
			if !terms[i] {
				want = append(want, p.violated(object, "")...)
			}
		}
		got := judge(t, mustParse(t, namedKeyword, value), object, nil)
		if diff := cmp.Diff(want, pointers(got)); diff != "" {
			t.Fatalf("%s %v (-want +got)\n%s", document.AppendJSON(nil, value), object, diff)
		}
	})
}

// Equal groups have the same messages in either keyword.
func TestLaw_expressionEqualsNamed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p, object := anyPlan(t, 0), anyObject(t, 0)
		named := p.name(nil)
		want := judge(t, mustParse(t, expressionsKeyword, []any{p.expression()}), object, nil)
		got := judge(t, mustParse(t, namedKeyword, named), object, nil)
		if len(want) != len(got) {
			t.Fatalf("%d and %d violations", len(want), len(got))
		}
		for i := range want {
			want[i].Keyword = []string{namedKeyword, named[len(named)-1].Key}
			want[i].Message = "Properties group '" + want[i].Keyword[1] + "': " + want[i].Message
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%v %v (-expression +named)\n%s", p, object, diff)
		}
	})
}

// A bare reference equals one with the explicit prefix.
func TestLaw_references(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		bare, _, _ := anyNamed(t, "")
		explicit := make([]any, len(bare))
		for i, item := range bare {
			text := string(document.AppendJSON(nil, item))
			text = strings.NewReplacer(`["g`, `["property_groups.g`, `,"g`, `,"property_groups.g`).Replace(text)
			value, err := document.ParseOne(t.Context(), []byte(text), document.YAML, document.DefaultLimits())
			if err != nil {
				t.Fatal(err)
			}
			explicit[i] = value
		}
		object := anyObject(t, 0)
		want, got := mustParse(t, namedKeyword, bare), mustParse(t, namedKeyword, explicit)
		if diff := cmp.Diff(judge(t, want, object, nil), judge(t, got, object, nil)); diff != "" {
			t.Fatalf("check (-bare +explicit)\n%s", diff)
		}
		if diff := cmp.Diff(want.Describe(), got.Describe()); diff != "" {
			t.Fatalf("description (-bare +explicit)\n%s", diff)
		}
	})
}
