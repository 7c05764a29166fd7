package jsonschema

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func repeat(s string, n int) string { return strings.TrimSuffix(strings.Repeat(s+",", n), ",") }

// numbered joins n strings made from a format with one number in it.
func numbered(format string, n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// nested returns a schema of nested anyOf; beside is the text before the last branch of each.
func nested(levels int, beside string) string {
	return strings.Repeat(`{"anyOf":[`+beside, levels) + `{"type":"string"}` + strings.Repeat(`]}`, levels)
}

// doubling returns a schema whose definitions each refer to the next one twice.
func doubling(levels int) string {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/definitions/d0","definitions":{`)
	for i := range levels {
		fmt.Fprintf(&b, `"d%d":{"anyOf":[{"$ref":"#/definitions/d%d"},{"$ref":"#/definitions/d%d"}]},`, i, i+1, i+1)
	}
	fmt.Fprintf(&b, `"d%d":{"type":"string"}}}`, levels)
	return b.String()
}

// chain returns a schema whose definitions each refer to the next one.
func chain(length int) string {
	return `{"$ref":"#/definitions/0","definitions":{` + numberedPairs(length) + fmt.Sprintf(`"%d":{}}}`, length)
}

func numberedPairs(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"%d":{"$ref":"#/definitions/%d"},`, i, i+1)
	}
	return b.String()
}

func TestCompile_nestedCombinators(t *testing.T) {
	t.Parallel()
	for _, beside := range []string{"", `{"type":"null"},`} {
		if _, err := Compile(unmetered(), []byte(nested(maxLevels, beside)), Options{}); err != nil {
			t.Errorf("%d levels are refused: %v", maxLevels, err)
		}
		for _, levels := range []int{17, 20, 40} {
			found := refusal(t, nested(levels, beside))
			want := fmt.Sprintf("its combinators (allOf, anyOf, oneOf, not, dependencies) are nested %d deep at one place of the"+
				" data, and 16 is the most: simplify them", levels)
			if diff := cmp.Diff([]string{" | . | " + want}, lines(found)); diff != "" {
				t.Errorf("%d levels (-want +got):\n%s", levels, diff)
			}
		}
	}
}

func TestCompile_largeSchemas(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		schema string
		usable bool
	}{
		"properties":            {`{"properties":{` + numbered(`"a%d":{"type":"string"}`, 10_000) + `}}`, true},
		"patterns":              {`{"patternProperties":{` + numbered(`"^a%d$":{}`, 2000) + `}}`, true},
		"a pattern too large":   {`{"pattern":"` + strings.Repeat("(a", 1000) + strings.Repeat("b)", 1000) + `{1000}"}`, false},
		"patterns too large":    {`{"patternProperties":{` + numbered(`"a{1000}b%d":{}`, 500) + `}}`, false},
		"each property open":    {`{"properties":{` + numbered(`"a%d":{}`, 9000) + `},"allOf":[` + repeat(`{"additionalProperties":{}}`, 3000) + `]}`, true},
		"each property at once": {`{"properties":{` + numbered(`"a%d":{"$ref":"#/definitions/b"}`, 9000) + `},"definitions":{"b":{"allOf":[` + repeat(`{}`, 9000) + `]}}}`, true},
		"long chain":            {chain(15_000), false},
		"binary tree":           {`{"properties":{"left":{"$ref":"#"},"right":{"$ref":"#"}}}`, true},
		"two halves of a tree":  {`{"allOf":[{"properties":{"left":{"$ref":"#"}}},{"properties":{"right":{"$ref":"#"}}}]}`, true},
		"any JSON": {`{"anyOf":[{"type":"string"},{"type":"array","items":{"$ref":"#"}},
			{"type":"object","additionalProperties":{"$ref":"#"}}]}`, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Compile(unmetered(), []byte(tt.schema), Options{})
			if usable := err == nil; usable != tt.usable {
				t.Errorf("usable is %v, want %v: %v", usable, tt.usable, err)
			}
		})
	}
}

func TestSchema_Check_largeData(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, schema, data, last string }{
		{"every item fails", `{"items":{"type":"string"}}`, "[" + repeat("1", 199_999) + "]", "and 199900 more"},
		{"every item lacks two keys", `{"items":{"required":["a","b"]}}`, "[" + repeat("{}", 10_000) + "]", "and 19901 more"},
		{"many required", `{"required":[` + numbered(`"x%d"`, 20_000) + `]}`, "{}", "and 19901 more"},
		{"many values, many alternatives", `{"items":{"enum":[` + numbered("%d.5", 40_000) + `]}}`, "[" + repeat("1", 50_000) + "]", "and 49901 more"},
		{
			"a pattern that backtracking would not survive", `{"pattern":"^(x+x+)+y"}`, `"` + strings.Repeat("x", 100) + `"`,
			"'" + strings.Repeat("x", 100) + "' does not match '^(x+x+)+y'",
		},
		{
			"numbers with huge exponents", `{"items":{"maximum":1e400,"multipleOf":1e-300,"enum":[1e999999]}}`,
			"[" + repeat("1e999999,-1E-999999", 1000) + "]", "and 2901 more",
		},
		{"items that look alike", `{"uniqueItems":true}`, "[" + numbered(`["a\u0003b",%d]`, 30_000) + `,["a\u0003b",7]]`, ""},
		{"too deep", `{}`, strings.Repeat("[", 200) + strings.Repeat("]", 200), "the data cannot be checked: it is nested deeper than 100 levels"},
		{"far too deep", `{}`, strings.Repeat("[", 20_000), "the data cannot be checked: it is not JSON: invalid character '[' exceeded max depth"},
		{"no JSON", `{}`, `{"a":`, "the data cannot be checked: it is not JSON: unexpected EOF"},
		{"two texts", `{}`, `1 2`, "the data cannot be checked: there is more after its end"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := mustCompile(t, tt.schema)
			found := check(t, s, []byte(tt.data))
			if len(found) == 0 || len(found) > maxFindings {
				t.Fatalf("%d findings", len(found))
			}
			if last := found[len(found)-1].Message; tt.last != "" && last != tt.last {
				t.Errorf("the last finding is %q, want %q", last, tt.last)
			}
		})
	}
}

func TestSchema_Check_longMessage(t *testing.T) {
	t.Parallel()
	data := `{"` + strings.Repeat("é", 10_000) + `":1}`
	message := check(t, mustCompile(t, `{"type":"string"}`), []byte(data))[0].Message
	if len(message) > maxMessage || !strings.HasSuffix(message, "é…") || !utf8.ValidString(message) {
		t.Errorf("the message has %d bytes and ends in %q", len(message), message[len(message)-8:])
	}
}
