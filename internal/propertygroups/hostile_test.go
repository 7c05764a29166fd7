package propertygroups

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"purser/internal/budget"
	"purser/internal/budget/budgettest"
	"purser/internal/document"
	"purser/internal/validations/jsonschema"
)

// named returns one named group.
func named(name, operator string, entries ...any) document.Mapping {
	return document.Mapping{{Key: name, Value: document.Mapping{
		{Key: "operator", Value: operator}, {Key: "properties", Value: entries},
	}}}
}

func repeated(n int, item any) []any {
	list := make([]any, n)
	for i := range list {
		list[i] = item
	}
	return list
}

func thousand(prefix string) []any {
	names := make([]any, 1_000)
	for i := range names {
		names[i] = prefix + strconv.Itoa(i)
	}
	return names
}

// ladder returns groups that each refer twice to the next one.
func ladder(n int, operator string) []any {
	var list []any
	for i := range n {
		next := "g" + strconv.Itoa(i+1)
		list = append(list, named("g"+strconv.Itoa(i), operator, next, next))
	}
	return append(list, named("g"+strconv.Itoa(n), operator, "l.a", "l.b"))
}

// Parsing, checking and describing any input takes little longer than an ordinary check that exhausts the same budget,
// and the resulting texts are short.
//
//nolint:paralleltest // it measures the whole process
func TestHostile(t *testing.T) {
	const most = 30
	dotted := strings.Repeat("p.", maxParts-1)
	closed := make(document.Mapping, 1_000)
	for i := range closed {
		closed[i] = document.Member{Key: "p" + strconv.Itoa(i), Value: document.Mapping{}}
	}
	items := map[string]any{"l": repeated(100_000, map[string]any{"b": nil}), "k": true}
	few := map[string]any{"l": repeated(1_000, map[string]any{"b": nil})}
	plain := document.Mapping{{Key: namedKeyword, Value: []any{named("g", "or", thousand("l.p")...)}}}
	began := budgettest.CPU()
	workThrough(t, plain, items)
	ordinary := budgettest.CPU() - began
	nest := any("end")
	for range 5_000 {
		nest = []any{nest}
	}
	for name, c := range map[string]struct {
		schema document.Mapping
		object map[string]any
	}{
		"groups over the same": {document.Mapping{
			{Key: namedKeyword, Value: many(1_000, func(i int) any { return named("g"+strconv.Itoa(i), "and", thousand("p")...) })},
			{Key: "properties", Value: closed},
			{Key: "additionalProperties", Value: false},
		}, map[string]any{}},
		"groups over lists": {document.Mapping{
			{Key: namedKeyword, Value: many(1_000, func(i int) any { return named("g"+strconv.Itoa(i), "or", thousand("l.p")...) })},
		}, items},
		"groups over groups": {document.Mapping{
			{Key: namedKeyword, Value: append(many(1_000, func(i int) any { return named("g"+strconv.Itoa(i), "xor", "term", "term") }),
				named("term", "or", thousand("k.p")...))},
		}, items},
		"long paths": {document.Mapping{
			{Key: namedKeyword, Value: many(100, func(i int) any { return named("g"+strconv.Itoa(i), "xor", dotted+"a", dotted+"b") })},
		}, items},
		"long common path": {document.Mapping{
			{Key: namedKeyword, Value: []any{named("g", "or", repeated(90_000, "h")...), named("h", "or", dotted+"a", dotted+"b")}},
		}, items},
		"long common parts": {document.Mapping{
			{Key: namedKeyword, Value: append(many(5_000, func(i int) any { return named("g"+strconv.Itoa(i), "or", "h", "i", "h", "i") }),
				named("h", "or", longParts("a")), named("i", "or", longParts("b")))},
		}, items},
		"keywords of others": {append(strange(50_000), document.Member{
			Key: expressionsKeyword, Value: []any{document.Mapping{{Key: "OR", Value: repeated(50_000, []any{"k", "x"})}}},
		}), items},
		"ladder of and":        {document.Mapping{{Key: namedKeyword, Value: ladder(30, "and")}}, items},
		"ladder of or":         {document.Mapping{{Key: namedKeyword, Value: ladder(30, "or")}}, items},
		"ladder of xor":        {document.Mapping{{Key: namedKeyword, Value: ladder(900, "xor")}}, few},
		"ladder of depends_on": {document.Mapping{{Key: namedKeyword, Value: ladder(900, "depends_on")}}, few},
		"limits on a ladder": {document.Mapping{{Key: namedKeyword, Value: append(ladder(30, "or"), document.Mapping{{
			Key: "limit", Value: document.Mapping{
				{Key: "properties", Value: []any{"g0", "k"}}, {Key: "client_plugin", Value: "c"}, {Key: "client_plugin_supported", Value: "1"},
			},
		}})}}, items},
		"lists off the common path": {document.Mapping{
			{Key: expressionsKeyword, Value: many(1_000, func(i int) any {
				return document.Mapping{{Key: "XOR", Value: []any{[]any{"l", strconv.Itoa(i)}, []any{"k", "x"}}}}
			})},
		}, items},
		"lists within lists": {document.Mapping{
			{Key: expressionsKeyword, Value: []any{document.Mapping{{Key: "OR", Value: []any{[]any{"l", "a"}, []any{"l", "b"}}}}}},
		}, map[string]any{"l": nest}},
		"long names": {document.Mapping{{Key: namedKeyword, Value: []any{
			named(strings.Repeat("ü", 1<<20), "or", strings.Repeat("ö", 1<<20)), named("x", "and", repeated(50, strings.Repeat("q", 1_000))...),
		}}}, items},
		"all names long": {document.Mapping{{Key: namedKeyword, Value: []any{document.Mapping{{
			Key: strings.Repeat("g", 5_000), Value: document.Mapping{
				{Key: "properties", Value: []any{"k." + strings.Repeat("p", 5_000)}},
				{Key: "client_plugin", Value: strings.Repeat("c", 1<<16)},
				{Key: "client_plugin_supported", Value: repeated(1_000, strings.Repeat("2", maxName))},
			},
		}}}}}, map[string]any{"k": map[string]any{strings.Repeat("p", 5_000): 1}}},
		"long names over lists": {document.Mapping{{Key: namedKeyword, Value: []any{
			named("g", "or", "l."+strings.Repeat("b", 1<<20), "l.c"),
		}}}, items},
		"many versions": {document.Mapping{{Key: expressionsKeyword, Value: repeated(1_000, document.Mapping{{Key: "API_VERSIONS", Value: document.Mapping{
			{Key: "CLIENT_PLUGIN", Value: strings.Repeat("c", 1<<16)}, {Key: "PROPERTIES", Value: repeated(1_000, []any{"k"})}, {Key: "VERSIONS", Value: thousand("")},
		}}})}}, items},
	} {
		t.Run(name, func(t *testing.T) {
			began := budgettest.CPU()
			found, d := workThrough(t, c.schema, c.object)
			took := budgettest.CPU() - began
			t.Logf("%.2f times the ordinary; %d violations, %d lines", float64(took)/float64(ordinary), len(found), len(d.Properties))
			if took > most*ordinary {
				t.Errorf("took %v, a check that uses up the same budget %v", took, ordinary)
			}
			for _, v := range found[:min(len(found), 3)] {
				t.Logf("%.300s", v.Message)
			}
			short(t, found, d)
		})
	}
}

