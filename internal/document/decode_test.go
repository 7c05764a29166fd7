package document

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/fault"
)

func requireRefusal(t *testing.T, value any, err error, part string) {
	t.Helper()
	var f *fault.Fault
	if !errors.As(err, &f) {
		t.Fatalf("read as %v with error %v, want a fault with %q", value, err, part)
	}
	if !strings.Contains(f.Message, part) {
		t.Errorf("message %q does not contain %q", f.Message, part)
	}
}

func readAll(t *testing.T, body string, media Media) ([]any, []Note, error) {
	t.Helper()
	return readAllIn(t.Context(), body, media)
}

func readAllIn(ctx context.Context, body string, media Media) ([]any, []Note, error) {
	return readAllWithin(ctx, body, media, DefaultLimits())
}

func readAllWithin(ctx context.Context, body string, media Media, limits Limits) ([]any, []Note, error) {
	segments, err := Split(ctx, []byte(body), media, limits)
	if err != nil {
		return nil, nil, err
	}
	var values []any
	var notes []Note
	for _, segment := range segments {
		entry, err := Decode(ctx, segment, limits)
		if err != nil {
			return nil, nil, err
		}
		values, notes = append(values, entry.Value), append(notes, entry.Notes...)
	}
	return values, notes, nil
}

func TestSplit(t *testing.T) {
	t.Parallel()
	one, two := Mapping{{"a", Number("1")}}, Mapping{{"b", Number("2")}}
	for name, c := range map[string]struct {
		body string
		want []any
	}{
		"nothing":                        {"", nil},
		"only comments":                  {"# x\n\n  # y\n", nil},
		"bare":                           {"a: 1", []any{one}},
		"marked":                         {"---\na: 1\n---\nb: 2\n...\n", []any{one, two}},
		"comment first":                  {"# x\n---\na: 1\n", []any{one}},
		"on the marker's line":           {"--- {a: 1}\n--- {b: 2}", []any{one, two}},
		"windows line ends":              {"---\r\na: 1\r\n---\r\nb: 2\r\n", []any{one, two}},
		"null document":                  {"---", []any{nil}},
		"null document at the end":       {"a: 1\n---\n", []any{one, nil}},
		"nothing behind an end":          {"a: 1\n...\n# done\n", []any{one}},
		"bare behind an end":             {"a: 1\n...\nb: 2\n", []any{one, two}},
		"marker behind an end":           {"a: 1\n...\n---\nb: 2\n", []any{one, two}},
		"dashes in a block are text":     {"a: |\n  ---\n  x\n", []any{Mapping{{"a", "---\nx\n"}}}},
		"four dashes are text":           {"----\n", []any{"----"}},
		"directives":                     {"%YAML 1.1\n---\na: 1\n---\nb: 2\n", []any{one, two}},
		"percent inside a value":         {"a: |\n %x\n", []any{Mapping{{"a", "%x\n"}}}},
		"a comment between two of them":  {"---\na: 1\n# c\n---\nb: 2\n", []any{one, two}},
		"a comment behind the last mark": {"---\na: 1\n---\n# c\n", []any{one, nil}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, _, err := readAll(t, c.body, YAML)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestSplit_refused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ body, part string }{
		"utf-16":           {"\xff\xfea\x00", "UTF-16"},
		"not utf-8":        {"a: 1\nb: \xff\n", "line 2, column 4: the byte 0xff is not UTF-8"},
		"nul":              {"a: 1\nb: \x00\n", "line 2, column 4: a NUL byte"},
		"unclosed":         {"a: 1\n---\nb: [1\n", "document 2"},
		"two roots":        {"---\na: 1\n]\n", "document 1"},
		"indentation":      {"---\na: 1\n---\nb: 2\n  c: 3\n", "document 2, line 5, column 3: the line is indented by 2, but the entry at line 4 has a value"},
		"unknown anchor":   {"a: *b", "line 1, column 4: '*' begins an alias, and no such anchor precedes it"},
		"bad directive":    {"%FOO\n---\n%YAML x\n---\n", "directive"},
		"behind an end":    {"a: 1\n... garbage: {{{ [\n", "line 2"},
		"carriage returns": {"---\ra: 1\r---\rb: 2\r", "document 1 (from line 1): a --- or ... follows"},
		"line separators":  {"---\u2028a: 1\u2028---\u2028b: 2", "a --- or ... follows"},
		"across documents": {"a: &x 1\n---\nb: *x\n", "document 2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			values, _, err := readAll(t, c.body, YAML)
			requireRefusal(t, values, err, c.part)
		})
	}
}

