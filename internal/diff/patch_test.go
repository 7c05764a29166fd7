package diff

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"purser/internal/document"
)

func TestPatch(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, after, want string }{
		"equal":            {`{a: 1, b: [x, {y: null}]}`, `{b: [x, {y: null}], a: 1}`, `[]`},
		"root":             {`1`, `[1]`, `[{"op":"replace","path":"","value":[1]}]`},
		"members":          {`{z: 1, a: 1, s: 1}`, `{b: null, a: 2, s: 1}`, `[{"op":"remove","path":"/z"},{"op":"replace","path":"/a","value":2},{"op":"add","path":"/b","value":null}]`},
		"below":            {`{a: {b: [1, {c: 2}]}}`, `{a: {b: [1, {c: 3}]}}`, `[{"op":"replace","path":"/a/b/1/c","value":3}]`},
		"escapes":          {`{a/b: {~1: 1}, "": 1}`, `{a/b: {~1: 2}, "": 2}`, `[{"op":"replace","path":"/a~1b/~01","value":2},{"op":"replace","path":"/","value":2}]`},
		"kinds":            {`{a: [], b: {}, c: '1', d: null}`, `{a: {}, b: [], c: 1, d: false}`, `[{"op":"replace","path":"/a","value":{}},{"op":"replace","path":"/b","value":[]},{"op":"replace","path":"/c","value":1},{"op":"replace","path":"/d","value":false}]`},
		"int to float":     {`[1]`, `[1.0]`, `[{"op":"replace","path":"/0","value":1.0}]`},
		"in the middle":    {`[a, b, c, d]`, `[a, b, x, c, d]`, `[{"op":"add","path":"/2","value":"x"}]`},
		"several in a row": {`[a, b]`, `[a, x, y, b]`, `[{"op":"add","path":"/1","value":"x"},{"op":"add","path":"/2","value":"y"}]`},
		"from the back":    {`[a, b, c, d, e]`, `[c]`, `[{"op":"remove","path":"/4"},{"op":"remove","path":"/3"},{"op":"remove","path":"/1"},{"op":"remove","path":"/0"}]`},
		"both ends":        {`[a, b, c]`, `[x, a, b]`, `[{"op":"remove","path":"/2"},{"op":"add","path":"/0","value":"x"}]`},
		"reversed":         {`[1, 2, 3]`, `[3, 2, 1]`, `[{"op":"replace","path":"/0","value":3},{"op":"replace","path":"/2","value":1}]`},
		"mapping inserted": {`[{n: a, l: [1]}, {n: b}]`, `[{n: x}, {l: [1], n: a}, {n: b}]`, `[{"op":"add","path":"/0","value":{"n":"x"}}]`},
		"mapping moved on": {`[{n: a}, {n: b}]`, `[{n: b}, {n: c}]`, `[{"op":"add","path":"/2","value":{"n":"c"}},{"op":"remove","path":"/0"}]`},
		"mapping changed":  {`[{n: a}, {n: b, v: 1}, {n: c}]`, `[{n: a}, {n: b, v: 2}, {n: c}, {n: d}]`, `[{"op":"add","path":"/3","value":{"n":"d"}},{"op":"replace","path":"/1/v","value":2}]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := string(document.AppendJSON(nil, patchOf(t, parse(t, c.before), parse(t, c.after))))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// Whatever the values, the patch makes the one into the other, and only equal ones have nothing to say.
func TestPatch_applies(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		before := values(3).Draw(t, "before")
		after := values(3).Draw(t, "after")
		if rapid.Bool().Draw(t, "related") {
			after = mutate(t, before)
		}
		operations := patchOf(t, before, after)
		got := before
		for _, operation := range operations {
			got = apply(t, got, operation.(document.Mapping))
		}
		if diff := cmp.Diff(string(document.Canonical(after)), string(document.Canonical(got))); diff != "" {
			t.Fatalf("%s (-want +got)\n%s", document.AppendJSON(nil, operations), diff)
		}
		if same := canonical(before) == canonical(after); same != (len(operations) == 0) {
			t.Fatalf("same: %v, operations: %s", same, document.AppendJSON(nil, operations))
		}
	})
}

func TestDeep_emptyIfEqual(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		before := values(3).Draw(t, "before")
		if result := deep(t, before, plain(before)); len(result) > 0 {
			t.Fatalf("with itself: %s", document.AppendJSON(nil, result))
		}
		after := mutate(t, before)
		result := deep(t, before, after)
		if same := canonical(plain(before)) == canonical(plain(after)); same != (len(result) == 0) {
			t.Fatalf("same: %v, result: %s", same, document.AppendJSON(nil, result))
		}
	})
}

func canonical(value any) string { return string(document.Canonical(value)) }

// plain writes the numbers of values() that are equal alike.
func plain(value any) any {
	switch v := value.(type) {
	case document.Number:
		return document.Number(strings.NewReplacer("1.00", "1.0", "1e0", "1.0", "-0.0", "0.0").Replace(string(v)))
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = plain(v[i])
		}
		return list
	case document.Mapping:
		m := slices.Clone(v)
		for i := range m {
			m[i].Value = plain(m[i].Value)
		}
		return m
	}
	return value
}

// values draws nested values with few keys and scalars, so that two of them overlap.
func values(depth int) *rapid.Generator[any] {
	scalar := rapid.SampledFrom([]any{
		nil, true, false, "", "a", "b", "1", "a\nb\n",
		document.Number("0.0"), document.Number("-0.0"), document.Number("1"), document.Number("1.0"),
		document.Number("1.00"), document.Number("1e0"), document.Number("2"),
	})
	if depth == 0 {
		return scalar
	}
	return rapid.Custom(func(t *rapid.T) any {
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			return scalar.Draw(t, "scalar")
		case 1:
			return asList(rapid.SliceOfN(scalar, 0, 8).Draw(t, "scalars"))
		case 2:
			return asList(rapid.SliceOfN(values(depth-1), 0, 5).Draw(t, "list"))
		}
		m := document.Mapping{}
		for _, key := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"", "a", "b", "c/d", "~", "it's"}), 0, 4, rapid.ID).Draw(t, "keys") {
			m = append(m, document.Member{Key: key, Value: values(depth-1).Draw(t, key)})
		}
		return m
	})
}

func asList(items []any) []any { return append([]any{}, items...) }

// mutate draws a value that differs from another in some places.
func mutate(t *rapid.T, value any) any {
	if rapid.IntRange(0, 6).Draw(t, "replace") == 0 {
		return values(1).Draw(t, "replacement")
	}
	switch v := value.(type) {
	case []any:
		var list []any
		for _, item := range v {
			switch rapid.IntRange(0, 8).Draw(t, "item") {
			case 0:
			case 1:
				list = append(list, values(1).Draw(t, "inserted"), item)
			case 2:
				list = append(list, mutate(t, item))
			default:
				list = append(list, item)
			}
		}
		return asList(list)
	case document.Mapping:
		m := document.Mapping{}
		for _, member := range v {
			if rapid.IntRange(0, 8).Draw(t, "member") > 0 {
				m = append(m, document.Member{Key: member.Key, Value: mutate(t, member.Value)})
			}
		}
		if rapid.Bool().Draw(t, "more") {
			m = append(document.Mapping{{Key: "new", Value: true}}, m...)
		}
		return m
	}
	return value
}

// apply carries out one operation as RFC 6902 says.
func apply(t *rapid.T, value any, operation document.Mapping) any {
	path := operation.At("path").(string)
	if path == "" {
		return operation.At("value")
	}
	tokens := strings.Split(path[1:], "/")
	for i := range tokens {
		tokens[i] = document.UnescapeStep(tokens[i])
	}
	changed, err := applyAt(value, tokens, operation)
	if err != nil {
		t.Fatalf("%s: %v", document.AppendJSON(nil, operation), err)
	}
	return changed
}

func applyAt(value any, tokens []string, operation document.Mapping) (any, error) {
	token, rest := tokens[0], tokens[1:]
	switch v := value.(type) {
	case document.Mapping:
		child, known := v.Lookup(token)
		switch {
		case !known && (len(rest) > 0 || operation.At("op") != "add"):
			return nil, fmt.Errorf("no key %q", token)
		case len(rest) > 0:
			child, err := applyAt(child, rest, operation)
			return v.With(token, child), err
		case operation.At("op") == "remove":
			return slices.DeleteFunc(slices.Clone(v), func(m document.Member) bool { return m.Key == token }), nil
		}
		return v.With(token, operation.At("value")), nil
	case []any:
		i, err := strconv.Atoi(token)
		if err != nil || i < 0 || i > len(v) || i == len(v) && (len(rest) > 0 || operation.At("op") != "add") {
			return nil, fmt.Errorf("no index %q", token)
		}
		v = slices.Clone(v)
		switch {
		case len(rest) > 0:
			v[i], err = applyAt(v[i], rest, operation)
			return v, err
		case operation.At("op") == "add":
			return slices.Insert(v, i, operation.At("value")), nil
		case operation.At("op") == "remove":
			return slices.Delete(v, i, i+1), nil
		}
		v[i] = operation.At("value")
		return v, nil
	}
	return nil, fmt.Errorf("nothing at %q", token)
}
