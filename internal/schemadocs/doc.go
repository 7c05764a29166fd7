// Package schemadocs documents a DataSchema for people who write documents of its kind, as Markdown and as an HTML
// page.
//
// Drafts and references are interpreted as in checks (jsonschema.Outline). A schema is read as its keywords
// (schema.go). Each schema within another one is a part of it. Either the words for the outer one's type describe the
// whole part (words.go), or it has a row with its constraints (parts.go). Schemas about named parts, and those that
// references lead to, have a section with a table of rows and of property groups (groups.go). One pass fills the table
// of sections (section.go). Its texts are Markdown, in which a schema's text is escaped (text.go). goldmark makes HTML
// of it.
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
	_ "embed"
	"fmt"
	"html"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"

	"purser/internal/budget"
	"purser/internal/document"
)

// Page is the input of a page.
type Page struct {
	Name   string // acme/Widget/v1
	Source string // ends "This schema is …": "built in", "registered by document [..] in bucket b, revision n"
	Schema document.Mapping
	// AssertFormats means that checks compare texts with their formats in all drafts but Draft 4.
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

// Markdown documents a schema. Tables are as GitHub has them; headings have the anchors that GitHub gives them.
func Markdown(ctx context.Context, p Page) ([]byte, error) {
	return write(ctx, p, maxPage, (*table).markdown)
}

// HTML documents a schema as a page of its own: it needs no other resource and runs no script.
func HTML(ctx context.Context, p Page) ([]byte, error) { return write(ctx, p, maxPage, (*table).html) }

func write(ctx context.Context, page Page, limit int, form func(*table) []byte) ([]byte, error) {
	t := newTable(budget.NewMeter(ctx), page, limit)
	defer func() { t.meter.Release(t.memory) }()
	text := form(t)
	if t.err != nil {
		return nil, budget.About(t.err, "the documentation of %s", tail(t.title))
	}
	return text, nil
}

func (t *table) markdown() []byte {
	var b strings.Builder
	for i, s := range t.sections {
		if i > 0 {
			b.WriteByte('\n')
		}
		s.write(&b)
	}
	return []byte(t.linked(b.String()))
}

// toHTML converts Markdown, without any HTML in it.
var toHTML = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
})

// frame is the page around the content.
//
//go:embed frame.html
var frame string

func (t *table) html() []byte {
	const byteSteps, byteMemory = 300, 50 // of Markdown
	text := t.markdown()
	if t.spend(len(text)*byteSteps, len(text)*byteMemory); t.err != nil {
		return nil
	}
	var content bytes.Buffer
	anchors := parser.NewContext(parser.WithIDs(&anchors{t.sections}))
	if err := toHTML().Convert(text, &content, parser.WithContext(anchors)); err != nil {
		t.err = fmt.Errorf("convert Markdown: %w", err)
	}
	return []byte(strings.NewReplacer("{title}", html.EscapeString(t.title), "{content}", content.String()).Replace(frame))
}

// anchors gives the headings of a page their anchors, in order.
type anchors struct{ sections []*section }

// Generate implements parser.IDs.
func (a *anchors) Generate([]byte, ast.NodeKind) []byte {
	next := a.sections[0]
	a.sections = a.sections[1:]
	return []byte(next.anchor)
}

// Put implements parser.IDs.
func (*anchors) Put([]byte) {}
