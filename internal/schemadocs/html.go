package schemadocs

import (
	"bytes"
	_ "embed" // the page's frame
	"fmt"
	"html"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
)

// frame is what is around the content of every page.
//
//go:embed frame.html
var frame string

// HTML documents a schema as a page of its own: it needs no other resource and runs no script.
func HTML(p Page) ([]byte, error) {
	plan := newPlan(p)
	for limit := maxMarkdown; ; limit /= 2 {
		page, err := plan.html(limit)
		if err != nil || len(page) <= maxHTML {
			return page, err
		}
	}
}

func (p *plan) html(limit int) ([]byte, error) {
	md, anchors := p.write(limit)
	var content bytes.Buffer
	convert := goldmark.New(
		goldmark.WithExtensions(extension.NewTable()), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	ids := &headingIDs{anchors: anchors}
	if err := convert.Convert(md, &content, parser.WithContext(parser.NewContext(parser.WithIDs(ids)))); err != nil {
		return nil, fmt.Errorf("make HTML of Markdown: %w", err)
	}
	tables := strings.NewReplacer("<table>", `<div class="table"><table>`, "</table>", "</table></div>")
	return []byte(strings.NewReplacer(
		"{{title}}", html.EscapeString(oneLine(p.page.Name)), "{{content}}", tables.Replace(content.String()),
	).Replace(frame)), nil
}

// headingIDs gives the headings of a page their anchors, in order.
type headingIDs struct{ anchors []string }

// Generate implements parser.IDs.
func (h *headingIDs) Generate([]byte, ast.NodeKind) []byte {
	if len(h.anchors) == 0 {
		return nil
	}
	anchor := h.anchors[0]
	h.anchors = h.anchors[1:]
	return []byte(anchor)
}

// Put implements parser.IDs.
func (h *headingIDs) Put([]byte) {}
