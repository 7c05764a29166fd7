package jsonschema

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"purser/internal/budget"
	"purser/internal/budget/budgettest"
	"purser/internal/fault"
)

// hostile is a schema and data of size n that make checks expensive in some way.
type hostile struct {
	name         string
	schema, data func(n int) string
	n            int
}

func always(s string) func(int) string { return func(int) string { return s } }

func items(item string) func(int) string {
	return func(n int) string { return "[" + repeat(item, n) + "]" }
}

// deep returns n nested objects, each below a key.
func deep(key, end string) func(int) string {
	return func(n int) string {
		return strings.Repeat(`{"`+key+`":`, n) + end + strings.Repeat("}", n)
	}
}

// numbers returns an object of n numbers.
func numbers(n int) string { return "{" + numbered(`"k%d":1`, n) + "}" }

func branches(format string) func(int) string {
	return func(n int) string { return "[" + numbered(format, n) + "]" }
}

func in(before string, of func(int) string, after string) func(int) string {
	return func(n int) string { return before + of(n) + after }
}

func constant(n int, of func(int) string) func(int) string { return always(of(n)) }

// latest returns a 2020-12 schema.
func latest(members string) func(int) string {
	return always(`{"$schema":"https://json-schema.org/draft/2020-12/schema",` + members + `}`)
}

// resources returns schemas with their own URIs, each of which applies the previous one to nested values.
func resources(n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, `"r%d":{"$id":"r%d","$dynamicAnchor":"x","properties":{"a":{"$ref":"r%d"}}},`, i, i, i-1)
	}
	return strings.TrimSuffix(b.String(), ",")
}

// written counts patterns, so that none of them is known from before.
var written atomic.Int64

// freshPatterns returns n JSON texts, each a pattern of a form, with a number in it, separated by commas.
func freshPatterns(format, pattern string, n int) string {
	items := make([]string, n)
	for i := range items {
		items[i] = fmt.Sprintf(format, quoted(fmt.Sprintf("%s%d", pattern, written.Add(1))))
	}
	return strings.Join(items, ",")
}

// patternsOf returns a shape with n schemas that have a pattern, and one with n texts of the format regex.
func patternsOf(name, pattern string, n int) []hostile {
	schema := func(n int) string {
		return `{"items":{"anyOf":[` + freshPatterns(`{"pattern":%s}`, pattern, n) + `]}}`
	}
	return []hostile{{name: name, schema: schema, data: items("1"), n: n}, regexes(name, pattern, n)}
}

// regexes returns a shape with n texts of the format regex.
func regexes(name, pattern string, n int) hostile {
	return hostile{
		name:   name + " as data",
		schema: always(`{"$schema":"http://json-schema.org/draft-07/schema#","items":{"format":"regex"}}`),
		data:   func(n int) string { return "[" + freshPatterns("%s", pattern, n) + "]" }, n: n,
	}
}

func quoted(text string) string {
	written, _ := json.Marshal(text) //nolint:errchkjson // a string
	return string(written)
}

// matchesOf returns a shape that matches a pattern with a long text.
func matchesOf(pattern, text string) hostile {
	return hostile{
		name: "matches of " + pattern, schema: always(`{"items":{"pattern":` + quoted(pattern) + `}}`),
		data: items(`"` + strings.Repeat(text, 1000) + `"`), n: 3,
	}
}

// patternShapes returns shapes with patterns that are expensive to compile or to match.
func patternShapes() []hostile {
	return slices.Concat(
		patternsOf("patterns", "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", 300),
		patternsOf("patterns of letters", `[\pL\pN_]{1,20}`, 30),
		patternsOf("patterns that fold", `(?i)[\x{100}-\x{1000}]é`, 30),
		patternsOf("patterns with repetitions", `(?:(?:[ab]{10}c?){10}){10}`, 30),
		patternsOf("patterns with alternatives", `^(?:(?:`+strings.Repeat("a.|b.|", 100)+`c)*|x{50})`, 30),
		patternsOf("patterns of spaces", strings.Repeat(`\s\S`, 50), 30),
		[]hostile{
			{"known patterns", latest(`"anyOf":[` + repeat(`{"pattern":`+quoted(strings.Repeat(`\s\u{41}$`, 30))+`}`, 100) + `]`), always("1"), 1},
			regexes("wrong patterns", `[a-c\pL](`, 300),
			matchesOf(`(?:\pL?){100}\d`, "é漢"), matchesOf(`(?i)(?:é?){100}\d`, "éÉ"),
			matchesOf(`(?i)(?:k?s?){100}\d`, "kſ"),
			matchesOf(`[\pL\d]*[\pN\pL]*\PL{90}$`, "a漢"), matchesOf(`(?:a|\w|[^\pN]|\pL\pL)*$x`, "aé"),
			matchesOf(`^(?:(?:\b|^|$|a)*){20}$x`, "a "), matchesOf(`(?:(a|ab)(c|bcd)(d*))*x`, "abcd"),
		},
	)
}

