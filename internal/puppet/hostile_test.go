package puppet_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/puppet"
)

func meterOf() *budget.Meter { return budget.NewMeter(context.Background()) }

// bounded returns a meter of one request's budget.
func bounded(t testing.TB) *budget.Meter {
	t.Helper()
	ctx, end := budget.NewPool(1, time.Minute).Begin(t.Context())
	t.Cleanup(end)
	return budget.NewMeter(ctx)
}

func TestRead_refuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		``:                                "not JSON",
		`[]`:                              "not a JSON object",
		`{}`:                              "no list of resources",
		`{"resources":{}}`:                "no list of resources",
		`{"resources":[1]}`:               "has no type and title",
		`{"resources":[{"type":"File"}]}`: "has no type and title",
		`{"resources":[{"type":"File","title":"/a"`:                                        "not JSON",
		`{"resources":[],"resources":[]}`:                                                  "the key resources twice",
		`{"resources":[{"type":"A","title":"a","type":"B"}]}`:                              "the key type twice",
		`{"resources":[{"type":"A","title":"a","parameters":{"x":1,"x":2}}]}`:              "the parameter x twice",
		`{"resources":[{"type":"A","title":"a","parameters":[]}]}`:                         "not a hash",
		`{"resources":[{"type":"A","title":"a"},{"type":"a","title":"a"}]}`:                "Duplicate declaration: A[a]",
		"{\"resources\":[],\"a\":\"\xff\"}":                                                "not UTF-8",
		`{"resources":[],"a":"\ud800"}`:                                                    "half of a surrogate pair",
		`{"resources":[],"a":"\udc00\ud800"}`:                                              "half of a surrogate pair",
		`{"resources":[],"a":"\ud83d\ud83d\ude00"}`:                                        "half of a surrogate pair",
		`{"resources":[],"a":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`: "deeper than 100",
	} {
		_, err := puppet.Read(bounded(t), []byte(text))
		if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: got %v, want %s", text, err, want)
		}
	}
}

