package validations

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
)

func entry(t *testing.T, body string) document.Entry {
	t.Helper()
	segments, err := document.Split(t.Context(), []byte(body), document.YAML, document.DefaultLimits())
	if err != nil || len(segments) != 1 {
		t.Fatalf("%d segments, %v", len(segments), err)
	}
	e, err := document.Decode(t.Context(), segments[0], document.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func doc(t *testing.T, body string) *document.Document {
	t.Helper()
	e := entry(t, body)
	if err := Sanity(budget.NewMeter(t.Context()), e, false); err != nil {
		t.Fatal(err)
	}
	d, err := document.New(e)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

const frame = "schema: acme/Widget/v1\nmetadata: {schema: metadata/Document/v1, name: w, storagePolicy: cleartext, " +
	"layeringDefinition: {layer: site}%}\ndata: {a: secret, b: 177}\n"

func framed(more string) string { return strings.Replace(frame, "%", more, 1) }

func TestSanity(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 256)
	for name, c := range map[string]struct {
		body string
		want []string
	}{
		"fine":               {framed(""), nil},
		"control":            {"schema: a/B/v1\nmetadata: {schema: metadata/Control/v1, name: n, other: 1}\n", nil},
		"nothing right":      {"foo: bar", []string{"The document has no schema", "The document has no metadata"}},
		"schema no string":   {strings.Replace(framed(""), "acme/Widget/v1", "5", 1), []string{"5 is not of type 'string'"}},
		"schema of one part": {strings.Replace(framed(""), "acme/Widget/v1", "acme", 1), []string{`'acme' does not match '^[A-Za-z]+/[A-Za-z]+/v\\d+$'`}},
		"no name":            {"schema: a/B/v1\nmetadata: {schema: metadata/Control/v1}", []string{"'name' is a required property"}},
		"no storage policy":  {strings.Replace(framed(""), "storagePolicy: cleartext,", "", 1), []string{"'storagePolicy' is a required property"}},
		"policy is null":     {strings.Replace(framed(""), "storagePolicy: cleartext", "storagePolicy: ~", 1), []string{"metadata.storagePolicy has no value"}},
		"unknown metadata":   {strings.Replace(framed(""), "Document/v1", "Document/v7", 1), []string{"Invalid metadata schema metadata/Document version v7 specified."}},
		"line break after":   {strings.Replace(framed(""), "metadata/Document/v1", `"metadata/Document/v1\n"`, 1), []string{`Invalid metadata schema "metadata/Document/v1\n" specified: nothing may follow its version.`}},
		"name no string":     {strings.Replace(framed(", storagePolicy: plain, x: 1"), "name: w", "name: 17", 1), []string{"17 is not of type 'string'", "Additional properties are not allowed ('x' was unexpected)", "'plain' is not one of ['encrypted', 'cleartext']"}},
		"schema and layer":   {strings.Replace(strings.Replace(framed(""), "acme/Widget/v1", "acme", 1), "layer: site", "layer: 1", 1), []string{`'acme' does not match '^[A-Za-z]+/[A-Za-z]+/v\\d+$'`, "1 is not of type 'string'"}},
		"unknown key":        {framed(", x: 1"), []string{"Additional properties are not allowed ('x' was unexpected)"}},
		"label no string":    {"schema: a/B/v1\nmetadata: {schema: metadata/Control/v1, name: n, labels: {a: 1}}", []string{"1 is not of type 'string'"}},
		"name too long":      {strings.Replace(framed(""), "name: w", "name: "+long, 1), []string{"metadata.name has 256 characters, but at most 255 are allowed"}},
		"actions alone":      {strings.Replace(framed(""), "layer: site", "layer: site, actions: [{method: merge, path: .}]", 1), []string{"'parentSelector' is a dependency of 'actions'"}},
		"substitution":       {framed(", substitutions: [{src: {schema: a/B/v1, name: n, path: .}, dest: [{path: .a}, {path: .b}]}]"), nil},
		"bad substitution":   {framed(", substitutions: [{src: {schema: a/B/v1, path: .}, dest: {path: .a}}]"), []string{"'name' is a required property"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := Sanity(budget.NewMeter(t.Context()), entry(t, c.body), false)
			var got []string
			if f, ok := errors.AsType[*fault.Fault](err); ok {
				for _, message := range f.Messages {
					got = append(got, message.Message)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// As in Deckhand, violations of the base schema hide all others, and all have the same advice.
func TestSanity_compat(t *testing.T) {
	t.Parallel()
	body := strings.Replace(framed(", x: 1"), "name: w", "name: 17", 1)
	for compat, want := range map[bool][]string{
		true: {sanityAdvice},
		false: {
			"Write the name as a string of at most 255 characters; put a number in quotes.",
			"Remove the key, or correct its name and its indentation.",
		},
	} {
		f, ok := errors.AsType[*fault.Fault](Sanity(budget.NewMeter(t.Context()), entry(t, body), compat))
		if !ok || len(f.Messages) != len(want) {
			t.Fatalf("compat %v: %v, want %d messages", compat, f, len(want))
		}
		for i, message := range f.Messages {
			if said, _ := message.Diagnostic.(string); !strings.HasSuffix(said, "begins at line 1. "+want[i]) {
				t.Errorf("compat %v: %s\nwant %q", compat, said, want[i])
			}
		}
	}
}

func TestSanity_misspeltKeys(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		strings.Replace(framed(""), "metadata:", "metadta:", 1): "The key 'metadta' is probably a misspelt 'metadata'. ",
		strings.Replace(framed(""), "schema:", "scheme:", 1):    "The key 'scheme' is probably a misspelt 'schema'. ",
		strings.Replace(framed(""), "metadata: {", "x: {", 1):   "",
		strings.Replace(framed(""), "name: w", "nam: w", 1):     "",
		"schema: acme/Widget/v1\nmetadata: 5\nmetadta: {}\n":    "",
	} {
		f, ok := errors.AsType[*fault.Fault](Sanity(budget.NewMeter(t.Context()), entry(t, body), true))
		if !ok {
			t.Fatalf("%s is accepted", body)
		}
		said, _ := f.Messages[0].Diagnostic.(string)
		_, got, _ := strings.Cut(said, "begins at line 1. ")
		if got, _, _ = strings.Cut(got, "Ensure that"); got != want {
			t.Errorf("%s: got %q in %q, want %q", body, got, said, want)
		}
	}
}

func TestRules_For(t *testing.T) {
	t.Parallel()
	widgets := Rule{Schema: document.Digest{1}}
	registered := map[string]Rule{"acme/Widget/v1": widgets, "deckhand/Passphrase/v1": widgets}
	passphrase := strings.Replace(framed(""), "acme/Widget/v1", "deckhand/Passphrase/v1", 1)
	schema := func(name, data string) string {
		return "schema: deckhand/DataSchema/v1\nmetadata: {schema: metadata/Control/v1, name: " + name + "}\ndata: " + data
	}
	control := "schema: %\nmetadata: {schema: metadata/Control/v1, name: n}\ndata: {}"
	for name, c := range map[string]struct {
		body         string
		want, compat Rule
	}{
		"registered":                {framed(""), widgets, Rule{}},
		"unknown kind":              {strings.Replace(framed(""), "Widget", "Gadget", 1), Rule{}, Rule{}},
		"abstract":                  {strings.Replace(framed(""), "layer: site", "layer: site, abstract: true", 1), Rule{}, Rule{}},
		"substituted":               {framed(", substitutions: [{src: {schema: a/B/v1, name: n, path: .}, dest: {path: .a}}]"), Rule{}, Rule{}},
		"layered":                   {strings.Replace(framed(""), "layer: site", "layer: site, parentSelector: {a: b}, actions: [{method: merge, path: .}]", 1), Rule{}, Rule{}},
		"built in":                  {passphrase, Rule{Schema: builtins["deckhand/Passphrase/v1"].digest}, Rule{}},
		"built in and substituted":  {strings.Replace(passphrase, "{layer: site}", "{layer: site}, substitutions: [{src: {schema: a/B/v1, name: n, path: .}, dest: {path: .a}}]", 1), Rule{Schema: builtins["deckhand/Passphrase/v1"].digest}, Rule{}},
		"another version built in":  {strings.Replace(passphrase, "Passphrase/v1", "Passphrase/v2", 1), Rule{}, Rule{}},
		"control":                   {strings.Replace(control, "%", "deckhand/LayeringPolicy/v1", 1), Rule{Schema: builtins["deckhand/LayeringPolicy/v1"].digest}, Rule{Schema: builtins["deckhand/LayeringPolicy/v1"].digest}},
		"internal schemas are none": {strings.Replace(control, "%", "deckhand/Base/v1", 1), Rule{}, Rule{}},
		"data schema":               {schema("acme/Widget/v9", "{type: object}"), Rule{Schema: dataSchema.digest}, Rule{Schema: dataSchema.digest}},
		"template":                  {schema("template-widget", "{type: object}"), Rule{}, Rule{}},
		"data schema without data":  {schema("acme/Widget/v1", "{}"), Rule{}, Rule{}},
		"data schema of text":       {schema("acme/Widget/v1", "text"), Rule{}, Rule{}},
		"data schema of a built-in": {schema("deckhand/Passphrase/v1", "{type: object}"), Rule{}, Rule{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := doc(t, c.body)
			got, _ := Rules{Registered: registered}.For(d)
			compat, _ := Rules{Registered: registered, ControlOnly: true}.For(d)
			if diff := cmp.Diff([]Rule{c.want, c.compat}, []Rule{got, compat}); diff != "" {
				t.Errorf("rule, and rule in compat mode (-want +got)\n%s", diff)
			}
		})
	}
}

func check(t *testing.T, schema, data []byte) []Finding {
	t.Helper()
	meter := budget.NewMeter(t.Context())
	checker, err := NewEngine(Options{}).Compile(meter, DataSchema{Text: schema}, ClientVersions{})
	if err != nil {
		t.Fatal(err)
	}
	findings, err := checker.Check(meter, data)
	if err != nil {
		t.Fatal(err)
	}
	return findings
}

// An unusable DataSchema is a finding about itself and finds nothing in others.
func TestEngine_unusable(t *testing.T) {
	t.Parallel()
	engine := NewEngine(Options{})
	text := []byte(`{"properties":{"a":{"type":5}}}`)
	judge, ok := engine.BuiltIn(Rule{Schema: dataSchema.digest}, "")
	if findings, _ := judge.Check(budget.NewMeter(t.Context()), text); !ok || len(findings) == 0 || !strings.Contains(findings[0].Message, "5 is not valid") {
		t.Errorf("findings about the schema: %v", findings)
	}
	if findings := check(t, text, []byte(`{"a":1}`)); findings != nil {
		t.Errorf("findings about data: %v", findings)
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	schema := []byte(`{"properties":{"a":{"type":"integer","enum":[1]},"b":{"maximum":100}},"required":["c"]}`)
	findings := check(t, schema, []byte(`{"a":"secret","b":177}`))
	substituted := framed(", substitutions: [{src: {schema: a/B/v1, name: n, path: .}, dest: [{path: '.a'}]}]")
	for name, c := range map[string]struct {
		body          string
		section       string
		messages      []string
		neverMentions string
	}{
		"plain": {framed(""), `{"a":"secret","b":177}`, []string{
			"'c' is a required property", "'secret' is not one of [1]", "'secret' is not of type 'integer'",
			"177 is greater than the maximum of 100",
		}, ""},
		"substituted": {substituted, `{"a":"Sanitized to avoid exposing secret.","b":177}`, []string{
			"'c' is a required property", Sanitized, Sanitized, "177 is greater than the maximum of 100",
		}, `"secret"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reports, err := Report(doc(t, c.body), schema, findings, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			var messages []string
			for _, report := range reports {
				messages = append(messages, report.Message)
			}
			if diff := cmp.Diff(c.messages, messages); diff != "" {
				t.Errorf("messages (-want +got)\n%s", diff)
			}
			last := reports[len(reports)-1]
			want := Error{
				ErrorSection: json.RawMessage(c.section), Layer: "site", Message: "177 is greater than the maximum of 100",
				Name: "w", Path: ".data.b", Schema: "acme/Widget/v1", SchemaPath: ".properties.b.maximum",
				ValidationSchema: schema,
			}
			if diff := cmp.Diff(want, last); diff != "" {
				t.Errorf("last error (-want +got)\n%s", diff)
			}
			all, _ := json.Marshal(reports)
			if c.neverMentions != "" && strings.Contains(string(all), c.neverMentions) {
				t.Errorf("%s is mentioned in %s", c.neverMentions, all)
			}
		})
	}
}

// The memory of compiled patterns counts in the cache of compiled DataSchemas.
func TestEngine_compile_patterns(t *testing.T) {
	t.Parallel()
	engine := NewEngine(Options{})
	judge, _ := engine.BuiltIn(Rule{Schema: dataSchema.digest}, "")
	const schemas, bytes = 14, 64 * 3 * 30_000 // of the patterns of each
	for i := range schemas {
		var patterns []string
		for j := range 3 {
			patterns = append(patterns, fmt.Sprintf(`{"pattern":"(?:%s){1000}%d"}`, strings.Repeat("a", 30), 3*i+j))
		}
		text := []byte(`{"anyOf":[` + strings.Join(patterns, ",") + `]}`)
		if findings, err := judge.Check(budget.NewMeter(t.Context()), text); err != nil || len(findings) > 0 {
			t.Fatalf("schema %d: %v, %v", i, findings, err)
		}
	}
	if kept, most := engine.compiled.Len(), compiledByte*maxCompiledSize/bytes; kept > most || kept < most/2 {
		t.Errorf("%d schemas are kept, want at most %d", kept, most)
	}
}

// The cache of compiled DataSchemas is bounded in bytes and in number, and findings about an unusable one are copied
// for callers, who modify them.
func TestEngine_compile_bounded(t *testing.T) {
	t.Parallel()
	engine, meter := NewEngine(Options{}), budget.NewMeter(t.Context())
	judge, _ := engine.BuiltIn(Rule{Schema: dataSchema.digest}, "")
	for i := range 40 {
		text := fmt.Appendf(nil, `{"type":%d,"description":"%s"}`, i, strings.Repeat("x", maxCompiledSize/20))
		for range 2 {
			findings, err := judge.Check(meter, text)
			if err != nil || len(findings) == 0 || findings[0].Secret {
				t.Fatalf("schema %d: %v, %v", i, findings, err)
			}
			findings[0].Secret = true
		}
	}
	if kept := engine.compiled.Len(); kept < 15 || kept > 20 || engine.size > maxCompiledSize {
		t.Errorf("%d schemas of %d bytes are kept", kept, engine.size)
	}
	for i := range maxCompiled + 1 {
		if _, err := judge.Check(meter, fmt.Appendf(nil, `{"type":%d}`, i)); err != nil {
			t.Fatal(err)
		}
	}
	if kept := engine.compiled.Len(); kept != maxCompiled {
		t.Errorf("%d schemas are kept", kept)
	}
}

// DataSchemas that are known to be usable are not compiled again, not even where the cache of compiled ones is too small
// for them: of many that refer to one another, each is compiled with the texts of all.
func TestEngine_IsUsable(t *testing.T) {
	t.Parallel()
	const schemas = 30
	texts := map[string][]byte{}
	name := func(i int) string { return fmt.Sprintf("a/A%c%c/v1", 'a'+i/26, 'a'+i%26) }
	for i := range schemas {
		texts[name(i)] = fmt.Appendf(nil, `{"description":"%s","items":{"$ref":"%s"}}`,
			strings.Repeat("x", 2*maxCompiledSize/schemas/schemas), name((i+1)%schemas))
	}
	engine := NewEngine(Options{})
	registry := registryOf(t, engine, texts)
	steps := func() int64 {
		ctx, end := budget.NewPool(1, time.Minute).Begin(t.Context())
		defer end()
		meter := budget.NewMeter(ctx)
		for name := range texts {
			isUsable, _, err := engine.IsUsable(meter, registry.DataSchema(document.Digest{}, name))
			if err != nil || !isUsable {
				t.Fatalf("%v, %v", isUsable, err)
			}
		}
		if err := meter.Check(); err != nil {
			t.Fatal(err)
		}
		spent, _ := budget.From(ctx).Spent()
		return spent
	}
	first, second := steps(), steps()
	if kept := engine.compiled.Len(); kept > schemas/2 || first == 0 || second > 0 {
		t.Errorf("%d schemas are kept; %d steps at first, then %d", kept, first, second)
	}
}

// Nor are unusable ones, of which there are more than compiled ones are kept.
func TestEngine_IsUsable_not(t *testing.T) {
	t.Parallel()
	engine, pool := NewEngine(Options{}), budget.NewPool(1, time.Minute)
	ctx, end := pool.Begin(t.Context())
	defer end()
	ask := func() (steps int64) {
		before, meter := pool.Steps(), budget.NewMeter(ctx)
		for i := range maxCompiled + 1 {
			schema := DataSchema{Text: fmt.Appendf(nil, `{"properties":{"p%d":{"type":"strong"}}}`, i)}
			if usable, why, err := engine.IsUsable(meter, schema); usable || len(why) != 1 || err != nil {
				t.Fatalf("usable %v: %v, %v", usable, why, err)
			}
		}
		if err := meter.Check(); err != nil {
			t.Fatal(err)
		}
		return pool.Steps() - before
	}
	if first, second := ask(), ask(); first == 0 || second > 0 {
		t.Errorf("%d steps at first, then %d", first, second)
	}
}

// patterned returns a document with a substitution for each pattern.
func patterned(t *testing.T, patterns ...string) document.Entry {
	t.Helper()
	var b strings.Builder
	for _, pattern := range patterns {
		b.WriteString("{src: {schema: a/B/v1, name: n, path: ., pattern: '" + pattern + "'}, dest: {path: .}}, ")
	}
	return entry(t, framed(", substitutions: ["+b.String()+"]"))
}

// The cost of patterns is counted once, and those that would take too much work are refused instead.
func TestSanity_patterns(t *testing.T) { //nolint:paralleltest // other tests may displace what is known
	steps := func(e document.Entry, before int) (int64, error) {
		ctx, end := budget.NewPool(1, time.Minute).Begin(t.Context())
		defer end()
		meter := budget.NewMeter(ctx)
		if err := errors.Join(meter.Spend(before), Sanity(meter, e, false)); err != nil {
			return 0, err
		}
		err := meter.Check()
		spent, _ := budget.From(ctx).Spent()
		return spent - int64(before), err
	}
	var patterns []string
	for i := range 300 {
		patterns = append(patterns, fmt.Sprintf("sanity%d{1000}[ab]{1000}", i))
	}
	const least = 30_000_000
	if spent, err := steps(patterned(t, patterns[:50]...), 0); err != nil || spent < least {
		t.Errorf("%d steps, %v", spent, err)
	}
	if spent, err := steps(patterned(t, patterns[:50]...), 0); err != nil || spent > least/10 {
		t.Errorf("when they are known: %d steps, %v", spent, err)
	}
	const most = 19 * budget.Second / 10 // which leaves little of the 2 s
	if _, err := steps(patterned(t, patterns[100:]...), most); fault.KindOf(err) != fault.TooLarge {
		t.Errorf("patterns that take too much work together: %v", err)
	}
	for pattern, refusal := range map[string]string{
		strings.Repeat(`\pL`, 1300):    "cannot be used as a pattern: it takes too much work to compile",
		strings.Repeat("x{1000}", 500): "cannot be used as a pattern: it takes too much work to compile",
		strings.Repeat("x", 4097):      "cannot be used as a pattern: it has 4097 bytes, and at most 4096 are allowed",
		"(":                            "is not an RE2 pattern",
	} {
		_, err := steps(patterned(t, pattern), 0)
		f, ok := errors.AsType[*fault.Fault](err)
		if !ok || len(f.Messages) != 1 || !strings.Contains(f.Messages[0].Message, refusal) {
			t.Errorf("%.20s is refused with %+v", pattern, f.Messages)
		}
	}
}

// Each built-in schema compiles: a mistake in one would otherwise show when a document of its kind is checked.
func TestSchema_compiled(t *testing.T) {
	t.Parallel()
	schemas := []*schema{baseSchema, controlSchema, documentSchema, dataSchema}
	schemas = slices.AppendSeq(schemas, maps.Values(builtins))
	for _, s := range slices.AppendSeq(schemas, maps.Values(provided)) {
		if s.compiled() == nil {
			t.Errorf("%s does not compile", s.text)
		}
	}
}
