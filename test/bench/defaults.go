package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"

	"purser/internal/validations"
)

// schemasOnly restricts the rows about PUTs and verdicts to the schema validation. Row 18 measures the cost of the
// others.
const schemasOnly = "--default-validations=" + validations.SchemaValidation

// defaults measures row 18: the cost that the default validations of the whole revision add to a PUT.
func (b *bench) defaults(ctx context.Context) (err error) {
	site := newSite(small(), b.docs)
	b.sayf("row 18: %d documents of %s, all validations and that of schemas alone", b.docs, site.label)
	all, err := b.start(ctx, "whole", "--default-validations="+strings.Join(validations.DefaultValidations(), ","))
	if err != nil {
		return err
	}
	defer func() { err = all.stop(err) }()
	some, err := b.start(ctx, "schemas")
	if err != nil {
		return err
	}
	defer func() { err = some.stop(err) }()
	const policy = "---\nschema: deckhand/LayeringPolicy/v1\nmetadata: {schema: metadata/Control/v1, name: bench}\n" +
		"data: {layerOrder: [global, site]}\n"
	fresh := func() error {
		for _, server := range []*server{all, some} {
			if err := server.send(ctx, http.MethodDelete, api+"/revisions", nil, &bytes.Buffer{}); err != nil {
				return err
			}
			if err := vacuum(ctx, server.db); err != nil {
				return err
			}
			if err := server.put(ctx, "schemas", []byte(site.schema+policy)); err != nil {
				return err
			}
		}
		return nil
	}
	whole := site.body()
	put := func(server *server) func() error {
		return func() error { return server.put(ctx, "site", whole) }
	}
	turn := 0
	change := func(server *server) func() error {
		return func() error {
			turn++
			return server.put(ctx, "one", fmt.Appendf(nil, "---\nschema: bench/One/v1\nmetadata: {schema: "+
				"metadata/Document/v1, name: one, storagePolicy: cleartext, layeringDefinition: {layer: site}}\n"+
				"data: {turn: %d}\n", turn))
		}
	}
	return b.compareAll([]compared{
		{
			row: 18, limit: 1.15, repeats: rarely, before: fresh, against: put(some), measured: put(all),
			what: fmt.Sprintf("PUT of %d new documents with all validations to that with schemas only", len(site.documents)),
		},
		{
			row: 18, repeats: often, against: change(some), measured: change(all),
			what: fmt.Sprintf("PUT of one other document into a site of %d, the same", len(site.documents)),
		},
	})
}