// workThrough parses a schema, checks an object with a budget of 0.3 seconds, and describes the schema.
func workThrough(t *testing.T, schema document.Mapping, object map[string]any) ([]jsonschema.Violation, Description) {
	t.Helper()
	g, err := Parse(schema)
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := budget.NewPool(1, time.Minute).Begin(t.Context())
	defer end()
	meter := budget.NewMeter(ctx)
	meter.Charge(17 * budget.Second / 10)
	found, err := g.Check(meter, mappingOf(object), Versions{strings.Repeat("c", 1<<16): strings.Repeat("1", 5_000)})
	if _, exceeded := errors.AsType[*budget.Exceeded](err); err != nil && !exceeded {
		t.Fatal(err)
	}
	return found, g.Describe()
}

// longParts returns a path of 2 MB.
func longParts(last string) string {
	return strings.Repeat(strings.Repeat("p", 2_000)+".", maxParts-1) + last
}

// strange returns a schema object with n unknown keywords.
func strange(n int) (schema document.Mapping) {
	for i := range n {
		schema = append(schema, document.Member{Key: "x-" + strconv.Itoa(i), Value: nil})
	}
	return schema
}

func many(n int, item func(i int) any) []any {
	list := make([]any, n)
	for i := range list {
		list[i] = item(i)
	}
	return list
}

func short(t *testing.T, found []jsonschema.Violation, d Description) {
	t.Helper()
	if len(found) > maxViolations+1 {
		t.Errorf("%d violations", len(found))
	}
	for _, v := range found {
		if len(v.Message) > maxMessage+len("…") {
			t.Errorf("a message of %d bytes", len(v.Message))
		}
	}
	size := 0
	for _, s := range append(d.Rules, d.Referenced...) {
		size += len(s.Name) + len(s.Text)
	}
	for _, p := range d.Properties {
		size += len(strings.Join(p.Lines, ""))
	}
	if size > 3*maxDescription {
		t.Errorf("a description of %d bytes", size)
	}
}

