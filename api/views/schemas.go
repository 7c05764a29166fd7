package views

import "purser/internal/queries"

// SchemaItem shows where a schema comes from.
type SchemaItem struct {
	Name     string        `json:"name"`
	Source   string        `json:"source"` // builtin or registered
	Document *documentName `json:"document"`
	URL      string        `json:"url"`
	Docs     string        `json:"docs"`
}

// SchemaItem returns the view of a schema in a list.
func (l Links) SchemaItem(revision int64, schema queries.Schema) SchemaItem {
	item := SchemaItem{Name: schema.Kind, Source: "builtin", URL: l.RevisionURL(revision) + "/schemas/" + schema.Kind}
	item.Docs = item.URL + "/docs"
	if schema.By != nil {
		item.Source, item.Document = "registered", new(nameOf(schema.By))
	}
	return item
}