// randomNumbers returns n numbers in all notations, with up to 40 digits.
func randomNumbers(n int) string {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	digits := func(most int) string {
		b := []byte{byte('1' + r.IntN(9))}
		for range r.IntN(most) {
			b = append(b, byte('0'+r.IntN(10)))
		}
		return string(b)
	}
	all := make([]string, n)
	for i := range all {
		ends := []string{"", ".0", "." + digits(20), "e-" + digits(3), "e" + digits(3)}
		all[i] = []string{"", "-"}[r.IntN(2)] + digits(20) + ends[r.IntN(len(ends))]
	}
	return strings.Join(all, ",")
}

// numberShapes returns shapes with numbers that would be large fractions.
func numberShapes() []hostile {
	random := func(n int) string { return "[" + randomNumbers(n) + "]" }
	anyOf := func(n int, branch string) string { return `"items":{"anyOf":[` + repeat(branch, n) + `]}` }
	long := strings.Repeat("123456789", 400)
	return []hostile{
		{"anyOf of 3000 integers", latest(anyOf(3000, `{"type":"integer"}`)), items("1.1e-300"), 20},
		{"integers", latest(anyOf(100, `{"type":"integer"}`)), random, 300},
		{"bounds", latest(anyOf(100, `{"exclusiveMinimum":1.1e307,"minimum":1e308,"maximum":-1e308}`)), random, 300},
		{"multiples", latest(anyOf(100, `{"multipleOf":1.2345678901234567e-300}`)), random, 300},
		{"multiples of a long number", latest(`"items":{"multipleOf":12345678901234567890123456789012345678901234567}`), random, 3000},
		{"long multiples", latest(`"items":{"multipleOf":` + long + `}`), items(long + "1e300"), 10},
		{"long multiples with a huge exponent", latest(`"items":{"multipleOf":` + long + `}`), items("3e1099511627776"), 10},
		{"long multiples of a short number", latest(`"items":{"multipleOf":7,"maximum":0}`), items(long), 100},
		{"multiples with a huge exponent", latest(`"items":{"multipleOf":7}`), items("3e999999999999"), 3000},
		{"an enum of random numbers", always(`{"items":{"enum":[` + randomNumbers(5000) + `]}}`), random, 5000},
		{"unique random numbers", always(`{"uniqueItems":true}`), random, 5000},
	}
}

