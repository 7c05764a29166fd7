package puppet_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"purser/internal/budget"
	"purser/internal/budget/budgettest"
	"purser/internal/document"
	"purser/internal/puppet"
)

// listed returns about n bytes of JSON members or items.
func listed(n int, each func(i int) string) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(each(i))
	}
	return b.String()
}

// hostile are a catalog, an override and the parameters of the type Thing, of about n bytes together, which are
// expensive in some way.
type hostile struct{ catalog, override, parameters string }

func costly() map[string]func(n int) hostile {
	notify := func(n int, parameters func(i int) string) string {
		return listed(n, func(i int) string {
			return fmt.Sprintf(`{"type":"Notify","title":"%d","parameters":{%s}}`, i, parameters(i))
		})
	}
	override := func(entries string) string { return `{"configuration":{` + entries + `}}` }
	none := func(int) string { return "" }
	members := func(format string) func(i int) string {
		return func(i int) string { return fmt.Sprintf(format, i) }
	}
	overriding := func(text func(n int) string) func(n int) hostile {
		return func(n int) hostile { return hostile{override: text(n)} }
	}
	return map[string]func(n int) hostile{
		"catalog": func(n int) hostile { return hostile{catalog: notify(n, members(`"message":"%d"`))} },
		"chain": func(n int) hostile {
			return hostile{notify(n, members(`"require":"Notify[%d]"`)), override(`"notify":{"1":{"before":"Notify[2]"}}`), ""}
		},
		"one resource again": func(n int) hostile {
			entries := listed(n/2, func(i int) string { return fmt.Sprintf(`"%s":{"1":{"message":1}}`, spelt("notify", i%64)) })
			return hostile{`{"type":"Notify","title":"1","parameters":{` + listed(n/2, members(`"p%d":1`)) + `}}`, override(entries), ""}
		},
		"relations": func(n int) hostile {
			entries := `"notify":{` + listed(n/2, members(`"%d":{"require":["Notify[1]","Notify[2]"]}`)) + `}`
			return hostile{notify(n/2, none), override(entries), ""}
		},
		"many relations of one": func(n int) hostile {
			entries := `"notify":{"0":{"require":[` + listed(n/2, members(`"Notify[%d]"`)) + `]}}`
			return hostile{notify(n/2, none), override(entries), ""}
		},
		"resources": overriding(func(n int) string { return override(`"notify":{` + listed(n, members(`"n%d":{"message":"a"}`)) + `}`) }),
		"files": overriding(func(n int) string {
			return override(`"file":{` + listed(n, members(`"/etc/f%d":{"mode":"0644","ensure":"file","owner":"root"}`)) + `}`)
		}),
		"wrong files": overriding(func(n int) string {
			return override(`"file":{` + listed(n, members(`"etc/f%d":{"mode":"x","ensure":"y","recurse":"z"}`)) + `}`)
		}),
		"unknown types":      overriding(func(n int) string { return override(listed(n, members(`"thimg%d":{"a":{}}`))) }),
		"unknown parameters": overriding(func(n int) string { return override(`"file":{"/a":{` + listed(n, members(`"mmode%d":1`)) + `}}`) }),
		"unknown options":    overriding(func(n int) string { return `{` + listed(n, members(`"creates%d":1`)) + `}` }),
		"malformed resources": overriding(func(n int) string {
			return override(`"file":{` + listed(n, members(`"/a%d":[]`)) + `}`)
		}),
		"exceptions": overriding(func(n int) string {
			return `{"configuration":{"notify":{` + listed(n/2, members(`"abcdefgh%d":{}`)) + `}},"titles_exception":[` +
				listed(n/2, members(`"abcdefgi%d"`)) + `]}`
		}),
		"types of exceptions": overriding(func(n int) string {
			return `{"configuration":{` + listed(n/2, members(`"thing%d":{"a":{}}`)) + `},"types_exception":[` +
				listed(n/2, members(`"thing_%d"`)) + `]}`
		}),
		"defaults": overriding(func(n int) string {
			return `{"configuration":{"notify":{` + listed(n/2, members(`"%d":{}`)) + `}},"defaults":{"notify":{` +
				listed(n/2, members(`"p%d":1`)) + `}}}`
		}),
		"parameters of a type": func(n int) hostile {
			return hostile{"", override(`"thing":{` + listed(n/2, members(`"t%d":{"abcdefgh":1}`)) + `}`), listed(n/2, members(`"abcdefgi%d":{}`))}
		},
		"audits": func(n int) hostile {
			return hostile{"", override(`"thing":{` + listed(n/2, members(`"t%d":{"audit":["abcdefgh"]}`)) + `}`), listed(n/2, members(`"abcdefgi%d":{}`))}
		},
		"long titles": overriding(func(n int) string {
			return override(`"file":{` + listed(n, func(i int) string { return fmt.Sprintf(`"/%s%d":{"mode":1}`, strings.Repeat("a", 5_000), i) }) + `}`)
		}),
		"long values": overriding(func(n int) string {
			return override(`"file":{` + listed(n, func(i int) string { return fmt.Sprintf(`"/%d":{"mode":"%s"}`, i, strings.Repeat("x", 5_000)) }) + `}`)
		}),
		"large values": overriding(func(n int) string {
			return override(`"file":{` + listed(n, func(i int) string { return fmt.Sprintf(`"/%d":{"mode":[[%s"a"]]}`, i, strings.Repeat(`"a",`, 1_000)) }) + `}`)
		}),
		"commands": overriding(func(n int) string {
			return override(`"exec":{` + listed(n, members(`"e%d":{"command":"true","environment":["A=b","c"]}`)) + `}`)
		}),
		"references": overriding(func(n int) string {
			return override(`"notify":{"a":{"require":[` + listed(n, members(`"Notify[x%d]"`)) + `]}}`)
		}),
	}
}

func (h hostile) work(t *testing.T) func(ctx context.Context) {
	t.Helper()
	value := func(text string) any {
		if text == "" {
			return document.Mapping{}
		}
		value, err := document.ParseJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	override := value(h.override)
	described := value(`{"name":"thing","parameters":{"properties":{` + h.parameters + `},"additionalProperties":false}}`)
	return func(ctx context.Context) {
		meter := budget.NewMeter(ctx)
		before, err := puppet.Read(meter, []byte(`{"resources":[`+h.catalog+`]}`))
		if err != nil {
			return
		}
		thing, _, err := puppet.ParseType(meter, described)
		if err != nil {
			return
		}
		types := puppet.NewTypes([]*puppet.Type{thing})
		in, _ := puppet.ParseInstance(meter, "x", false, override)
		instances := []puppet.Instance{in, in}
		if _, err := puppet.Check(meter, in, types); err != nil {
			return
		}
		result, err := puppet.Apply(meter, before, instances, types)
		if err != nil || result.Catalog == nil {
			return
		}
		if _, err := puppet.Diff(meter, before, result.Catalog); err == nil {
			_, _ = result.Catalog.JSON(meter)
		}
	}
}

func shapes(t *testing.T) budgettest.Shapes {
	t.Helper()
	shapes := budgettest.Shapes{}
	for name, of := range costly() {
		shapes[name] = func(n int) func(ctx context.Context) { return of(n).work(t) }
	}
	return shapes
}

// Overrides and catalogs take as much time as they count, whatever makes them expensive.
func TestCost_steps(t *testing.T) { shapes(t).Table(t, 60_000) } //nolint:paralleltest // it measures the process

func TestCost_laws(t *testing.T) { shapes(t).Law(t, 400_000) } //nolint:paralleltest // it measures the process
