package api

import (
	"purser/internal/queries"
	"purser/internal/wire"
)

// schema returns the view of a schema in a list.
func (l links) schema(revision int64, schema queries.Schema) wire.Schema {
	item := wire.Schema{Name: schema.Kind, Source: "builtin", URL: l.revisionURL(revision) + "/schemas/" + schema.Kind}
	item.Docs = item.URL + "/docs"
	if schema.By != nil {
		item.Source, item.Document = "registered", new(versionView(schema.By))
	}
	return item
}