func TestSplit_json(t *testing.T) {
	t.Parallel()
	got, notes, err := readAll(t, "[\n{\"a\": 1, \"b\": [1.0, 1e2, true, null, \"\\u00e9\"], \"a\": 2},\n {}]", JSON)
	if err != nil {
		t.Fatal(err)
	}
	want := []any{
		Mapping{{"a", Number("2")}, {"b", []any{Number("1.0"), Number("100.0"), true, nil, "é"}}}, Mapping{},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	wantNotes := []Note{{
		Message: "The key 'a' appears twice in one mapping, at lines 2 and 2; the last one wins.", Level: "Info",
		Key: "a", First: Position{2, 2}, Second: Position{2, 49},
	}}
	if diff := cmp.Diff(wantNotes, notes); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for body, part := range map[string]string{
		`[{"a": 1}] x`: "JSON. Details: line 1, column 12: the value has ended before this character", `[1e4e]`: "line 1, column 5: a comma or ']' must follow the item",
		"{\"a\": \"x\n}\"}": "line 1, column 9: this character cannot stand in a string",
		`[1,`:               "JSON. Details: line 1, column 3: the text ends early", `{"a": "b", `: "line 1, column 11: the text ends early: a bracket or a quote is not closed",
		"\n{\"a\":1}\n}": "line 3, column 1: the value has ended before this", "{}\n,{}": "line 2, column 1: the value has ended before this character; send several documents as one array",
		"{}\n]": "line 2, column 1: the value has ended before this", "}": "column 1: an array or an object must begin here", "{} {}": "the value has ended before this",
		"[{},\n\n\n{},\n\n{x}]": "line 6, column 2: a key cannot begin with this character", "[{\"a\": \"\n\"}]": `line 1, column 9: this character cannot stand in a string`,
		"[{}\n{}]": "line 2, column 1: a comma or ']' must follow the item", "[[{}]\n": "line 1, column 6: the text ends early",
		"a: b":  "line 1, column 1: an array or an object must begin here; send YAML with Content-Type: application/x-yaml",
		`[{},]`: "column 5: a value is missing before the bracket; remove the comma before it", `{"a":1,}`: "column 8: a key is missing before the bracket; remove the comma before it",
		`['a']`: "column 2: a string is in double quotes", `{'a':1}`: "column 2: a key cannot begin with this character", `{"a" 1}`: "column 6: a colon must follow the key",
		`{"a":1 "b":2}`: "column 8: a comma or '}' must follow the value", `["\q"]`: `column 3: this is not an escape; write a backslash as \\`, `["\u12g4"]`: "column 3: this is not an escape",
		`[nul]`: "column 5: the only words are true, false and null; write", `[-]`: "column 3: a number cannot have this character", `[1.]`: "column 4: a number cannot have this character; write a text in double quotes",
		`[1ex]`: "column 4: a number cannot have this character", `["` + "\xe9" + `"]`: "JSON. Details: line 1, column 3: the byte 0xe9 is not UTF-8; save the text as UTF-8",
		"\x1f\x8b[]": "JSON. Details: line 1: the text is compressed with gzip",
		`[1e999]`:    "line 1, column 2: numbers with a fraction or an exponent are below 1.8e+308", "[\n\n 18446744073709551616]": "line 3, column 2: integers",
		`["\ud83d\ude00", "\\ud800", "\ud800"]`: `JSON. Details: line 1, column 30: an escape stands for half of a character`, `["\ude00x"]`: "half", `["\ud83d\n"]`: "half",
	} {
		values, _, err := readAll(t, body, JSON)
		requireRefusal(t, values, err, part)
	}
}

// Without a separator between two documents, the second one would silently replace the first.
func TestDecode_twiceAtTheTop(t *testing.T) {
	t.Parallel()
	const doc = "schema: %s\nmetadata: {name: w}\ndata: {}\n"
	for body, want := range map[string]string{
		"a: 1\nb: {c: 1, c: 2}": "",
		"- a: 1\n  a: 2":        "",
		"<<: {a: 1}\na: 2":      "",
		"a: 1\nb: 2\na: 3":      "line 3, column 1: a key appears twice at the top level, at lines 1 and 3; is a line with ---",
		"---\n" + fmt.Sprintf(doc, "one") + fmt.Sprintf(doc, "two"): "document 1, line 5, column 1: a key " +
			"appears twice at the top level, at lines 2 and 5",
		"---\nx: 1\n---\ny: 1\ny: 2\ny: 3": "document 2, line 5, column 1: a key appears twice at the top level, at lines 4 and 5",
		"%YAML 1.1\n---\ny: 1\ny: 2":       "line 4, column 1: a key appears twice at the top level, at lines 3 and 4",
		"{y: 1, 'é':, y: 2}":               "line 1, column 14: a key appears twice at the top level, on line 1",
	} {
		segments, err := Split(t.Context(), []byte(body), YAML, DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		entry, err := Decode(t.Context(), segments[len(segments)-1], DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(entry.Twice); (want == "") != (entry.Twice == nil) || !strings.Contains(got, want) {
			t.Errorf("%q: %s\nwant %s", body, got, want)
		}
	}
	segments, err := Split(t.Context(), []byte("[{\"a\": 1,\n\"a\": 2}]"), JSON, DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	const want = "formatted JSON. Details: document 1, line 2, column 1: a key appears twice at the top level, at lines 1 and 2"
	entry, err := Decode(t.Context(), segments[0], DefaultLimits())
	if err != nil || entry.Twice == nil || !strings.HasSuffix(entry.Twice.Error(), want) {
		t.Errorf("of JSON: %v, want %s (%v)", entry.Twice, want, err)
	}
}

// The library's messages are reworded if findMistake does not look for the mistake.
func TestDecode_reworded(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"a: b\n--- x: y\n":                  "document 2, line 2: a key cannot stand here: it is on the line of ---",
		strings.Repeat("k", 2000) + ": 1\n": "longer than 1024 characters; begin it on a line of its own",
		"%YAML 2.0\n---\na: 1\n":            "line 1, column 1: the directive %YAML asks for another version than 1.x",
		"a: 1\nb: \"\\ud800\"\n":            `document 1, line 2: an escape in double quotes stands for no character: \ud800, for example, is half of one`,
	} {
		values, _, err := readAll(t, body, YAML)
		requireRefusal(t, values, err, want)
	}
}

func TestDecode_mappings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body  string
		want  Mapping
		notes int
	}{
		"order is kept":            {"b: 1\na: 2", Mapping{{"b", Number("1")}, {"a", Number("2")}}, 0},
		"integer keys":             {"1: a\n017: b", Mapping{{"1", "a"}, {"15", "b"}}, 0},
		"the last duplicate wins":  {"a: 1\nb: 2\na: 3", Mapping{{"a", Number("3")}, {"b", Number("2")}}, 1},
		"merge":                    {"<<: {a: 1, b: 2}\nb: 3", Mapping{{"a", Number("1")}, {"b", Number("3")}}, 0},
		"merge behind":             {"b: 3\n<<: {a: 1, b: 2}", Mapping{{"a", Number("1")}, {"b", Number("3")}}, 0},
		"the first merged wins":    {"<<: [{a: 1}, {a: 2, b: 2}]", Mapping{{"a", Number("1")}, {"b", Number("2")}}, 0},
		"quoted merge is a key":    {"'<<': {a: 1}", Mapping{{"<<", Mapping{{"a", Number("1")}}}}, 0},
		"aliases are copied":       {"a: &x {k: 1}\nb: *x", Mapping{{"a", Mapping{{"k", Number("1")}}}, {"b", Mapping{{"k", Number("1")}}}}, 0},
		"a date is a key too":      {"2001-01-01: a", Mapping{{"2001-01-01", "a"}}, 0},
		"three of a key, two said": {"a: 1\na: 2\na: 3", Mapping{{"a", Number("3")}}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			values, notes, err := readAll(t, c.body, YAML)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]any{c.want}, values); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if len(notes) != c.notes {
				t.Errorf("notes %v, want %d", notes, c.notes)
			}
		})
	}
}

