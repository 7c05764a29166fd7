package diff

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/document"
)

func parse(t *testing.T, text string) any {
	t.Helper()
	value, err := document.ParseOne(t.Context(), []byte(text), document.YAML, document.DefaultLimits())
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return value
}

// failer is a test of package testing or rapid.
type failer interface {
	Helper()
	Fatal(args ...any)
}

func deep(t failer, before, after any) document.Mapping {
	t.Helper()
	result, err := Deep(context.Background(), before, after)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func patchOf(t failer, before, after any) []any {
	t.Helper()
	operations, err := Patch(context.Background(), before, after)
	if err != nil {
		t.Fatal(err)
	}
	return operations
}

func unified(t failer, oldName, newName, before, after string) string {
	t.Helper()
	text, err := Unified(context.Background(), oldName, newName, before, after)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestDeep(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, after, want string }{
		"equal":             {`{a: 1, b: [x, {y: null}]}`, `{b: [x, {y: null}], a: 1}`, `{}`},
		"value":             {`{l: [1, 2]}`, `{l: [1, 3]}`, `{"values_changed":{"root['l'][1]":{"new_value":3,"old_value":2}}}`},
		"type":              {`{t: 1}`, `{t: '1'}`, `{"type_changes":{"root['t']":{"old_type":"int","new_type":"str","old_value":1,"new_value":"1"}}}`},
		"null and list":     {`{t: null}`, `{t: []}`, `{"type_changes":{"root['t']":{"old_type":"NoneType","new_type":"list","old_value":null,"new_value":[]}}}`},
		"bool and int":      {`{t: true}`, `{t: 1}`, `{"type_changes":{"root['t']":{"old_type":"bool","new_type":"int","old_value":true,"new_value":1}}}`},
		"int and float":     {`{t: 1}`, `{t: 1.0}`, `{"type_changes":{"root['t']":{"old_type":"int","new_type":"float","old_value":1,"new_value":1.0}}}`},
		"dict and list":     {`{t: {a: 1}}`, `{t: [a]}`, `{"type_changes":{"root['t']":{"old_type":"dict","new_type":"list","old_value":{"a":1},"new_value":["a"]}}}`},
		"items differ type": {`[1, 2]`, `[true, 2]`, `{"type_changes":{"root[0]":{"old_type":"int","new_type":"bool","old_value":1,"new_value":true}}}`},
		"key added":         {`{a: 1}`, `{b: {c: 1}, a: 1}`, `{"dictionary_item_added":["root['b']"]}`},
		"key removed":       {`{a: 1, b: 2}`, `{b: 2}`, `{"dictionary_item_removed":["root['a']"]}`},
		"order of keys":     {`{z: 1, m: 1, a: {q: 1}}`, `{y: 1, b: 1, a: {p: 1}}`, `{"dictionary_item_added":["root['a']['p']","root['y']","root['b']"],"dictionary_item_removed":["root['z']","root['m']","root['a']['q']"]}`},
		"keys with quotes":  {`{"it's": 1, 'say "x"': 1, 'it''s "x"': 1, "": 1, __p: 1}`, `{}`, `{"dictionary_item_removed":["root[\"it's\"]","root['say \"x\"']","root[\"it's \"x\"\"]","root['']","root['__p']"]}`},
		"root value":        {`a`, `b`, `{"values_changed":{"root":{"new_value":"b","old_value":"a"}}}`},
		"root type":         {`{}`, `null`, `{"type_changes":{"root":{"old_type":"dict","new_type":"NoneType","old_value":{},"new_value":null}}}`},

		"item appended":      {`{l: [1, 2]}`, `{l: [1, 2, 4]}`, `{"iterable_item_added":{"root['l'][2]":4}}`},
		"item in front":      {`[b, c, d]`, `[a, b, c, d]`, `{"iterable_item_added":{"root[0]":"a"}}`},
		"item removed":       {`[a, b, c, d]`, `[b, c, d]`, `{"iterable_item_removed":{"root[0]":"a"}}`},
		"spec":               {`[1, 2]`, `[1, 3, 4]`, `{"iterable_item_added":{"root[2]":4},"values_changed":{"root[1]":{"new_value":3,"old_value":2}}}`},
		"added and removed":  {`[a, b, c, d, e, f]`, `[x, a, b, c, d, e]`, `{"iterable_item_added":{"root[0]":"x"},"iterable_item_removed":{"root[5]":"f"}}`},
		"index of old list":  {`[a, b, c, d, e]`, `[x, a, b, c, y, e]`, `{"iterable_item_added":{"root[0]":"x"},"values_changed":{"root[3]":{"new_value":"y","old_value":"d"}}}`},
		"surplus of new":     {`[a, b, c, d, e, f, g]`, `[b, c, d, e, x, y, g]`, `{"iterable_item_added":{"root[5]":"y"},"iterable_item_removed":{"root[0]":"a"},"values_changed":{"root[5]":{"new_value":"x","old_value":"f"}}}`},
		"pairs are not more": {`[1, 2, 3]`, `[3, 2, 1]`, `{"values_changed":{"root[0]":{"new_value":3,"old_value":1},"root[2]":{"new_value":1,"old_value":3}}}`},
		"pairs are as many":  {`[a, b]`, `[b, a]`, `{"values_changed":{"root[0]":{"new_value":"b","old_value":"a"},"root[1]":{"new_value":"a","old_value":"b"}}}`},
		"surplus is new":     {`[p, a, b, c, d, q, r, s, t]`, `[a, b, c, d, x, p, r, s, t]`, `{"iterable_item_added":{"root[5]":"p"},"iterable_item_removed":{"root[0]":"p"},"values_changed":{"root[5]":{"new_value":"x","old_value":"q"}}}`},
		"at the same path":   {`[false, false, null, 2, 3.8, null]`, "[null, false, -3, null, ~, 3, 2, null]", `{"iterable_item_added":{"root[0]":null,"root[5]":3},"type_changes":{"root[1]":{"old_type":"bool","new_type":"int","old_value":false,"new_value":-3}},"values_changed":{"root[4]":{"new_value":null,"old_value":3.8}}}`},
		"not hashable":       {`[{a: 1}, {b: 2}]`, `[{c: 1}, {a: 1}, {b: 2}]`, `{"dictionary_item_added":["root[0]['c']","root[1]['a']"],"dictionary_item_removed":["root[0]['a']","root[1]['b']"],"iterable_item_added":{"root[2]":{"b":2}}}`},
		"partly hashable":    {`[a, [1]]`, `[[1]]`, `{"iterable_item_removed":{"root[1]":[1]},"type_changes":{"root[0]":{"old_type":"str","new_type":"list","old_value":"a","new_value":[1]}}}`},
		"nested lists":       {`[[1, 2], [3]]`, `[[0, 1, 2], []]`, `{"iterable_item_added":{"root[0][0]":0},"iterable_item_removed":{"root[1][0]":3}}`},

		"lines":               {`"a\nb\n"`, `"a\nc\n"`, `{"values_changed":{"root":{"new_value":"a\nc\n","old_value":"a\nb\n","diff":"--- \n+++ \n@@ -1,2 +1,2 @@\n a\n-b\n+c"}}}`},
		"end of last line":    {`"a\nb\n"`, `"a\nb"`, `{"values_changed":{"root":{"new_value":"a\nb","old_value":"a\nb\n"}}}`},
		"one line to several": {`a`, `"a\r\nb"`, `{"values_changed":{"root":{"new_value":"a\r\nb","old_value":"a","diff":"--- \n+++ \n@@ -1 +1,2 @@\n a\n+b"}}}`},
		"no lines":            {`""`, `"a\n"`, `{"values_changed":{"root":{"new_value":"a\n","old_value":"","diff":"--- \n+++ \n@@ -0,0 +1 @@\n+a"}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := string(document.AppendJSON(nil, deep(t, parse(t, c.before), parse(t, c.after))))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestDeep_numbers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		before, after document.Number
		want          string
	}{
		{"1", "1", "{}"},
		{"1.0", "1.00", "{}"},
		{"1e3", "1000.0", "{}"},
		{"1E+3", "0.001e6", "{}"},
		{"-0.0", "0.0", "{}"},
		{"0e5", "0.0", "{}"},
		{"0", "-0", "{}"},
		{"100", "100", "{}"},
		{"-1.5", "1.5", "values_changed"},
		{"1", "10", "values_changed"},
		{"1.0", "10.0", "values_changed"},
		{"18446744073709551615", "18446744073709551614", "values_changed"},
		{"9007199254740993.0", "9007199254740992.0", "values_changed"},
		{"1e999999999", "10e999999998", "{}"},
		{"1e999999999", "1e999999998", "values_changed"},
		{"1e99999999999999999999", "1e99999999999999999999", "{}"},
		{"1e99999999999999999999", "1e99999999999999999998", "values_changed"},
		{"1", "1.0", "type_changes"},
		{"1000", "1e3", "type_changes"},
	} {
		got := document.Mapping{{Key: "{}"}}
		if result := deep(t, c.before, c.after); len(result) > 0 {
			got = result
		}
		if got[0].Key != c.want {
			t.Errorf("%s and %s: %s, want %s", c.before, c.after, got[0].Key, c.want)
		}
		if aligned := deep(t, []any{c.before}, []any{c.after}); len(aligned) > 0 && aligned[0].Key != c.want || len(aligned) == 0 && c.want != "{}" {
			t.Errorf("%s and %s as items: %v, want %s", c.before, c.after, aligned, c.want)
		}
	}
}

// Paths that would fill memory are not written.
func TestDeep_boundedPaths(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("k", 1<<20)
	var inner, other document.Mapping
	for i := range 100 {
		key := strconv.Itoa(i)
		inner = append(inner, document.Member{Key: key, Value: true})
		other = append(other, document.Member{Key: key, Value: false})
	}
	before, after := document.Mapping{{Key: long, Value: inner}}, document.Mapping{{Key: long, Value: other}}
	want := document.Mapping{{Key: "values_changed", Value: document.Mapping{newMeter(t.Context()).changed("root", before, after)}}}
	if diff := cmp.Diff(want, deep(t, before, after)); diff != "" {
		t.Errorf("(-want +got)\n%.500s", diff)
	}
	operations := patchOf(t, before, after)
	if len(operations) != 1 || operations[0].(document.Mapping).At("path") != "" {
		t.Errorf("%d operations", len(operations))
	}
}