// shapes returns the worst known inputs, each expensive in its own way.
func shapesOf() []hostile {
	any3000 := constant(3000, in(`{"items":{"anyOf":`, branches(`{"required":["a%d"]}`), `}}`))
	return []hostile{
		{"anyOf of 3000", any3000, items("{}"), 40},
		{"anyOf of 3000 properties", constant(3000, in(`{"items":{"anyOf":`, branches(`{"properties":{"a":{"enum":[%d]}}}`), `}}`)), items(`{"a":"x"}`), 20},
		{"oneOf of 3000", constant(3000, in(`{"items":{"oneOf":`, branches(`{"minimum":%d}`), `}}`)), items("1"), 40},
		{"oneOf with types", constant(3000, in(`{"items":{"oneOf":`, branches(`{"type":"string","maxLength":%d}`), `}}`)), items("1"), 2000},
		{"allOf that hold", constant(3000, in(`{"items":{"allOf":`, branches(`{"maximum":1%d}`), `}}`)), items("1"), 30},
		{"allOf that fail", constant(3000, in(`{"items":{"allOf":`, branches(`{"minimum":1%d}`), `}}`)), items("1"), 15},
		{"allOf of large objects", constant(1000, in(`{"allOf":`, branches(`{"maxProperties":1%06d}`), `}`)), numbers, 500},
		{"not within not", constant(8, func(n int) string {
			return strings.Repeat(`{"not":{"allOf":[{"not":`, n/2) + `{"type":"string"}` + strings.Repeat(`}]}}`, n/2)
		}), items("1"), 1},
		{"doubling", doubling, always("1"), 15},
		{"doubling allOf that fails", func(n int) string { return strings.ReplaceAll(doubling(n), "anyOf", "allOf") }, always("1"), 13},
		{"doubling oneOf in anyOf", func(n int) string { return strings.ReplaceAll(doubling(n), "anyOf", "oneOf") }, always(`"x"`), 15},
		{"nested anyOf of 8", constant(8, func(int) string {
			s := `{"type":"string"}`
			for range 4 {
				s = `{"anyOf":[` + repeat(s, 8) + `]}`
			}
			return s
		}), always("1"), 1},
		{"recursion that doubles", always(`{"allOf":[{"properties":{"a":{"$ref":"#"}}},{"properties":{"a":{"$ref":"#"}}}]}`), deep("a", "1"), 13},
		{"recursion that doubles and fails", always(`{"maxProperties":0,"allOf":[{"properties":{"a":{"$ref":"#"}}},{"properties":{"a":{"$ref":"#"}}}]}`), deep("a", "1"), 11},
		{"deep recursion of references", always(chainTo(60, `{"additionalProperties":{"$ref":"#"}}`)), deep("k", "[1,1,1]"), 98},
		{
			"deep recursion that fails", always(chainTo(60, `{"maxProperties":0,"additionalProperties":{"$ref":"#"}}`)),
			deep("k", `{"a":1}`), 45,
		},
		{"deep failing leaves", always(`{"additionalProperties":{"$ref":"#"},"items":{"type":"null"}}`), func(n int) string { return deep("k", "["+repeat("1", n)+"]")(98) }, 500},
		{"deep failing leaves with long keys", always(`{"additionalProperties":{"$ref":"#"},"items":{"type":"null"}}`), func(n int) string { return deep(strings.Repeat("k", 1000), "["+repeat("1", n)+"]")(98) }, 100},
		{"deep failing leaves with odd keys", always(`{"additionalProperties":{"$ref":"#"},"items":{"type":"null"}}`), func(n int) string { return deep(strings.Repeat("/é", 300), "["+repeat("1", n)+"]")(98) }, 100},
		{"deep leaves with long keys", always(`{"additionalProperties":{"$ref":"#"},"items":{"type":"number"}}`), func(n int) string { return deep(strings.Repeat("k", 1000), "["+repeat("1", n)+"]")(98) }, 3000},
		{"a long key", always(`{"additionalProperties":{"items":{"type":"null"}}}`), func(n int) string { return `{"` + strings.Repeat("k", 100_000) + `":[` + repeat("1", n) + `]}` }, 100},
		{"a long key in a schema", always(`{"properties":{"` + strings.Repeat("/", 30_000) + `":{"items":{"type":"null"}}}}`), func(n int) string { return `{"` + strings.Repeat("/", 30_000) + `":[` + repeat("1", n) + `]}` }, 100},
		{"patterns of many keys", constant(1000, func(n int) string { return `{"patternProperties":{` + numbered(`"^a%d$":{}`, n) + `}}` }), numbers, 500},
		{"patterns of many keys, closed", constant(1000, func(n int) string {
			return `{"patternProperties":{` + numbered(`"a%db":{}`, n) + `},"additionalProperties":false}`
		}), func(n int) string { return "{" + numbered(`"a%d":1`, n) + "}" }, 200},
		{"patterns of long keys", constant(100, func(n int) string { return `{"patternProperties":{` + numbered(`"[ab]*c%d":{}`, n) + `}}` }), func(n int) string { return "{" + numbered(`"`+strings.Repeat("ab", 500)+`%d":1`, n) + "}" }, 50},
		{"a slow pattern", always(`{"pattern":"(a|b|ab)*c{1000}"}`), func(n int) string { return `"` + strings.Repeat("ab", n) + `"` }, 10000},
		{"a slow pattern with optional parts", always(`{"pattern":"(?:a?){400}b"}`), func(n int) string { return `"` + strings.Repeat("a", n) + `"` }, 20000},
		{"a slow pattern with many states", always(`{"pattern":"[ab]*a[ab]{400}c"}`), func(n int) string { return `"` + strings.Repeat("ab", n) + `"` }, 20000},
		{"a pattern that begins with a text", always(`{"items":{"pattern":"^[a-z]+$"}}`), items(`"abcdefgh"`), 20000},
		{"a large enum", constant(20000, in(`{"items":{"enum":`, branches("%d"), `}}`)), items("-5"), 30000},
		{"an enum of floats", constant(5000, in(`{"items":{"enum":`, branches("0.1000000000000000000000000000%d"), `}}`)), items("0.1"), 10000},
		{"an enum and numbers with exponents", always(`{"items":{"enum":[1]}}`), items("1.7e308,4.1e-320"), 3000},
		{"an enum of a large value", always(`{"enum":[[]],"uniqueItems":true}`), items(`{"a":"b","c":[1,2]}`), 1},
		{"uniqueItems", always(`{"uniqueItems":true}`), func(n int) string { return "[" + numbered(`{"a":%d,"b":"xyz"}`, n) + "]" }, 10000},
		{"uniqueItems of long texts", always(`{"uniqueItems":true}`), func(n int) string { return "[" + numbered(`"`+strings.Repeat(`\u0001`, 1000)+`%d"`, n) + "]" }, 500},
		{"uniqueItems of numbers", always(`{"uniqueItems":true}`), func(n int) string { return "[" + numbered(`%de-300`, n) + "]" }, 3000},
		{"uniqueItems with many keys", always(`{"uniqueItems":true}`), func(n int) string { return "[{" + numbered(`"k%d":1`, n) + "},1]" }, 30000},
		{"numbers with exponents", always(`{"items":{"maximum":1.1e300,"minimum":-1.1e300,"multipleOf":1e-300}}`), items("1.3e299,1.7e-299,4.1e-320,1.7e308"), 2000},
		{"numbers", always(`{"items":{"maximum":1000,"minimum":0,"multipleOf":0.01}}`), items("12.34"), 10000},
		{"large required", constant(20000, in(`{"items":{"required":`, branches(`"a%d"`), `}}`)), items("{}"), 100},
		{"large required of a large object", constant(20000, in(`{"required":`, branches(`"k%d"`), `}`)), numbers, 20000},
		{"large properties", constant(9000, func(n int) string { return `{"items":{"properties":{` + numbered(`"a%d":{}`, n) + `}}}` }), items("{}"), 500},
		{"every item fails", always(`{"items":{"type":"string"}}`), items("1"), 10000},
		{"every member fails", always(`{"additionalProperties":{"type":"string"}}`), numbers, 10000},
		{"every item fails in many ways", always(`{"items":{"allOf":[{"minimum":9},{"type":"string"},{"multipleOf":7},{"enum":[]},{"not":{}}],"type":"null","enum":[2]}}`), items("1"), 3000},
		{"dependencies", constant(5000, func(n int) string { return `{"items":{"dependencies":{` + numbered(`"a%d":["b"]`, n) + `}}}` }), items(`{"a1":1}`), 500},
		{"dependencies that fail", constant(3000, in(`{"dependencies":{"a":`, branches(`"b%d"`), `}}`)), always(`{"a":1}`), 1},
		{"additional members with long messages", always(`{"items":{"additionalProperties":false}}`), func(n int) string {
			return "[" + repeat("{"+numbered(`"`+strings.Repeat("x", 50)+`%d":1`, 1000)+"}", n) + "]"
		}, 30},
		{"additional members beside patterns", constant(1000, func(n int) string {
			return `{"items":{"additionalProperties":false,"patternProperties":{` + numbered(`"^a%d$":{}`, n) + `}}}`
		}), func(n int) string { return "[" + repeat("{"+numbered(`"k%d":1`, 100)+"}", n) + "]" }, 20},
		{"long texts that fail", always(`{"items":{"maxLength":1}}`), items(`"` + strings.Repeat("x", 10000) + `"`), 200},
		{"many keys twice", always(`{"additionalProperties":{"type":"number"},"allOf":[{"additionalProperties":{}}]}`), numbers, 20000},
		{"contains", latest(`"items":{"contains":{"maximum":0},"maxContains":9}`), items("[" + repeat("1", 30) + "]"), 1000},
		{"contains that all match", latest(`"contains":{"type":"number"},"unevaluatedItems":false`), items("1"), 30_000},
		{"names", latest(`"propertyNames":{"maxLength":1}`), numbers, 10_000},
		{"if of 1000", latest(`"items":{"allOf":[` + numbered(`{"if":{"const":%d},"then":false}`, 1000) + `]}`), items("-1"), 30},
		{"dependent schemas", latest(`"items":{"dependentSchemas":{` + numbered(`"a%d":{}`, 5000) + `}}`), items(`{"a1":1}`), 100},
		{
			"unevaluated beside many", latest(`"allOf":[` + repeat(`{"patternProperties":{"k":{}}}`, 300) + `],"unevaluatedProperties":false`),
			numbers, 500,
		},
		{
			"unevaluated within one another", latest(strings.Repeat(`"unevaluatedProperties":false,"allOf":[{`, 12) +
				`"additionalProperties":{}` + strings.Repeat("}]", 12)), numbers, 5000,
		},
		{"unevaluated that fails", latest(`"unevaluatedProperties":{"type":"null"}`), numbers, 5000},
		{"unevaluated items that are known", latest(`"items":{"anyOf":[` + repeat(`{"contains":{}}`, 50) + `],"unevaluatedItems":false}`), items("[" + repeat("1", 50) + "]"), 50},
		{"dynamic recursion that doubles", latest(`"$dynamicAnchor":"x","allOf":[{"properties":{"a":{"$dynamicRef":"#x"}}},{"properties":{"a":{"$dynamicRef":"#x"}}}]`), deep("a", "1"), 12},
		{"many resources", latest(`"$ref":"r199","$defs":{"r0":{"$id":"r0","$dynamicAnchor":"x"},` + resources(199) + `}`), deep("a", "1"), 50},
		{"a const of a large value", latest(`"items":{"const":[` + numbered("%d", 1000) + `]}`), items("[" + numbered("%d", 1000) + "]"), 50},
		{"items of items", always(`{"items":{"items":{}}}`), items("[1,2,3,4]"), 10000},
		{"brackets", always(`{}`), items("[]"), 100_000},
		{"wrapped items", always(`{"items":{"type":"number"},"definitions":{"x":{"items":{"$ref":"#/items"}}},"additionalProperties":{"$ref":"#/definitions/x"}}`), items("1"), 30_000},
	}
}

