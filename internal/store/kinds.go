package store

import (
	"context"
	"strconv"

	"github.com/jackc/pgx/v5"

	"purser/internal/document"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/store/postgres"
	"purser/internal/validations"
)

// Kinds implements queries.Store.
func (s *Store) Kinds(ctx context.Context, revision int64, cleartext bool) (
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
