package views

import (
	"purser/internal/queries"
	"purser/internal/wire"
)

// Schema returns the view of a schema in a list.
func (l Links) Schema(revision int64, schema queries.Schema) wire.Schema {
	item := wire.Schema{Name: schema.Kind, Source: "builtin", URL: l.RevisionURL(revision) + "/schemas/" + schema.Kind}
	item.Docs = item.URL + "/docs"
	if schema.By != nil {
		item.Source, item.Document = "registered", new(version(schema.By))
	}
	return item
}
