package web

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"html/template"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"

	"purser/internal/words"
)

// maxDrawing bounds the pictures of graphs that are embedded in their page, in bytes. A larger picture is loaded by the
// page and has no links there.
const maxDrawing = 2 << 20

var errDrawing = errors.New("the picture of a graph is not Graphviz output")

// drawing returns a picture of Graphviz as a part of a page. It is rebuilt from an allowlist: only shapes and
// texts, with the attributes below, and links to the pages of its documents. Nothing else gets through, whatever a
// document is called.
func drawing(picture []byte, label string, link func(focus string) string) (template.HTML, error) {
	var b strings.Builder
	var open []string // end tags of the open elements
	skip := 0         // within an element that is left out
	for from := xml.NewDecoder(bytes.NewReader(picture)); ; {
		token, err := from.Token()
		if errors.Is(err, io.EOF) {
			return template.HTML(b.String()), nil //nolint:gosec // see above
		}
		if err != nil {
			return "", fmt.Errorf("read the picture of a graph: %w", err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			if skip > 0 || t.Name.Local == "title" {
				skip++
				break
			}
			end, err := startTag(&b, t, label, link)
			if err != nil {
				return "", err
			}
			open = append(open, end)
		case xml.EndElement:
			if skip > 0 {
				skip--
				break
			}
			b.WriteString(open[len(open)-1])
			open = open[:len(open)-1]
		case xml.CharData:
			if skip == 0 {
				b.WriteString(template.HTMLEscapeString(words.Printable(string(t))))
			}
		}
	}
}

// startTag writes the start of an element, and returns its end. A link to a document becomes one to its page, and
// another link a group; a tooltip becomes a title.
func startTag(b *strings.Builder, t xml.StartElement, label string, link func(focus string) string) (string, error) {
	name, tooltip := t.Name.Local, ""
	if !slices.Contains([]string{"svg", "g", "a", "path", "polygon", "polyline", "ellipse", "text"}, name) {
		return "", fmt.Errorf("%w: <%s>", errDrawing, name)
	}
	attributes := map[string]string{}
	for _, a := range t.Attr {
		switch {
		case a.Name.Local == "href":
			if focus := focusOf(a.Value); focus != "" {
				attributes["href"] = link(focus)
			}
		case a.Name.Local == "title":
			tooltip = strings.TrimSpace(a.Value)
		case a.Name.Space == "" && isShape(a.Name.Local) && !strings.Contains(a.Value, "url"):
			attributes[a.Name.Local] = a.Value
		}
	}
	switch {
	case name == "svg":
		attributes["id"], attributes["role"], attributes["aria-label"] = "picture", "group", label
	case name == "a" && attributes["href"] == "":
		name = "g"
	}
	b.WriteString("<" + name)
	for _, key := range slices.Sorted(maps.Keys(attributes)) {
		b.WriteString(" " + key + `="` + template.HTMLEscapeString(attributes[key]) + `"`)
	}
	b.WriteString(">")
	if tooltip != "" {
		b.WriteString("<title>" + template.HTMLEscapeString(words.Printable(tooltip)) + "</title>")
	}
	return "</" + name + ">", nil
}

// isShape reports whether an attribute describes a shape.
func isShape(name string) bool {
	switch name {
	case "width", "height", "viewBox", "transform", "points", "d", "x", "y", "cx", "cy", "rx", "ry", "fill",
		"fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "text-anchor", "font-family",
		"font-size", "font-weight", "font-style":
		return true
	}
	return false
}

// focusOf returns the document that a link of a picture names, "" for none.
func focusOf(href string) string {
	at, err := url.Parse(href)
	if err != nil || at.Path != "" || at.Host != "" || at.Scheme != "" {
		return ""
	}
	return at.Query().Get("focus")
}
