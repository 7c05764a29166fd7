package schemadocs

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"purser/internal/budget/budgettest"
	"purser/internal/document"
)

// pages returns the work of documenting schemas of about n bytes in both forms.
func pages() budgettest.Shapes {
	text := schemaWith("type", "string")
	refs := func(i int) any { return schemaWith("$ref", fmt.Sprintf("#/definitions/d%d", i)) }
	shapes := budgettest.Shapes{}
	for name, of := range map[string]func(n int) document.Mapping{
		"properties": func(n int) document.Mapping {
			return schemaWith("properties", many(n/30, "p%d", func(int) any { return text }))
		},
		"descriptions": func(n int) document.Mapping {
			return schemaWith("properties", many(n/600, "p%d", func(int) any { return schemaWith("description", strings.Repeat("a_b [c] ", 70)) }))
		},
		"one description": func(n int) document.Mapping { return schemaWith("description", strings.Repeat("a_b\n\n* c ", n/10)) },
		"references": func(n int) document.Mapping {
			return document.Mapping{{Key: "properties", Value: many(n/70, "p%d", refs)}, {Key: "definitions", Value: many(n/70, "d%d", refs)}}
		},
		"one target": func(n int) document.Mapping {
			return document.Mapping{{Key: "properties", Value: many(n/50, "p%d", func(int) any { return schemaWith("$ref", "#/x") })}, {Key: "x", Value: schemaWith("properties", many(n/50, "k%d", func(int) any { return text }))}}
		},
		"sections": func(n int) document.Mapping {
			return schemaWith("properties", many(n/60, "p%d", func(int) any { return schemaWith("properties", schemaWith("a", document.Mapping{})) }))
		},
		"combinations": func(n int) document.Mapping {
			return schemaWith("properties", many(n/90, "p%d", func(int) any { return schemaWith("anyOf", slice(3, text)) }))
		},
		"many branches": func(n int) document.Mapping {
			return schemaWith("anyOf", slice(n/40, schemaWith("minLength", document.Number("3"))))
		},
		"values": func(n int) document.Mapping { return schemaWith("enum", slice(n/6, "a|b")) },
		"required": func(n int) document.Mapping {
			names := make([]any, n/30)
			for i := range names {
				names[i] = fmt.Sprintf("p%d", i)
			}
			return document.Mapping{{Key: "properties", Value: many(n/30, "p%d", func(int) any { return text })}, {Key: "required", Value: names}}
		},
		"unknown keywords": func(n int) document.Mapping { return many(n/12, "k%d", func(int) any { return nil }) },
		"deep": func(n int) document.Mapping {
			s := text
			for range min(95, n/20) {
				s = schemaWith("properties", schemaWith("a", s))
			}
			return s
		},
		"deep items": func(n int) document.Mapping {
			s := text
			for range min(95, n/20) {
				s = schemaWith("items", s)
			}
			return schemaWith("properties", many(n/1_500, "p%d", func(int) any { return s }))
		},
		"long names": func(n int) document.Mapping {
			return schemaWith("properties", many(n/6_000, strings.Repeat("n", 5_000)+"%d", func(int) any { return schemaWith("properties", schemaWith("a", text)) }))
		},
		"same anchor": func(n int) document.Mapping {
			return schemaWith("properties", many(n/60, "p%[1]d.", func(int) any { return schemaWith("properties", schemaWith("a", text)) }))
		},
		"dependencies": func(n int) document.Mapping {
			return schemaWith("dependencies", many(n/30, "p%d", func(int) any { return slice(2, "a") }))
		},
		"patterns": func(n int) document.Mapping {
			return schemaWith("patternProperties", many(n/40, "^p%d|`$", func(int) any { return text }))
		},
		"groups": func(n int) document.Mapping {
			return schemaWith("properties", many(max(1, n/3_000), "p%d", manyGroups))
		},
	} {
		shapes[name] = func(n int) func(ctx context.Context) {
			page := Page{Name: "acme/Widget/v1", Source: "built in", Schema: of(max(2_000, n))}
			return func(ctx context.Context) {
				_, _ = Markdown(ctx, page)
				_, _ = HTML(ctx, page)
			}
		}
	}
	return shapes
}

// Pages take as much time as they count, whatever makes them expensive.
func TestCost_steps(t *testing.T) { pages().Table(t, 60_000) } //nolint:paralleltest // it measures the process

func TestCost_laws(t *testing.T) { pages().Law(t, 100_000) } //nolint:paralleltest // it measures the process
