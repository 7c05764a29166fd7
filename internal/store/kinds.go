package store

import (
	"cmp"
	"context"
	"strconv"

	"github.com/jackc/pgx/v5"

	"purser/internal/document"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/store/postgres"
	"purser/internal/validations"
)

// Kinds implements queries.Store. It counts live documents that are in memory without reading them.
func (s *Store) Kinds(ctx context.Context, revision int64, cleartext bool) (
	documents map[string]validations.Kind, registered []string, err error,
) {
	if kept, _ := s.live.Get(struct{}{}); kept.revision == revision {
		if same, err := s.site.Has(ctx, revision, kept.stamp); err != nil || same {
			documents, registered = kindsOf(kept.documents, cleartext)
			return documents, registered, err
		}
	}
	return s.readKinds(ctx, revision, cleartext)
}

// kindsOf is readKinds for documents in memory. Most follow others of their schema.
func kindsOf(all []*revisions.Stored, cleartext bool) (kinds map[string]validations.Kind, registered []string) {
	kinds = map[string]validations.Kind{}
	var kind validations.Kind // of the documents before
	for _, doc := range all {
		traits := doc.Traits()
		if traits.Abstract || cleartext && traits.Encrypted {
			continue
		}
		if doc.Schema == validations.DataSchemaKind {
			registered = append(registered, doc.Name)
			continue
		}
		if kind.First.Schema != doc.Schema {
			keepKind(kinds, kind)
			kind = kinds[doc.Schema]
		}
		if kind.Documents++; kind.Documents == 1 ||
			cmp.Or(cmp.Compare(doc.Layer, kind.First.Layer), cmp.Compare(doc.Name, kind.First.Name)) < 0 {
			kind.First = doc.Identity
		}
	}
	keepKind(kinds, kind)
	return kinds, registered
}

func keepKind(kinds map[string]validations.Kind, kind validations.Kind) {
	if kind.Documents > 0 {
		kinds[kind.First.Schema] = kind
	}
}

// readKinds returns the number and the first of the concrete documents of each schema in a revision, and the names of
// its DataSchemas; without encrypted ones if only cleartext is asked for.
func (s *Store) readKinds(ctx context.Context, revision int64, cleartext bool) (
	documents map[string]validations.Kind, registered []string, err error,
) {
	q := &statement{args: []any{s.site.Name, revision}}
	selection := queries.Selection{Abstract: []bool{false}, Cleartext: cleartext, Page: queries.Page{Limit: -1}}
	q.add("SELECT k.stamp, k.schema, k.name, count(*), min(k.identity) FROM (")
	q.selected(revision, selection, "s.stamp, d.schema, CASE WHEN d.schema = '"+validations.DataSchemaKind+
		"' THEN d.name END AS name, ARRAY[coalesce(d.layer, ''), coalesce(d.name, '')] AS identity",
		q.filters(selection), q.order(selection))
	q.add(") k GROUP BY 1, 2, 3")
	var stamp *revisions.Stamp
	documents = map[string]validations.Kind{}
	_, err = postgres.Collect(ctx, s.site.DB, func(row pgx.CollectableRow) (none struct{}, err error) {
		var schema, name *string
		var count int
		var first []string // layer and name
		switch err = row.Scan(&stamp, &schema, &name, &count, &first); {
		case err != nil || schema == nil:
		case name != nil:
			registered = append(registered, *name)
		default:
			id := document.Identity{Schema: *schema, Layer: first[0], Name: first[1]}
			documents[*schema] = validations.Kind{Documents: count, First: id}
		}
		return none, err //nolint:wrapcheck // explained by collect
	}, q.sql.String(), q.args...)
	if err == nil && stamp == nil {
		err = revisions.UnknownRevision(strconv.FormatInt(revision, 10))
	}
	return documents, registered, err
}