// chainTo returns a chain that ends with the given definition.
func chainTo(n int, last string) string {
	return strings.Replace(chain(n), fmt.Sprintf(`"%d":{}`, n), fmt.Sprintf(`"%d":%s`, n, last), 1)
}

// counted runs work and returns the counted steps.
func counted(t *testing.T, work func(m *budget.Meter) error) (steps int64) {
	t.Helper()
	ctx, end := budget.NewPool(1, time.Minute).Begin(t.Context())
	defer end()
	m := budget.NewMeter(ctx)
	err := work(m)
	if _, exceeded := errors.AsType[*budget.Exceeded](err); err != nil && !exceeded {
		t.Fatal(err)
	}
	_ = m.Check()
	steps, bytes := budget.From(ctx).Spent()
	if err == nil && bytes != 0 {
		t.Errorf("holds %d bytes", bytes)
	}
	return steps
}

// costs returns the work of compiling schemas and checking data that make it expensive in some way.
func costs() budgettest.Shapes {
	shapes := budgettest.Shapes{}
	known, fresh := slices.Concat(shapesOf(), numberShapes()), patternShapes()
	for i, h := range slices.Concat(known, fresh) {
		shapes[h.name] = func(bytes int) func(ctx context.Context) {
			n := max(1, h.n*bytes/usual)
			schema, data := []byte(h.schema(n)), []byte(h.data(n))
			return func(ctx context.Context) {
				if i >= len(known) { // others each time
					schema, data = []byte(h.schema(n)), []byte(h.data(n))
				}
				meter := budget.NewMeter(ctx)
				s, err := Compile(meter, schema, Options{AssertFormats: true})
				if err == nil {
					_, err = s.Check(meter, data)
				}
				if err == nil {
					_ = meter.Check()
				}
			}
		}
	}
	return shapes
}

