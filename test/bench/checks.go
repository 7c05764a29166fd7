package main

import (
	"context"
	"fmt"
	"strings"

	library "github.com/santhosh-tekuri/jsonschema/v5"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/validations/jsonschema"
)

// drafts are the drafts in which a DataSchema may be written.
var drafts = []struct{ name, uri string }{
	{"4", "http://json-schema.org/draft-04/schema#"},
	{"6", "http://json-schema.org/draft-06/schema#"},
	{"7", "http://json-schema.org/draft-07/schema#"},
	{"2019-09", "https://json-schema.org/draft/2019-09/schema"},
	{"2020-12", "https://json-schema.org/draft/2020-12/schema"},
}

// checks measures row 21: checking a decoded document of 2 KB against a compiled schema of 3 KB, relative to the
// library.
func (b *bench) checks(ctx context.Context) error {
	b.sayf("row 21: checks by JSON Schema")
	chart := newSite(large(), 1)
	data, err := dataOf(ctx, chart.documents[0])
	if err != nil {
		return err
	}
	for _, draft := range drafts {
		schema, err := dataOf(ctx, strings.Replace(chart.schema, "http://json-schema.org/schema#", draft.uri, 1))
		if err != nil {
			return err
		}
		pair, err := checkPair(ctx, schema, data)
		if err != nil {
			return fmt.Errorf("draft %s: %w", draft.name, err)
		}
		pair.what = fmt.Sprintf("check %.1f KB by a schema of %.1f KB in draft %s, to github.com/santhosh-tekuri/jsonschema",
			float64(len(data))/1000, float64(len(schema))/1000, draft.name)
		if err := b.compare(pair); err != nil {
			return err
		}
	}
	return nil
}

// dataOf returns the data of a document as JSON text.
func dataOf(ctx context.Context, text string) ([]byte, error) {
	value, err := document.ParseOne(ctx, []byte(text), document.YAML, document.DefaultLimits())
	if err != nil {
		return nil, fmt.Errorf("read a document: %w", err)
	}
	return document.AppendJSON(nil, document.Locate(value, []string{"data"})), nil
}

// checkPair compiles a schema and parses the data for both sides.
func checkPair(ctx context.Context, schema, data []byte) (compared, error) {
	const times = 200 // checks per turn
	ours, err := jsonschema.Compile(budget.NewMeter(ctx), schema, jsonschema.Options{})
	if err != nil {
		return compared{}, fmt.Errorf("compile: %w", err)
	}
	theirs, err := library.CompileString("bench:///schema", string(schema))
	if err != nil {
		return compared{}, fmt.Errorf("compile with the library: %w", err)
	}
	value, err := document.ParseJSON(data)
	if err != nil {
		return compared{}, fmt.Errorf("read the data: %w", err)
	}
	plain, err := standard(data)
	if err != nil {
		return compared{}, fmt.Errorf("read the data: %w", err)
	}
	again := func(check func() error) func() error {
		return func() error {
			for range times {
				if err := check(); err != nil {
					return err
				}
			}
			return nil
		}
	}
	return compared{
		row: 21, limit: 1.3, repeats: often,
		measured: again(func() error {
			findings, err := ours.CheckValue(budget.NewMeter(ctx), value)
			if err == nil && len(findings) > 0 {
				err = fmt.Errorf("%w: %s", errNotValid, findings[0].Message)
			}
			return err
		}),
		against: again(func() error { return theirs.Validate(plain) }),
	}, nil
}
