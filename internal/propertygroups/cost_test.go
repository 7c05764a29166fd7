package propertygroups

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"purser/internal/budget"
	"purser/internal/budget/budgettest"
	"purser/internal/document"
	"purser/internal/validations/jsonschema"
)

// grouped returns the work of compiling schemas with property groups and checking objects of about n bytes together.
func grouped() budgettest.Shapes {
	type input struct {
		groups []any
		more   document.Mapping
		object map[string]any
	}
	names := func(n int, prefix string) []any {
		return many(n, func(i int) any { return prefix + strconv.Itoa(i) })
	}
	list := func(n int) map[string]any {
		return map[string]any{"l": repeated(n, map[string]any{"b": nil}), "k": true}
	}
	shapes := budgettest.Shapes{}
	for name, of := range map[string]func(n int) input{
		"one group": func(n int) input { return input{[]any{named("g", "or", names(n/10, "p")...)}, nil, list(10)} },
		"and":       func(n int) input { return input{[]any{named("g", "and", names(n/10, "p")...)}, nil, list(10)} },
		"many": func(n int) input {
			return input{many(n/80, func(i int) any { return named("g"+strconv.Itoa(i), "xor", "a", "b") }), nil, list(10)}
		},
		"over lists": func(n int) input { return input{[]any{named("g", "or", names(n/20, "l.p")...)}, nil, list(n / 20)} },
		"pairs over lists": func(n int) input {
			return input{many(n/160, func(i int) any { return named("g"+strconv.Itoa(i), "xor", "l.a", "l.c") }), nil, list(n / 20)}
		},
		"ladder":         func(n int) input { return input{ladder(min(900, n/90), "xor"), nil, list(10)} },
		"ladder of ands": func(n int) input { return input{ladder(min(900, n/90), "and"), nil, list(10)} },
		"depends on":     func(n int) input { return input{ladder(min(900, n/90), "depends_on"), nil, list(10)} },
		"chain": func(n int) input {
			return input{many(n/80, func(i int) any { return named("g"+strconv.Itoa(i), "or", "g"+strconv.Itoa(i+1), "k") }), nil, list(10)}
		},
		"ring": func(n int) input {
			return input{many(n/80, func(i int) any { return named("g"+strconv.Itoa(i), "or", "g"+strconv.Itoa((i+1)%(n/80)), "k") }), nil, list(10)}
		},
		"groups of one name": func(n int) input { return input{repeated(n/80, named("g", "or", "a", "b")), nil, list(10)} },
		"long names": func(n int) input {
			return input{[]any{named(strings.Repeat("g", n/2), "or", strings.Repeat("p", n/2))}, nil, list(10)}
		},
		"long paths": func(n int) input {
			return input{[]any{named("g", "or", names(n/2_000, strings.Repeat("l.", 900))...)}, nil, list(10)}
		},
		"same group in all": func(n int) input {
			return input{append(many(n/160, func(i int) any { return named("g"+strconv.Itoa(i), "and", "t", "t") }), named("t", "or", names(n/20, "p")...)), nil, list(10)}
		},
		"unknown properties": func(n int) input {
			closed := document.Mapping{{Key: "properties", Value: strange(n / 40)}, {Key: "additionalProperties", Value: false}}
			return input{many(n/160, func(i int) any { return named("g"+strconv.Itoa(i), "or", "q", "r") }), closed, list(10)}
		},
		"unknown keywords": func(n int) input { return input{[]any{named("g", "or", "a")}, strange(n / 20), list(10)} },
		"versions": func(n int) input {
			return input{many(n/200, func(i int) any {
				return document.Mapping{{Key: "g" + strconv.Itoa(i), Value: document.Mapping{
					{Key: "properties", Value: []any{"k"}}, {Key: "client_plugin", Value: "c"}, {Key: "client_plugin_supported", Value: names(3, "1.")},
				}}}
			}), nil, list(10)}
		},
	} {
		shapes[name] = func(n int) func(ctx context.Context) {
			in := of(max(2_000, n))
			text := document.AppendJSON(nil, append(document.Mapping{{Key: namedKeyword, Value: in.groups}}, in.more...))
			data := document.AppendJSON(nil, mappingOf(in.object))
			return func(ctx context.Context) {
				meter := budget.NewMeter(ctx)
				s, err := jsonschema.Compile(meter, text, jsonschema.Options{Extensions: []jsonschema.Extension{Extension{}}})
				if err == nil {
					_, err = s.For(Versions{"c": "1.1"}).Check(meter, data)
				}
				if _, unusable := errors.AsType[*jsonschema.Unusable](err); err == nil || unusable {
					err = meter.Check()
				}
				_ = fmt.Sprint(err)
			}
		}
	}
	return shapes
}

// Property groups take as much time as they count, whatever makes them expensive.
func TestCost_steps(t *testing.T) { grouped().Table(t, 200_000) } //nolint:paralleltest // it measures the process

func TestCost_laws(t *testing.T) { grouped().Law(t, 400_000) } //nolint:paralleltest // it measures the process