// usual stands for the sizes that shapesOf has.
const usual = 100_000

// Compiling and checking take as much time as they count, whatever makes them expensive.
func TestCost_steps(t *testing.T) { costs().Table(t, usual) } //nolint:paralleltest // it measures the process

func TestCost_laws(t *testing.T) { costs().Law(t, usual) } //nolint:paralleltest // it measures the process

// The counted steps grow with the work.
func TestCost_growth(t *testing.T) {
	t.Parallel()
	const doubling = `{"allOf":[{"properties":{"a":{"$ref":"#"}}},{"properties":{"a":{"$ref":"#"}}}]}`
	for name, c := range map[string]struct {
		schema string
		data   func(n int) string
		n      int
		factor float64 // growth of the work when n doubles
	}{
		"items":         {`{"items":{"type":"number"}}`, items("1"), 1000, 2},
		"failing items": {`{"items":{"type":"string"}}`, items("1"), 20_000, 2},
		"members":       {`{"additionalProperties":{"type":"number"}}`, numbers, 1000, 2},
		"branches":      {`{"items":{"anyOf":[` + numbered(`{"required":["a%d"]}`, 100) + `]}}`, items("{}"), 3000, 2},
		"unique items":  {`{"uniqueItems":true}`, branches("%d"), 1000, 2},
		"a long text":   {`{"pattern":"(a|b)*c"}`, func(n int) string { return `"` + strings.Repeat("a", n) + `"` }, 10_000, 2},
		"patterns":      {`{"patternProperties":{` + numbered(`"a%d":{}`, 100) + `}}`, numbers, 1000, 2},
		"depth":         {`{"additionalProperties":{"$ref":"#"}}`, deep("k", "1"), 40, 2},
		"doubling":      {doubling, deep("a", "1"), 5, 32},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := mustCompile(t, c.schema)
			steps := func(n int) float64 {
				return float64(counted(t, func(m *budget.Meter) error {
					_, err := s.Check(m, []byte(c.data(n)))
					return err
				}))
			}
			once, twice := steps(c.n), steps(2*c.n)
			if grown := twice / once; grown < 0.7*c.factor || grown > 1.4*c.factor {
				t.Errorf("%d take %.0f steps, and %d %.0f, which is %.1f times as much", c.n, once, 2*c.n, twice, grown)
			}
		})
	}
}

