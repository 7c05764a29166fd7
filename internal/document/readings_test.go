package document

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"purser/internal/budget"
)

// readings are texts that YAML parsers read in different ways, and how PyYAML's safe loader reads them, as JSON;
// a refusal is its place and the beginning of its rule. Where Purser decides otherwise, it is said.
var readings = map[string]string{
	// Directives and byte order marks.
	"%YAML 1.2\n---\na: 1":                                                `{"a":1}`,
	"# c\n%YAML 1.2 # c\n\n  # c\n--- {a: 1}":                             `{"a":1}`,
	"%YAML 1.3\n%FOO x y\n---\na: 1\n":                                    `{"a":1}`,
	"%YAML 1.1\r\n---\r\na: 1\r\n":                                        `{"a":1}`,
	"a: 1\n%YAML 1.2\n---\nb: 2":                                          `{"a":1} {"b":2}`,
	"%YAML 1.2\n---\na: 1\n...\n%YAML 1.1\n---\nb":                        `{"a":1} "b"`,
	"%YAML 1.2\n%TAG !e! tag:yaml.org,2002:\n---\na: !e!str 1\n---\nb: 2": `{"a":"1"} {"b":2}`,
	"--- |\n  %YAML 1.2\n":                                                `"%YAML 1.2\n"`,
	"a\n%YAML 1.2\n":                                                      `"a %YAML 1.2"`,
	"'a\n%YAML 1.2\n'":                                                    `"a %YAML 1.2 "`,
	"%YAML 2.0\n---\na: 1":                                                "line 1, column 1: the directive %YAML asks for another version than 1.x",
	"a: 1\n...\n%YAML x\n---\nb: 2":                                       "line 3, column 1: the directive %YAML needs a version",
	"%YAML 1.1#\n---\n":                                                   "line 1, column 1: the directive %YAML needs a version",
	"%YAML 1.2\n%YAML 1.2\n---\na: 1":                                     "line 2, column 1: two directives %YAML",
	"%YAML 1.2\na: 1":                                                     "line 2, column 1: a line with --- must follow",
	"%YAML 1.2\n":                                                         "line 1, column 1: a line with --- must follow",
	"a: 1\n%FOO\n---\nb: 2":                                               "document 1, line 2, column 1: ",
	"a: |\n    \tx\nb: \"x\\ue000y\"":                                     "document 1, line 2",
	"{a :}":                                                               `{"a":null}`,
	"[host : , port :]":                                                   `[{"host":null},{"port":null}]`,
	"\ufeffa: 1":                                                          `{"a":1}`,
	"\ufeff---\na: 1\n\ufeff---\nb: 2\n":                                  `{"a":1} {"b":2}`,
	"a: 1\n...\n\ufeff%YAML 1.2\n---\nb: 2":                               `{"a":1} {"b":2}`,
	"\ufeff# c\n\ufeff--- # c\na: '\ufeffb'":                              `{"a":"` + "\ufeff" + `b"}`,
	"\ufeff":                                                              "",
	// Keys.
	"=: 1\nb: {=: 2}":            `{"=":1,"b":{"=":2}}`,
	"{&x =: &y a, b: *x, c: *y}": `{"=":"a","b":"=","c":"a"}`,
	"a: =":                       "line 1, column 4: YAML 1.1 reserves this scalar",
	"a: <<":                      "line 1, column 4: YAML 1.1 reserves this scalar",
	"[<<, a]":                    "line 1, column 2: YAML 1.1 reserves this scalar",
	"b: &x {a: 1}\n<<: [*x, {c: 2}]\n<<: {a: 3}": `{"c":2,"a":3,"b":{"a":1}}`,
	"{'<<': 1, \"<<\": 2, !!str <<: 3}":          `{"<<":3}`,
	"<<: [[{a: 1}]]":                             "line 1, column 5: << merges a mapping or a list",
	"{1: a, 0x10: b, 2001-01-01: c}":             `{"1":"a","16":"b","2001-01-01":"c"}`,                    // PyYAML: a date
	"{~: 1}":                                     "line 1, column 2: a key must be a string or an integer", // PyYAML reads it
	"- {a:, b: 1}\n- {c:}\n- [d:, e]\n- {f:: g}": `[{"a":null,"b":1},{"c":null},[{"d":null},"e"],{"f:":"g"}]`,
	"a: 1\n...\n\ufeffb: 2":                      `{"a":1} {"b":2}`,
	"{&x a:, !!str b:}":                          "line 1, column 2: a key with an anchor or a tag needs a space",               // PyYAML reads it
	"a: {b:[c]}":                                 "line 1: a comma or '}' must follow the value; write a space after the colon", // PyYAML reads it
	"a: {\"b\":[1], 'c':{d: [e]}}":               `{"a":{"b":[1],"c":{"d":["e"]}}}`,
	"{a: b:}":                                    "line 1, column 5: a second colon after the last comma",
	"{a: 'b:', c: \"d:\", 'e:': 1, \"f:\":, g: [h:i, 'j:']}": `{"a":"b:","c":"d:","e:":1,"f:":null,"g":["h:i","j:"]}`,
	"a: {b: c:\n}": "line 1: a comma or '}' must follow the value",
	// Tags.
	"[!!timestamp 2017-09-22, !!timestamp '2017-9-2', !!timestamp 2017-09-22 12:57:44Z]": `["2017-09-22","2017-9-2","2017-09-22 12:57:44Z"]`,
	"a: !!timestamp x":                    "line 1, column 4: !!timestamp needs a date",
	"a: !!timestamp 2017-02-30":           "line 1, column 4: there is no such date",
	"a: !<tag:yaml.org,2002:timestamp> 5": "line 1, column 4: !!timestamp needs a date",
	"[!!int 0o17, !!int 017, !!int '0x1f', !!bool yEs, !!float 1, !!str 1, !!null x, ! 5, ! a]": `[15,15,31,true,1.0,"1",null,5,"a"]`,
	"! '5'":            `"5"`, // PyYAML: 5
	"!!float 0x1p4":    "line 1, column 1: the tag asks for a number",
	"a: !!binary aGk=": "line 1, column 4: the tag !!binary is not read here", // PyYAML reads it
	"a: !!set {a}":     "line 1, column 4: the tag !!set is not read here",    // PyYAML reads it
	"a: !!int [1]":     "line 1, column 4: the tag !!int is not read here",
	"a: !secret":       "line 1, column 4: '!' begins a tag, and this one is not read",
	"a: !secret [b]":   "line 1, column 4: '!' begins a tag, and this one is not read",
	// Numbers.
	"[18446744073709551615, -9223372036854775808, 18446744073709551616.0]": "[18446744073709551615,-9223372036854775808,1.8446744073709552e+19]",
	"a: 18446744073709551616": "line 1, column 4: integers have at most 64 bits here; write it with a fraction, such as 18446744073709551616.0", // PyYAML reads it
	"a: -0x8000000000000001":  "line 1, column 4: integers have at most 64 bits",                                                                // PyYAML reads it
	"a: 1.0e+400":             "line 1, column 4: numbers with a fraction or an exponent are below",                                             // PyYAML: infinity
	"a: .inf":                 "line 1, column 4: JSON has no infinity",                                                                         // PyYAML reads it
	// Texts.
	`["a\/b", 'c\/d', e\/f, "\\/", "\\\/"]`:                    `["a/b","c\\/d","e\\/f","\\/","\\/"]`,
	"a: \"\\/\"\nb: |\n  \\/\nc: &x 'd'\ne: >\n  \\/\n  \\/\n": `{"a":"/","b":"\\/\n","c":"d","e":"\\/ \\/\n"}`,
	"&x a: \"\\/ \\a \\u0007 \\P\"":                            `{"a":"/ \u0007 \u0007 ` + "\u2029" + `"}`,
	`"\ud83d\ude00"`:                                           "line 1: an escape in double quotes stands for no character: \\ud800", // PyYAML: two halves
	`"\q"`:                                                     "line 1: a backslash in double quotes begins an escape sequence",
	"a: |\n \tb\n \tc\nd: |-  # c\n\n  \te":                    `{"a":"\tb\n\tc\n","d":"\n\te"}`,
	"a: &x |\n  \tb\n   c\nd: !!str |+\n \te\n":                `{"a":"\tb\n c\n","d":"\te\n"}`,
	"a: |\n \tb\nc: 'd |\n  \te'\n":                            `{"a":"\tb\n","c":"d | e"}`,
	"a: |\n \tb\nc:\n - |\n  \td\n  e\n":                       `{"a":"\tb\n","c":["\td\ne\n"]}`,
	"a: >\n \tb\n":                                             "line 2: a tab begins a text after >", // PyYAML reads it
	"a:\n # |\n \tb: 1":                                        "a tab in the indentation; indent with spaces",
	"a: \"b\" # c\nd: [-, e]#c":                                `{"a":"b","d":["-","e"]}`,
	"# c\ra: 1\r":                                              `{"a":1}`,
	"# c\u2028a: 1\n---\n# d\u0085b: 2":                        `{"a":1} {"b":2}`,
}