// The cost of a check grows with the object, and the check ends when the budget is exhausted.
func TestGroups_Check_counts(t *testing.T) {
	t.Parallel()
	g := mustParse(t, namedKeyword, []any{named("g", "or", thousand("l.p")...)})
	steps := func(items int) int64 {
		ctx, end := budget.NewPool(1, time.Minute).Begin(t.Context())
		defer end()
		meter := budget.NewMeter(ctx)
		_, err := g.Check(meter, mappingOf(map[string]any{"l": repeated(items, map[string]any{"p": nil})}), nil)
		if _, exceeded := errors.AsType[*budget.Exceeded](err); exceeded != (items > 10_000) {
			t.Errorf("%d items: %v", items, err)
		}
		_ = meter.Check()
		spent, _ := budget.From(ctx).Spent()
		return spent
	}
	if few, more := steps(100), steps(400); more < 3*few || more > 5*few {
		t.Errorf("100 items take %d steps, 400 take %d", few, more)
	}
	if most := steps(100_000); most > 3*budget.Second {
		t.Errorf("it ended after %d steps", most)
	}
}

func TestGroups_Check_manyViolations(t *testing.T) {
	t.Parallel()
	g := mustParse(t, namedKeyword, []any{named("g", "or", "l.a", "l.b")})
	found := judge(t, g, map[string]any{"l": repeated(1_234, nil)}, nil)
	if len(found) != maxViolations+1 {
		t.Fatalf("%d violations", len(found))
	}
	const want = "/ property_groups: The property groups are violated in 1134 more ways.\n"
	if got := sketch(found[maxViolations:]); got != want {
		t.Error(got)
	}
	found = judge(t, g, map[string]any{"l": repeated(maxViolations+1, nil)}, nil)
	if got := sketch(found[maxViolations:]); got != "/ property_groups: The property groups are violated in 1 more way.\n" {
		t.Error(got)
	}
}

func TestParse_tooMuch(t *testing.T) {
	t.Parallel()
	nested := func(n int) any {
		var e any = []any{"p"}
		for range n {
			e = document.Mapping{{Key: "OR", Value: []any{e}}}
		}
		return e
	}
	line := func(n int) (list []any) {
		for i := range n - 1 {
			list = append(list, named(strconv.Itoa(i), "or", strconv.Itoa(i+1)))
		}
		return append(list, named(strconv.Itoa(n-1), "or", "p"))
	}
	parts := strings.Repeat("p.", maxParts-1)
	for _, c := range []struct {
		name, keyword string
		value         []any
		want          string
	}{
		{"nested", expressionsKeyword, []any{nested(maxNesting)}, ""},
		{"nested too deep", expressionsKeyword, []any{nested(100_000)}, "/0: Groups should be nested at most 1000 deep."},
		{"line", namedKeyword, line(maxNesting), ""},
		{"line from its end", namedKeyword, reverse(line(maxNesting)), ""},
		{"long line", namedKeyword, line(100_000), "/0/0: Groups should refer to one another at most 1000 deep."},
		{"long line from its end", namedKeyword, reverse(line(maxNesting + 1)), "/1000/0: Groups should refer to one another at most 1000 deep."},
		{"dotted path", namedKeyword, []any{named("g", "or", parts+"p")}, ""},
		{"long dotted path", namedKeyword, []any{named("g", "or", parts+"p.p")}, "/0/g: Properties paths should have at most 1000 parts."},
		{"path", expressionsKeyword, []any{document.Mapping{{Key: "OR", Value: []any{repeated(maxParts, "p")}}}}, ""},
		{"long path", expressionsKeyword, []any{document.Mapping{{Key: "OR", Value: []any{repeated(maxParts+1, "p")}}}}, "/0: Properties paths should have at most 1000 parts."},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			want := c.want
			if want != "" {
				want = c.keyword + want
			}
			if got := fault(t, document.Mapping{{Key: c.keyword, Value: c.value}}); got != want {
				t.Errorf("%s", got)
			}
		})
	}
}

func reverse(list []any) []any {
	return many(len(list), func(i int) any { return list[len(list)-1-i] })
}

// Messages about long names, and about cycles of a thousand groups, are shortened.
func TestParse_shortFaults(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ü", 1<<20)
	round := many(999, func(i int) any { return named(strconv.Itoa(i), "or", strconv.Itoa((i+1)%999)) })
	for _, schema := range []document.Mapping{
		{{Key: namedKeyword, Value: []any{named(long, "nor", "p")}}},
		{{Key: namedKeyword, Value: []any{named("g", "or", long)}}, {Key: "additionalProperties", Value: false}},
		{{Key: namedKeyword, Value: []any{document.Mapping{{Key: "g", Value: document.Mapping{{Key: long, Value: 1}}}}}}},
		{{Key: namedKeyword, Value: round}},
	} {
		_, err := Parse(schema)
		if err == nil || len(err.Error()) > maxMessage+len("…") || !strings.HasSuffix(err.Error(), "…") {
			t.Errorf("%.100v", err)
		}
	}
}
