package store

import (
	"cmp"
	"context"
	"strconv"

	"github.com/jackc/pgx/v5"

	"purser/internal/document"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// Kinds implements queries.Store. It counts live documents that are in memory without reading them.
func (s *Store) Kinds(ctx context.Context, revision int64, cleartext bool) (
	documents map[string]validations.Kind, registered []string, err error,
) {
	if kept, _ := s.live.Get(siteKey{s.site}); kept.revision == revision {
		if same, err := s.has(ctx, revision, kept.stamp); err != nil || same {
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
			kinds[kind.First.Schema] = kind
			kind = kinds[doc.Schema]
		}
		kind = plus(kind, 1, doc.Identity)
	}
	kinds[kind.First.Schema] = kind
	delete(kinds, "") // the one before the first
	return kinds, registered
}

// plus returns a kind with further documents, given the first of them. They are counted up to maxCounted.
func plus(kind validations.Kind, documents int, first document.Identity) validations.Kind {
	if kind.Documents == 0 ||
		cmp.Or(cmp.Compare(first.Layer, kind.First.Layer), cmp.Compare(first.Name, kind.First.Name)) < 0 {
		kind.First = first
	}
	kind.Documents = min(kind.Documents+documents, maxCounted)
	kind.AtLeast = kind.Documents == maxCounted
	return kind
}

// maxCounted is the number of documents of a schema up to which they are counted.
const maxCounted = 1000

const (
	// recent is how many revisions may follow one whose documents are looked for among the live ones.
	recent = 1000
	// maxKinds is the number of schemas up to which looking each one up is faster than reading all documents.
	maxKinds = 10000

	identity     = `ARRAY[d.layer, d.name] AS identity`
	ofDataSchema = `CASE WHEN d.schema = '` + validations.DataSchemaKind + `' THEN d.name END AS name`
)

// readKinds counts the concrete documents of each schema in a revision, with the first of them, and returns the names
// of its DataSchemas; without encrypted ones if only cleartext is asked for. For a recent revision, it reads a bounded
// number of documents of each schema.
func (s *Store) readKinds(ctx context.Context, revision int64, cleartext bool) (
	documents map[string]validations.Kind, registered []string, err error,
) {
	head, err := s.Latest(ctx)
	if err != nil {
		return nil, nil, err
	}
	found := foundKinds{rows: maxKinds}
	if head-revision <= recent {
		before, after := ancestors(revision)
		found, err = s.collectKinds(ctx, stmt.RecentKinds, named{
			"site": s.site, "revision": revision, "cleartext": cleartext, "most_kinds": maxKinds, "most_documents": maxCounted,
			"before": before, "after": after,
		})
	}
	if err == nil && found.rows >= maxKinds {
		q := allKinds(s.site, revision, cleartext)
		found, err = s.collectKinds(ctx, q.sql.String(), q.args...)
	}
	if err == nil && found.stamp == nil {
		err = revisions.UnknownRevision(strconv.FormatInt(revision, 10))
	}
	return found.documents, found.registered, err
}

// allKinds returns a statement like recentKinds that reads all documents of a revision.
func allKinds(site string, revision int64, cleartext bool) *statement {
	q := &statement{args: []any{site, revision}}
	selection := queries.Selection{Abstract: []bool{false}, Cleartext: cleartext, Page: queries.Page{Limit: -1}}
	q.add("SELECT k.stamp, k.schema, k.name, count(*), min(k.identity) FROM (")
	q.selected(revision, selection, "s.stamp, d.schema, "+ofDataSchema+", "+identity, q.filters(selection),
		q.order(selection))
	q.add(") k GROUP BY 1, 2, 3")
	return q
}

// foundKinds are the rows of recentKinds or allKinds.
type foundKinds struct {
	rows       int
	stamp      *revisions.Stamp
	documents  map[string]validations.Kind
	registered []string
}

func (s *Store) collectKinds(ctx context.Context, sql string, args ...any) (found foundKinds, err error) {
	found.documents = map[string]validations.Kind{}
	_, err = collect(ctx, s.Database, func(row pgx.CollectableRow) (none struct{}, err error) {
		var schema, name *string
		var count int
		var first []*string // layer and name; null if there is no document
		if err = row.Scan(&found.stamp, &schema, &name, &count, &first); err != nil || schema == nil {
			return none, err
		}
		switch found.rows++; {
		case name != nil:
			found.registered = append(found.registered, *name)
		case count > 0:
			id := document.Identity{Schema: *schema, Layer: *first[0], Name: *first[1]}
			found.documents[*schema] = plus(found.documents[*schema], count, id)
		}
		return none, nil
	}, sql, args...)
	return found, err
}
