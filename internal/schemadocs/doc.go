// Package schemadocs documents a DataSchema for people who write documents of its kind, as Markdown and as an HTML page
// (spec/property-groups.md §6).
//
// Drafts and references are interpreted as in checks (jsonschema.Outline). A schema is read as its keywords (schema.go,
// keywords.go). Each schema within another one is a part of it (parts.go). Either the words for the outer one's type
// tell all of a part (words.go), or it has a row with its constraints (rows.go, limits.go). Schemas about named parts,
// and those that references lead to, have a section with a table of rows (section.go, references.go, groups.go). One
// pass fills the table of sections (table.go). A phrase is a list of spans, each with one font (text.go). One template
// for each form writes the table, and only there a schema's text is escaped (markdown.tmpl, html.tmpl).
//
// Invariants:
//
//   - The same page gives the same bytes; nothing is opened or fetched.
//   - Nothing in a schema is markup: descriptions are plain text, and every link leads to a heading of the page.
//   - Any mapping can be documented. Malformed keywords are reported in their place.
//   - Keywords that checks do not read are not shown: those of other drafts, and those that a $ref hides.
//   - A $ref becomes a link and is never expanded, so recursion ends.
//   - A page has at most about maxPage bytes and names the parts that it leaves out. Its work counts in the request's
//     budget.
package schemadocs

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	html "html/template"
	"io"
	"sync"
	"text/template"

	"purser/internal/budget"
	"purser/internal/document"
)

// Page is the input of a page.
type Page struct {
	Name   string // acme/Widget/v1
	Source string // ends "This schema is …": "built in", "registered by document [..] in bucket b, revision n"
	Schema document.Mapping
	// AssertFormats tells that checks compare texts with their formats in all drafts but Draft 4.
	AssertFormats bool
}

// Maximum contents of a page. Sizes are in bytes.
const (
	maxPage    = 2 << 20 // of either form, roughly: the row that was begun is finished
	maxDepth   = 100     // of sections within one another
	maxNesting = 5       // of types: array of array of …
	maxInRow   = 8       // types, or names that are required, in one row
	maxText    = 4000    // of a description
	maxCode    = 300     // of a name, a pattern, a default
	maxValues  = 2000    // of an enumeration, a list of names
	maxPath    = 200     // of the path in a heading
)

//go:embed markdown.tmpl html.tmpl
var files embed.FS

var (
	markdownPage = sync.OnceValue(func() *template.Template {
		return template.Must(template.ParseFS(files, "markdown.tmpl"))
	})
	htmlPage = sync.OnceValue(func() *html.Template { return html.Must(html.ParseFS(files, "html.tmpl")) })
)

// Markdown documents a schema. Tables are as GitHub has them; headings have the anchors that GitHub gives them.
func Markdown(ctx context.Context, p Page) ([]byte, error) {
	return write(ctx, p, maxPage, markdownPage().Execute)
}

// HTML documents a schema as a page of its own: it needs no other resource and runs no script.
func HTML(ctx context.Context, p Page) ([]byte, error) {
	return write(ctx, p, maxPage, htmlPage().Execute)
}

func write(ctx context.Context, page Page, limit int, execute func(io.Writer, any) error) ([]byte, error) {
	t := newTable(budget.NewMeter(ctx), page, limit)
	defer t.meter.Release(t.memory)
	if t.err != nil {
		return nil, budget.About(t.err, "the documentation of %s", tail(t.Title))
	}
	var buf bytes.Buffer
	if err := execute(&buf, t); err != nil {
		return nil, fmt.Errorf("write the documentation of %s: %w", tail(t.Title), err)
	}
	return buf.Bytes(), nil
}