func TestDecode_readings(t *testing.T) {
	t.Parallel()
	strict := DefaultLimits()
	strict.Strict = true
	for body, want := range readings {
		for name, limits := range map[string]Limits{"default": DefaultLimits(), "strict": strict} {
			values, _, err := readAllWithin(t.Context(), body, YAML, limits)
			if err != nil {
				if got := Details(err); !strings.Contains(got, want) || want == "" {
					t.Errorf("%s: %q is refused: %s\nwant %s", name, body, got, want)
				}
				continue
			}
			texts := make([]string, len(values))
			for i, value := range values {
				texts[i] = string(AppendJSON(nil, value))
			}
			if got := strings.Join(texts, " "); got != want {
				t.Errorf("%s: %q is read as %s\nwant %s", name, body, got, want)
			}
		}
	}
}

// marker is a text that no message may hold, with the characters of passwords.
const marker = "S3cretX"

// hidden draws a text like a document, often with mistakes and with the marker in any place.
func hidden(t *rapid.T) string {
	pieces := rapid.SampledFrom([]string{
		marker, "*" + marker, "!" + marker, "&" + marker + " ", "!!" + marker + " ", "!<" + marker + "> ", "%" + marker, "\"" + marker, "'" + marker,
		"\\" + marker, "@" + marker, "{" + marker + ":}", "[" + marker, "]" + marker, "|" + marker, ": " + marker + ": ", "- " + marker, "%TAG !" + marker + "! ",
		"%YAML " + marker, marker + ": ", marker + ": 1\n", "a: ", "b: {", "}", "[", "]", ", ", "\n", "\n  ", "\n- ", "\n---\n", "\n...\n", "<<: ", "*a", "&a ", "\"", "'",
		"\t", " # ", "\\x4", "\r", "1", "schema: " + marker + "\nmetadata: {name: " + marker + "}\n", "!!int ", "!!timestamp ", "\"\\ud800", ".nan", "\ufeff", "\x07",
	})
	return strings.Join(rapid.SliceOfN(pieces, 1, 12).Draw(t, "pieces"), "")
}

