package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"purser/internal/authz"
	"purser/internal/budget"
	"purser/internal/cache"
	"purser/internal/changes"
	"purser/internal/document"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/store"
	"purser/internal/validations"
	"purser/internal/validations/jsonschema"
)

// compile compiles the DataSchema of a kind.
func compile(ctx context.Context, k kind) (validations.Checker, error) {
	limits := document.DefaultLimits()
	value, err := document.ParseOne(ctx, []byte(k.schema), document.YAML, limits)
	if err != nil {
		return nil, fmt.Errorf("read the DataSchema: %w", err)
	}
	text := document.AppendJSON(nil, document.Locate(value, []string{"data"}))
	checker, err := jsonschema.Compile(budget.NewMeter(ctx), text, jsonschema.Options{})
	if err != nil {
		return nil, fmt.Errorf("compile the DataSchema: %w", err)
	}
	return checker, nil
}

// decodeAndCheck decodes and checks every document of a body, which every ingest must do, and nothing else. It uses
// several goroutines if workers is more than one.
func decodeAndCheck(ctx context.Context, body []byte, checker validations.Checker, workers int) (
	[]*document.Document, error,
) {
	limits := document.DefaultLimits()
	segments, err := document.Split(ctx, body, document.YAML, limits)
	if err != nil {
		return nil, fmt.Errorf("split the body: %w", err)
	}
	docs := make([]*document.Document, len(segments))
	part := (len(segments) + workers - 1) / workers
	group, ctx := errgroup.WithContext(ctx)
	for start := 0; start < len(segments); start += part {
		group.Go(func() error {
			for i := start; i < min(start+part, len(segments)) && ctx.Err() == nil; i++ {
				var err error
				if docs[i], err = decodeOne(ctx, segments[i], limits, checker); err != nil {
					return fmt.Errorf("document %d: %w", i, err)
				}
			}
			return nil
		})
	}
	return docs, group.Wait()
}

var errNotValid = errors.New("a document of the site is not valid")

func decodeOne(ctx context.Context, segment document.Segment, limits document.Limits, checker validations.Checker) (
	*document.Document, error,
) {
	meter := budget.NewMeter(ctx)
	entry, err := document.Decode(ctx, segment, limits)
	if err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	if err := validations.Sanity(meter, entry, false); err != nil {
		return nil, fmt.Errorf("check its frame: %w", err)
	}
	doc, err := document.New(entry)
	if err != nil {
		return nil, fmt.Errorf("make the document: %w", err)
	}
	return doc, isValid(meter, checker, doc.Data)
}

func isValid(meter *budget.Meter, checker validations.Checker, data []byte) error {
	findings, err := checker.Check(meter, data)
	if err != nil {
		return fmt.Errorf("check a document: %w", err)
	}
	if len(findings) > 0 {
		return fmt.Errorf("%w: %s", errNotValid, findings[0].Message)
	}
	return nil
}

func cores() int { return runtime.GOMAXPROCS(0) }

// openStore opens the store at a URL, with a cache of the server's size.
func openStore(ctx context.Context, url string) (*store.Store, error) {
	const cacheSize = 16 << 20
	return store.Open(ctx, url, store.Options{CacheSize: cacheSize, Deadlines: store.DefaultDeadlines()})
}

// newService returns a service that changes a site, configured as in the server.
func newService(kept revisions.Store, engine *validations.Engine) *changes.Service {
	return changes.NewService(changes.Config{
		DefaultValidations: revisions.Defaults{validations.SchemaValidation},
		Store:              kept, Engine: engine, Limits: document.DefaultLimits(), Now: time.Now, Rendered: forgetful(),
		Observe: func(string, time.Duration) {},
	})
}

// newQueries returns a view for a viewer who may see everything. It does not cache rendered documents.
func newQueries(kept queries.Store, engine *validations.Engine) queries.View {
	return queries.NewService(queries.Config{
		DefaultValidations: revisions.Defaults{validations.SchemaValidation},
		Store:              kept, Renderer: changes.Renderer{Engine: engine}, Rendered: forgetful(),
	}).For(authz.Viewer{Encrypted: true})
}

// forgetful returns a cache that keeps nothing.
func forgetful() *changes.RenderCache {
	return cache.New[changes.RenderKey, changes.Rendering](0)
}
