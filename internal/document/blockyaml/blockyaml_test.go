package blockyaml_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"purser/internal/document/blockyaml"
)

func TestAppend(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ json, want string }{
		"scalars":      {`{"a":1,"b":1e-07,"c":null,"d":true,"e":"x y"}`, "a: 1\nb: 1.0e-07\nc: null\nd: true\ne: x y\n"},
		"what is text": {`["1","yes","~","","a: b","#","-","é","0x1","1:30","null"]`, "- '1'\n- 'yes'\n- '~'\n- ''\n- 'a: b'\n- '#'\n- '-'\n- \"\\xe9\"\n- '0x1'\n- '1:30'\n- 'null'\n"},
		"addresses":    {`["10.0.0.1","10.0.0.0/8","1.0",".5","1:30",".data.a",".inf","2001-01-01 00:00:00","9 of 10","$ref","^a$"]`, "- 10.0.0.1\n- 10.0.0.0/8\n- '1.0'\n- '.5'\n- '1:30'\n- .data.a\n- '.inf'\n- '2001-01-01 00:00:00'\n- 9 of 10\n- $ref\n- ^a$\n"},
		"nesting":      {`{"a":{"b":[{"c":1,"d":[[2,3]]},{}]},"e":[]}`, "a:\n  b:\n  - c: 1\n    d:\n    - - 2\n      - 3\n  - {}\ne: []\n"},
		"lines":        {`{"a":"x\n y\n","b":"x\ny","c":"x\n\n"}`, "a: |\n  x\n   y\nb: |-\n  x\n  y\nc: |+\n  x\n\n"},
		"odd lines":    {`[" x\ny","x \ny","x\ty\nz"]`, "- \" x\\ny\"\n- \"x \\ny\"\n- \"x\\ty\\nz\"\n"},
		"odd keys":     {`{"1":1,"a b":2,"x\ny":3}`, "'1': 1\na b: 2\n? \"x\\ny\"\n: 3\n"},
		"a root text":  {`"a\nb"`, "|-\n  a\n  b\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, string(blockyaml.Append(nil, []byte(c.json)))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// Text that would be mostly indentation takes at most about ten times as many bytes as its JSON.
func TestAppend_indentation(t *testing.T) {
	t.Parallel()
	const depth = 95
	for name, c := range map[string]struct {
		inner string // value at many levels
		times int    // maximum size of the YAML, as a multiple of the JSON's
	}{
		"long lines":          {`"` + strings.Repeat(strings.Repeat("a", depth)+`\n`, 10_000) + `"`, 4},
		"short lines":         {`"` + strings.Repeat(`a\n`, 10_000) + `"`, 9},
		"many texts of lines": {"[" + strings.Repeat(`"`+strings.Repeat(`a\n`, 100)+`",`, 500) + "1]", 9},
		"numbers":             {"[" + strings.Repeat("1,", 50_000) + "1]", 9},
		"mappings":            {"[" + strings.Repeat(`{"a":{"b":1}},`, 50_000) + "1]", 9},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.Repeat("[", depth) + c.inner + strings.Repeat("]", depth)
			got := blockyaml.Append(nil, []byte(text))
			if len(got) > c.times*len(text) {
				t.Errorf("%d bytes of JSON are %d of YAML", len(text), len(got))
			}
			var value any
			if err := yaml.Unmarshal(got, &value); err != nil {
				t.Fatal(err)
			}
			if again, err := json.Marshal(value); err != nil || string(again) != text {
				t.Errorf("is not read as the same value (%v)", err)
			}
		})
	}
}

// Values nested deeper than a hundred levels are in flow style, so the YAML is not many times as large as the JSON.
func TestAppend_deep(t *testing.T) {
	t.Parallel()
	const key = "a key of more than a hundred bytes that could not stand in front of a colon where some parsers look for it"
	inner := `{"a":[1,1e-07,null,"yes",{},[],[[]]],"x\n":"é\n","` + key + `":{"b":"c"}}`
	block := "a:\n- 1\n- 1.0e-07\n- null\n- 'yes'\n- {}\n- []\n- [[]]\n"
	flow := `{"a": [1, 1.0e-07, null, "yes", {}, [], [[]]], "x\n": "\xe9\n", ? "` + key + `": {"b": "c"}}`
	for depth, want := range map[int]string{100: block, 101: flow, 1000: flow} {
		text := strings.Repeat(`{"k":`, depth) + inner + strings.Repeat("}", depth)
		got := string(blockyaml.Append(nil, []byte(text)))
		if !strings.Contains(strings.ReplaceAll(got, strings.Repeat("  ", depth), ""), want) {
			t.Errorf("%d levels:\n%s\nwithout\n%s", depth, got, want)
		}
		var value any
		if err := yaml.Unmarshal([]byte(got), &value); err != nil {
			t.Fatalf("%d levels: %v", depth, err)
		}
		same, err := json.Marshal(value)
		if err != nil || !strings.Contains(string(same), `{"a":[1,1e-7,null,"yes",{},[],[[]]],"`+key) {
			t.Errorf("%d levels are read as %s, %v", depth, same, err)
		}
	}
	text := strings.Repeat("[", 1000) + strings.Repeat("1,", 100_000) + "1" + strings.Repeat("]", 1000)
	if got := len(blockyaml.Append(nil, []byte(text))); got > 400_000 {
		t.Errorf("%d bytes of JSON are %d of YAML", len(text), got)
	}
}

// A text that is too large is cut off soon after the limit.
func TestAppendAtMost(t *testing.T) {
	t.Parallel()
	const whole = "- a:\n  - b\n  - c\n- d\n"
	for most := range len(whole) + 2 {
		text, complete := blockyaml.AppendAtMost([]byte("x"), []byte(`[{"a":["b","c"]},"d"]`), most)
		begun := ("x" + whole)[:min(len(text), len(whole)+1)]
		if complete != (most > len(whole)) || string(text) != begun || len(text) > most+6 {
			t.Errorf("at most %d: %q, complete: %t", most, text, complete)
		}
	}
	for _, depth := range []int{100, 1000} {
		deep := strings.Repeat("[", depth) + strings.Repeat("1,", 100_000) + "1" + strings.Repeat("]", depth)
		if text, complete := blockyaml.AppendAtMost(nil, []byte(deep), 10_000); complete || len(text) > 20_000 {
			t.Errorf("%d levels: %d bytes, complete: %t", depth, len(text), complete)
		}
	}
}
