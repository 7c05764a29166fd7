package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"
	"gopkg.in/yaml.v3"

	"purser/internal/authz"
	"purser/internal/budget"
	"purser/internal/cache"
	"purser/internal/changes"
	"purser/internal/document"
	"purser/internal/queries"
	"purser/internal/rendering"
	"purser/internal/revisions"
	"purser/internal/store"
	"purser/internal/validations"
	"purser/internal/validations/jsonschema"
)

var (
	errNotValid = errors.New("a document of the site is not valid")
	errOther    = errors.New("not what was to be measured")
)

// compile compiles the DataSchema of a kind.
func compile(ctx context.Context, k kind) (validations.Checker, error) {
	text, err := dataOf(ctx, k.schema)
	if err != nil {
		return nil, err
	}
	checker, err := jsonschema.Compile(budget.NewMeter(ctx), text, jsonschema.Options{})
	if err != nil {
		return nil, fmt.Errorf("compile the DataSchema: %w", err)
	}
	return checker, nil
}

// dataOf returns the data of a document as JSON text.
func dataOf(ctx context.Context, text string) ([]byte, error) {
	value, err := document.ParseOne(ctx, []byte(text), document.YAML, document.DefaultLimits())
	if err != nil {
		return nil, fmt.Errorf("read a document: %w", err)
	}
	return document.AppendJSON(nil, document.Locate(value, []string{"data"})), nil
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
	return doc, noFindings(checker.Check(meter, doc.Data))
}

// noFindings returns an error if a check failed or found something.
func noFindings(findings []validations.Finding, err error) error {
	if err != nil {
		return fmt.Errorf("check a document: %w", err)
	}
	if len(findings) > 0 {
		return fmt.Errorf("%w: %s", errNotValid, findings[0].Message)
	}
	return nil
}

// unchecked is a Checker that finds nothing.
type unchecked struct{}

func (unchecked) Check(*budget.Meter, []byte) ([]validations.Finding, error) { return nil, nil }

func cores() int { return runtime.GOMAXPROCS(0) }

// parseStandard decodes JSON with encoding/json.
func parseStandard(text []byte) (value any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	err = decoder.Decode(&value)
	return value, err //nolint:wrapcheck // wrapped by the caller
}

// readNodes parses all documents of a YAML stream and keeps them, as a program that used them would.
func readNodes(body []byte) {
	var documents []*yaml.Node
	for decoder := yaml.NewDecoder(bytes.NewReader(body)); ; {
		node := new(yaml.Node)
		err := decoder.Decode(node)
		if errors.Is(err, io.EOF) && len(documents) > 0 {
			return
		}
		must("read a document", err)
		documents = append(documents, node)
	}
}

// renderDocuments renders without validating.
func renderDocuments(ctx context.Context, documents []*document.Document) {
	out, err := rendering.Render(ctx, documents, rendering.Options{})
	if err == nil && len(out.Faults) > 0 {
		err = out.Faults[0]
	}
	must("render", err)
}

// openStore opens the store of a database until the run ends, with a cache of the server's size.
func (r *run) openStore(database string) *store.Store {
	const cacheSize = 16 << 20
	kept, err := store.Open(r.ctx, database, store.Options{CacheSize: cacheSize, Deadlines: store.DefaultDeadlines()})
	must("open the store", err)
	r.cleanup(func() error {
		kept.Close()
		return nil
	})
	return kept.Site(revisions.DefaultSite)
}

func newEngine() *validations.Engine { return validations.NewEngine(validations.Options{}) }

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