// No fault about a text quotes any part of it, whichever reader refuses it.
func TestDecode_quotesNothing(t *testing.T) {
	t.Parallel()
	refused := 0
	rapid.Check(t, func(t *rapid.T) {
		body := hidden(t)
		small := Limits{Documents: 2, Size: 60, Depth: 2, Values: 5}
		for _, media := range []Media{YAML, JSON} {
			for _, limits := range []Limits{DefaultLimits(), small} {
				segments, err := Split(t.Context(), []byte(body), media, limits)
				if err == nil {
					segments, err = Listed(t.Context(), []byte(body), segments, limits)
				}
				errs := []error{err}
				for _, s := range segments {
					entry, err := Decode(t.Context(), s, limits)
					errs = append(errs, err, entry.Twice)
				}
				if err := errors.Join(errs...); err != nil {
					refused++
					requireNoMarker(t, body, err.Error())
				}
			}
		}
		if err := JSONSyntax([]byte(body)); err != nil {
			requireNoMarker(t, body, err.Error())
		}
		_, _, err := Parse(budget.NewMeter(t.Context()), []byte(body))
		requireNoMarker(t, body, fmt.Sprint(err))
	})
	if refused == 0 {
		t.Error("no text was refused")
	}
}

func requireNoMarker(t *rapid.T, body string, messages ...string) {
	t.Helper()
	for _, message := range messages {
		if strings.Contains(message, marker) || strings.Contains(message, marker[:3]) {
			t.Fatalf("%q: %s", body, message)
		}
	}
}

// A position of the YAML library in a text with stand-ins is one in the text that was written.
func TestPositions_standIns(t *testing.T) {
	t.Parallel()
	const body = "%YAML 1.2\n---\na: [\"\\/\", b]\nc: |\n  \td\ne: {f:, g: 1}\n"
	limits := DefaultLimits()
	limits.Strict = true
	segments, err := Split(t.Context(), []byte(body), YAML, limits)
	if err != nil {
		t.Fatal(err)
	}
	at, err := Positions(budget.NewMeter(t.Context()), segments[0], [][]string{{"a", "1"}, {"c"}, {"e", "f"}, {"e", "g"}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(at), "[{3 11} {4 4} {6 7} {6 12}]"; got != want {
		t.Errorf("positions %s, want %s", got, want)
	}
	if bytes.Contains(segments[0].Text, []byte("%")) {
		t.Errorf("%s", segments[0].Text)
	}
}
