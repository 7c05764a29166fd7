package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"purser/internal/queries"
)

// often is the number of turns in a round of work that takes less than a millisecond.
const often = 50

// filter returns work that reads a document of a revision by its name and, if schema is set, by its schema too.
func (k *keyed) filter(ctx context.Context, revision int64, schema bool) func() error {
	return func() error {
		doc := k.another()
		selection := queries.Selection{Names: []string{doc.name}, Page: queries.Page{Limit: -1}}
		if schema {
			selection.Schemas = []string{doc.schema}
		}
		selected, err := k.service.Documents(ctx, revision, selection)
		return single(len(selected.Documents), err)
	}
}

// latest is like filter, for a client that does not know the newest revision's number.
func (k *keyed) latest(ctx context.Context) func() error {
	return func() error {
		revision, err := k.service.Resolve(ctx, "latest")
		if err != nil {
			return fmt.Errorf("find the newest revision: %w", err)
		}
		return k.filter(ctx, revision, false)()
	}
}

// request is like filter, over HTTP.
func (k *keyed) request(client wire, revision string) func() error {
	return func() error {
		query := "metadata.name=" + url.QueryEscape(k.another().name)
		return client.send(message(http.MethodGet, api+"/revisions/"+revision+"/documents?"+query, nil))
	}
}

// filters measures row 8.
func (b *bench) filters(ctx context.Context, long, brief *wide) error {
	changed, err := long.keyed(ctx, long.few.name)
	if err != nil {
		return err
	}
	if err := b.selects(ctx, changed); err != nil {
		return err
	}
	lasting, err := long.keyed(ctx, long.many.name)
	if err != nil {
		return err
	}
	if err := b.compare(compared{
		row: 8, repeats: often, limit: 3, against: lasting.byKey(ctx), measured: lasting.filter(ctx, long.newest, false),
		what: "a document that never changed by name from head, to one by key",
	}); err != nil {
		return err
	}
	return b.flatSelects(ctx, changed, brief)
}

// selects compares reading documents that every tenth revision changes with reading them by key.
func (b *bench) selects(ctx context.Context, k *keyed) error {
	what := fmt.Sprintf("one of %d documents after %d revisions by ", b.wide, k.newest)
	var pairs []compared
	for _, at := range []struct {
		revision int64
		label    string
	}{{k.newest, "head"}, {whole, fmt.Sprintf("revision %d", whole)}} {
		for i, label := range []string{"name", "name and schema"} {
			pairs = append(pairs, compared{
				row: 8, repeats: often, limit: 3, against: k.byKey(ctx), measured: k.filter(ctx, at.revision, i > 0),
				what: what + label + " from " + at.label + ", to one by key",
			})
		}
	}
	pairs = append(pairs, compared{
		row: 8, repeats: often, against: k.byKey(ctx), measured: k.latest(ctx),
		what: what + "name from latest, whose number is read before",
	})
	clients, closeAll, err := k.wires(ctx, 1)
	if err != nil {
		return err
	}
	defer closeAll()
	for _, revision := range []string{"latest", strconv.Itoa(whole)} {
		pairs = append(pairs, compared{
			row: 8, repeats: often, against: k.byKey(ctx), measured: k.request(clients[0], revision),
			what: "the same by GET, name from " + revision,
		})
	}
	return b.compareAll(pairs)
}

// crowded reads from a revision before one in which all documents changed, so that the index has all their versions in
// one node.
func (b *bench) crowded(ctx context.Context, long, _ *wide) error {
	long.many.revise(0, len(long.site.documents)-changing)
	if err := long.many.put(ctx); err != nil {
		return err
	}
	if err := vacuum(ctx, long.db); err != nil {
		return err
	}
	k, err := long.keyed(ctx, long.many.name)
	if err != nil {
		return err
	}
	return b.compare(compared{
		row: 8, repeats: often, limit: 3, against: k.byKey(ctx), measured: k.filter(ctx, whole, false),
		what: fmt.Sprintf("by name from revision %d, before one that changed %d, to one by key", whole, b.wide-changing),
	})
}

// flatSelects compares a long history with a short one.
func (b *bench) flatSelects(ctx context.Context, k *keyed, brief *wide) error {
	short, err := brief.keyed(ctx, brief.few.name)
	if err != nil {
		return err
	}
	var pairs []compared
	for _, at := range []struct {
		long, brief int64
		label       string
	}{{k.newest, brief.newest, "head"}, {whole, whole, fmt.Sprintf("revision %d", whole)}} {
		pairs = append(pairs, compared{
			row: 8, repeats: often, limit: 1.2,
			against: short.filter(ctx, at.brief, false), measured: k.filter(ctx, at.long, false),
			what: fmt.Sprintf("by name from %s, after %d revisions to after %d", at.label, k.newest, brief.newest),
		})
	}
	return b.compareAll(pairs)
}