// A check ends as soon as its budget is exhausted, at any point.
func TestCost_stops(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ schema, data string }{
		"recursion that doubles": {
			`{"allOf":[{"properties":{"a":{"$ref":"#"}}},{"properties":{"a":{"$ref":"#"}}}]}`, deep("a", "1")(99),
		},
		"recursion that doubles and fails": {
			`{"maxProperties":0,"allOf":[{"properties":{"a":{"$ref":"#"}}},{"properties":{"a":{"$ref":"#"}}}]}`, deep("a", "{}")(98),
		},
		"recursion through overlapping keywords": {
			`{"properties":{"a":{"$ref":"#"}},"patternProperties":{"^a":{"$ref":"#"}}}`, deep("a", "1")(99),
		},
		"anyOf of 3000": {
			`{"items":{"anyOf":[` + numbered(`{"required":["a%d"]}`, 3000) + `]}}`, items("{}")(100_000),
		},
		"a slow pattern": {`{"items":{"pattern":"(?:a?){400}b"}}`, items(`"` + strings.Repeat("a", 1000) + `"`)(10_000)},
		"failing items":  {`{"items":{"type":"string"}}`, items("1")(3_000_000)},
		"many patterns": {
			`{"additionalProperties":false,"patternProperties":{` + numbered(`"^a%d$":{}`, 2000) + `}}`, numbers(100_000),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := mustCompile(t, c.schema)
			ctx, end := budget.NewPool(1, time.Minute).Begin(t.Context())
			defer end()
			m := budget.NewMeter(ctx)
			m.Charge(19 * budget.Second / 10) // enough is left for the others
			found, err := s.Check(m, []byte(c.data))
			exceeded, ok := err.(*budget.Exceeded) //nolint:errorlint // it must not be wrapped
			if !ok || found != nil {
				t.Fatalf("%d findings, %v", len(found), err)
			}
			about := budget.About(exceeded, "check document %s", "x")
			if fault.KindOf(about) != fault.TooLarge || !strings.Contains(about.Error(), "check document x: it takes more than") {
				t.Errorf("refused with %v", about)
			}
			if _, bytes := budget.From(ctx).Spent(); bytes > 257*budget.MiB {
				t.Errorf("it held %d bytes", bytes)
			}
			if found := check(t, s, []byte("null")); found != nil {
				t.Errorf("after that it finds %v", found)
			}
		})
	}
}