func TestRead_accepts(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"Notice: Compiled catalog for vm in environment production in 0.02 seconds\n{\n  \"resources\": []\n}\n",
		"\x1b[mNotice: Compiled catalog for vm\x1b[0m\n{\"resources\":[]}",
		`{"resources":[],"a":"\\ud800 \\\ud83d\ude00"}`,
	} {
		if _, err := puppet.Read(bounded(t), []byte(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Catalogs and overrides that would exceed a request's budget are refused before they exceed it.
func TestHostile(t *testing.T) { //nolint:paralleltest // it measures the heap
	row := func(n int, each func(i int) string) string {
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(each(i))
		}
		return b.String()
	}
	resources := func(n int, parameters func(i int) string) string {
		return `{"resources":[` + row(n, func(i int) string {
			return fmt.Sprintf(`{"type":"Notify","title":"%d","parameters":{%s}}`, i, parameters(i))
		}) + `]}`
	}
	const many = 40_000
	for name, c := range map[string]struct{ catalog, override string }{
		"empty lists":  {`{"resources":[],"x":[` + row(5_000_000, func(int) string { return "[]" }) + `]}`, "{}"},
		"empty titles": {resources(300_000, func(int) string { return "" }), "{}"},
		"a long chain": {
			resources(many, func(i int) string { return fmt.Sprintf(`"require":"Notify[%d]"`, max(i-1, 0)) }),
			`{"configuration":{"notify":{"1":{"before":"Notify[2]"}}}}`,
		},
		"a large cycle": {
			resources(many, func(i int) string { return fmt.Sprintf(`"require":"Notify[%d]"`, (i+1)%many) }),
			`{"configuration":{"notify":{"1":{"before":"Notify[7]"}}}}`,
		},
		"many edges": {
			resources(2000, func(int) string {
				return `"require":[` + row(200, func(i int) string { return fmt.Sprintf(`"Notify[%d]"`, i) }) + `]`
			}), `{"configuration":{"notify":{"1":{"before":"Notify[1999]"}}}}`,
		},
		"many defaults": {
			`{"resources":[]}`, `{"configuration":{"notify":{` + row(20_000, func(i int) string { return fmt.Sprintf(`"%d":{}`, i) }) +
				`}},"defaults":{"notify":{` + row(20_000, func(i int) string { return fmt.Sprintf(`"p%d":%d`, i, i) }) + `}}}`,
		},
		"large defaults": {
			`{"resources":[]}`, `{"configuration":{"notify":{` + row(20_000, func(i int) string { return fmt.Sprintf(`"%d":{}`, i) }) +
				`}},"defaults":{"notify":{"message":"` + strings.Repeat("x", 1<<20) + `"}}}`,
		},
		"large defaults that are judged": {
			`{"resources":[]}`, `{"configuration":{"exec":{` + row(20_000, func(i int) string { return fmt.Sprintf(`"%d":{}`, i) }) +
				`}},"defaults":{"exec":{"environment":"A=` + strings.Repeat("x", 1<<20) + `"}}}`,
		},
		"large parameters that are judged together": {
			`{"resources":[]}`, `{"configuration":{"exec":{` + row(20_000, func(i int) string { return fmt.Sprintf(`"%d":{}`, i) }) +
				`}},"defaults":{"exec":{"command":"\"` + strings.Repeat("x", 1<<20) + `"}}}`,
		},
		"many types of defaults": {
			`{"resources":[]}`, `{"configuration":{` + row(30_000, func(i int) string { return fmt.Sprintf(`"t%d":{"a":{}}`, i) }) +
				`},"defaults":{` + row(30_000, func(i int) string { return fmt.Sprintf(`"t%d":{}`, i) }) + `}}`,
		},
		"one resource again and again": {
			`{"resources":[{"type":"Notify","title":"a","parameters":{` + row(50_000, func(i int) string {
				return fmt.Sprintf(`"p%d":1`, i)
			}) + `}}]}`,
			`{"configuration":{` + row(30_000, func(i int) string {
				return fmt.Sprintf(`"%s":{"a":{"message":1}}`, spelt("notify", i%64))
			}) + `}}`,
		},
	} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		err := func() error {
			ctx, end := budget.NewPool(1, time.Minute).Begin(t.Context())
			defer end()
			meter := budget.NewMeter(ctx)
			read, err := puppet.Read(meter, []byte(c.catalog))
			if err != nil {
				return err
			}
			value, err := document.ParseJSON([]byte(c.override))
			if err != nil {
				return err
			}
			in, _ := puppet.ParseInstance(meter, "x", false, value)
			result, err := puppet.Apply(meter, read, []puppet.Instance{in}, puppet.NewTypes(nil))
			if err != nil || result.Catalog == nil {
				return err
			}
			_, err = result.Catalog.JSON(meter)
			return err
		}()
		runtime.ReadMemStats(&after)
		if err != nil && fault.KindOf(err) != fault.TooLarge {
			t.Errorf("%s: %v", name, err)
		}
		t.Logf("%s: %d MiB allocated, %v", name, (after.TotalAlloc-before.TotalAlloc)>>20, err)
		if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 4*budget.MaxBytes {
			t.Errorf("%s: %d MiB were allocated", name, allocated>>20)
		}
	}
}

// spelt returns a word with the letters capitalised whose bits are set in n.
func spelt(word string, n int) string {
	text := []byte(word)
	for i := range text {
		if n>>i&1 == 1 {
			text[i] -= 'a' - 'A'
		}
	}
	return string(text)
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"resources":[{"type":"File","title":"/a","parameters":{"mode":1.50,"require":["File[b]"]}}],"edges":[]}`))
	f.Add([]byte(`{"resources":[{"type":"Class","title":"","kind":"class"}],"x":"\ud83d\ude00\u0000"}`))
	f.Add([]byte("Notice: x\n{\"resources\":[]}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := puppet.Read(meterOf(), text)
		if err != nil {
			if fault.KindOf(err) != fault.Invalid {
				t.Fatal(err)
			}
			return
		}
		in := instance(t, "x", "configuration: {file: {/a: {mode: '1', notify: 'File[/b]'}, /b: {}}, class: {'': {}}}")
		if _, err := puppet.Apply(meterOf(), c, []puppet.Instance{in}, puppet.NewTypes(nil)); err != nil {
			t.Fatal(err)
		}
		once := textOf(t, c)
		if twice := textOf(t, parsed(t, []byte(once))); once != twice {
			t.Fatalf("%s is read as %s", once, twice)
		}
	})
}
