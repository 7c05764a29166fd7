package changes

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"purser/internal/budget"
	"purser/internal/budget/budgettest"
	"purser/internal/document"
	"purser/internal/revisions"
)

// costly are bodies of PUT requests of about n bytes that are expensive in some way.
func costly() map[string]func(n int) string {
	each := func(of func(i int) string) func(n int) string {
		return func(n int) string {
			var b strings.Builder
			for i := 0; b.Len() < n; i++ {
				b.WriteString(of(i))
			}
			return b.String()
		}
	}
	fill := func(text string) func(n int) string { return each(func(int) string { return text }) }
	kind := func(i int) string { return "acme/" + word(i) + "/v1" }
	schemas := func(of func(i int) string) func(n int) string {
		return each(func(i int) string { return schemaOf(kind(i), of(i)) })
	}
	on := func(text, keyword string, times int) func(n int) string {
		return func(n int) string {
			return schemaOf("acme/Widget/v1", "{allOf: ["+strings.Repeat("{"+keyword+"}, ", times)+"{}]}") +
				widget("w", `"`+strings.Repeat(text, n/len(text))+`"`)
		}
	}
	return map[string]func(n int) string{
		"stray keys alone":  fill("--- {s: 1, m: 1, d: 2, stray: 3}\n"),
		"no metadata":       fill("--- {schema: a/B/v1, x: 1}\n"),
		"misspelt keys":     fill("--- {schemas: a/B/v1, metadata: 1, dat: 1}\n"),
		"misspelt metadata": fill("--- {schema: a/B/v1, metadata: {schema: metadata/Document/v1, nme: n, storagePolcy: cleartext, layeringDefinition: {laier: site}}, data: 1}\n"),
		"empty mappings":    fill("--- {}\n"),
		"lists":             fill("--- []\n"),
		"stray keys":        each(func(i int) string { return widget(fmt.Sprint("w", i), "{}") + "x: 1\ny: 2\n" }),
		"documents":         each(func(i int) string { return widget(fmt.Sprint("w", i), "{}") }),
		"wrong schemas":     schemas(func(int) string { return "{type: 1}" }),
		"unknown types":     schemas(func(i int) string { return "{type: " + word(i) + "}" }),
		"a chain":           schemas(func(i int) string { return "{properties: {x: {$ref: " + kind(i+1) + "}}}" }),
		"references alone":  schemas(func(i int) string { return "{$ref: " + kind(i+1) + "}" }),
		"lengths":           on("é", "minLength: 3", 300),
		"a long match":      on("abcdefghij", "pattern: '[a-z]*Nx$'", 40),
	}
}

// puts returns the work of a PUT of each body into an empty site.
func puts() budgettest.Shapes {
	shapes := budgettest.Shapes{}
	for name, of := range costly() {
		shapes[name] = func(n int) func(ctx context.Context) {
			body := []byte(layeringPolicy("policy") + of(n))
			return func(ctx context.Context) {
				s, _ := service()
				s.Documents = NewDocumentCache(64 << 20)
				s.DefaultValidations = append(s.DefaultValidations, RevisionValidations()...)
				_, _ = s.Put(ctx, "b", body, document.YAML, revisions.Options{DryRun: true})
			}
		}
	}
	return shapes
}

// A PUT takes as much time as it counts, whatever makes it expensive.
func TestCost_steps(t *testing.T) { puts().Table(t, 60_000) } //nolint:paralleltest // it measures the process

// What was once counted too cheaply counts at least as many steps as nanoseconds that it took on a quiet machine.
func TestCost_least(t *testing.T) {
	t.Parallel()
	for name, least := range map[string]int64{
		"empty mappings": 80_000_000, "lists": 80_000_000, "a chain": 900_000_000, "lengths": 38_000_000,
		"a long match": 120_000_000,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, end := budget.NewPool(1, time.Minute).Begin(t.Context())
			defer end()
			puts()[name](60_000)(ctx)
			if steps, _ := budget.From(ctx).Spent(); steps < least {
				t.Errorf("%d steps are counted, at least %d are expected", steps, least)
			}
		})
	}
}