func TestDecode_limits(t *testing.T) {
	t.Parallel()
	bomb := "a: &a [x, x, x]\n"
	var bombSb169 strings.Builder
	for c := 'b'; c < 'k'; c++ {
		bombSb169.WriteString(strings.NewReplacer("N", string(c), "P", string(c-1)).Replace("N: &N [*P, *P, *P, *P, *P, *P, *P, *P, *P]\n"))
	}
	bomb += bombSb169.String()
	merges := "m0: &m0 {k: 1}\n"
	var mergesSb173 strings.Builder
	for i := 1; i < 40; i++ {
		fmt.Fprintf(&mergesSb173, "m%d: &m%d {<<: [*m%d, *m%d]}\n", i, i, i-1, i-1)
	}
	merges += mergesSb173.String()
	for name, c := range map[string]struct{ body, part string }{
		"deep flow":              {strings.Repeat("[", 10000) + strings.Repeat("]", 10000), "nested deeper than 100 levels; make it flatter, or raise the server's --max-depth"},
		"deeper flow":            {strings.Repeat("[", 20000), "nested deeper than 100 levels; make it flatter, or raise the server's --max-depth"},
		"deep block":             {indented(500), "nested deeper than 100 levels; make it flatter, or raise the server's --max-depth"},
		"alias bomb":             {bomb, "aliases expanded; split it up, or raise the server's --max-values"},
		"merge chain":            {merges, "aliases expanded; split it up, or raise the server's --max-values"},
		"many keys":              {strings.Repeat("k: 1\n", 500_000), "--max-values"},
		"large scalar":           {"a: " + strings.Repeat("x", 8<<20), "a document has at most 4194304; split it up, or raise the server's --max-document-size"},
		"long list by directive": {"%TAG ! x\n---\n[" + strings.Repeat("a,", 500_000) + "a]", "counts as one document"},
		"long integer":           {"a: 1" + strings.Repeat("9", 1_000_000), "integers have at most 64 bits"},
		"long sexagesimal":       {"a: 1" + strings.Repeat(":1", 100_000), "integers have at most 64 bits"},
		"large expanded": {
			"a: &a " + strings.Repeat("x", 1<<20) + "\nb: [" + strings.Repeat("*a, ", 100) + "]",
			"once its aliases are expanded; split it up, or raise the server's --max-document-size",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			values, _, err := readAll(t, c.body, YAML)
			requireRefusal(t, values, err, c.part)
		})
	}
	limits := DefaultLimits()
	limits.Documents = 2
	segments, err := Split(t.Context(), []byte("--- 1\n--- 2\n--- 3\n"), YAML, limits)
	requireRefusal(t, segments, err, "more than 2 documents; send it as several buckets, or raise the server's --max-documents")
	segments, err = Split(t.Context(), []byte("[1,2,3]"), JSON, limits)
	requireRefusal(t, segments, err, "more than 2 documents; send it as several buckets, or raise the server's --max-documents")
}

func TestDecode_locatesTheMistake(t *testing.T) {
	t.Parallel()
	body := "---\na: 1\n---\nschema: acme/Widget/v1\nmetadata: {name: w1}\ndata:\n  x: .nan\n"
	values, _, err := readAll(t, body, YAML)
	requireRefusal(t, values, err, "document 2, line 7, column 6: JSON has no infinity and no NaN")
}
