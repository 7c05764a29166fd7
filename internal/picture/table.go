package picture

import (
	"cmp"
	"fmt"
	"html"
	"slices"
	"strings"

	"github.com/emicklei/dot"

	"purser/internal/rendering"
	"purser/internal/words"
)

// rows returns documents as Graphviz's HTML: a table with so many beside each other, below a header for each schema.
// Each document has a port that edges lead to. attributes are the last ones of the table, and the rows before the
// documents.
func (d *drawing) rows(vertices []int, wide int, attributes string) string {
	slices.SortStableFunc(vertices, func(a, b int) int {
		return cmp.Or(cmp.Compare(d.Vertices[a].Schema, d.Vertices[b].Schema),
			cmp.Compare(d.Vertices[a].Name, d.Vertices[b].Name))
	})
	var b strings.Builder
	// The margin keeps tables apart, so that nodes may stand close together, and bundles of edges between them can.
	b.WriteString(`<table border="0" cellborder="0" cellspacing="0" cellpadding="7"><tr><td>` +
		`<table border="1" cellborder="0" cellspacing="1" ` + attributes)
	for start := 0; start < len(vertices); {
		schema, end := d.Vertices[vertices[start]].Schema, start
		for end < len(vertices) && d.Vertices[vertices[end]].Schema == schema {
			end++
		}
		d.header(&b, schema, wide)
		for row := range slices.Chunk(vertices[start:end], wide) {
			b.WriteString("<tr>")
			for _, i := range row {
				d.cell(&b, i)
			}
			b.WriteString("</tr>")
		}
		start = end
	}
	b.WriteString("</table></td></tr></table>")
	return b.String()
}

// header writes the name of a schema, its kind larger than the rest.
func (*drawing) header(b *strings.Builder, schema string, wide int) {
	before, kind, after := "", schema, ""
	if parts := strings.Split(schema, "/"); len(parts) == 3 {
		before, kind, after = parts[0]+"/", parts[1], "/"+parts[2]
	}
	fmt.Fprintf(b, `<tr><td colspan="%d" align="left" bgcolor="#e6ebf2"><font point-size="8" color="#667788">%s</font>`+
		`<b>%s</b><font point-size="8" color="#667788">%s</font></td></tr>`,
		wide, escape(before), escape(kind), escape(after))
}

// cell writes a document, with a link to its own picture.
func (d *drawing) cell(b *strings.Builder, i int) {
	v := d.Vertices[i]
	look, name := "", escape(brief(v.Name))
	switch {
	case v.Missing == rendering.MissingParent:
		look, name = ` bgcolor="`+missingFill+`"`, `<i>parent with `+escape(brief(selector(v)))+`</i>`
	case v.Missing == rendering.MissingSource:
		look = ` bgcolor="` + missingFill + `"`
	case v.Replaced:
		look, name = ` bgcolor="#dddddd"`, `<font color="#888888">`+name+`</font>`
	}
	if v.Focused {
		look = ` bgcolor="#fff0a8"`
	}
	if v.Replacement {
		name = "<b>" + name + "</b>"
	}
	if v.Abstract {
		look, name = look+` border="1" style="dashed" color="#555555"`, "<i>"+name+"</i>"
	}
	if v.Encrypted {
		name += `<font point-size="8" color="#b06000"> encrypted</font>`
	}
	if address := d.address(v); address != "" {
		look += ` href="` + escapeLink(address) + `" title="` + escape(described(v)) + `"`
	}
	fmt.Fprintf(b, `<td port="%s" align="left"%s>%s</td>`, port(i), look, name)
}

func port(vertex int) string { return fmt.Sprintf("v%d", vertex) }

func (d *drawing) address(v rendering.Vertex) string {
	if v.Name == "" {
		return ""
	}
	name := v.Schema + "/" + v.Name
	if v.Layer != "" {
		name += "/" + v.Layer
	}
	return d.link(name)
}

// named identifies a document as messages do, without the word None for no layer.
func named(v rendering.Vertex) string {
	if v.Layer == "" {
		return "[" + v.Schema + "] " + v.Name
	}
	return v.String()
}

// described returns all that is shown of a document.
func described(v rendering.Vertex) string {
	traits := []string{named(v)}
	for _, trait := range []struct {
		name string
		has  bool
	}{
		{"missing", v.Missing != rendering.Present},
		{"abstract", v.Abstract},
		{"control", v.Control},
		{"replacement", v.Replacement},
		{"replaced", v.Replaced},
		{"encrypted", v.Encrypted},
	} {
		if trait.has {
			traits = append(traits, trait.name)
		}
	}
	return strings.Join(traits, ", ")
}

func selector(v rendering.Vertex) string {
	var pairs []string
	for _, p := range v.Selector {
		pairs = append(pairs, p.Key+": "+p.Value)
	}
	return strings.Join(pairs, ", ")
}

// brief returns as much of a text as there is room for; a tooltip has all of it.
func brief(text string) string { return words.First(text, 60) }

// escape makes a text harmless in HTML and in SVG, which allows no control characters. Graphviz replaces what
// begins with a backslash by parts of the graph, before it reads entities and again behind that.
func escape(text string) string {
	return strings.ReplaceAll(html.EscapeString(words.Line(text)), `\`, "&#92;&#92;")
}

// escapeLink is escape for addresses, which some versions of Graphviz write into SVG as they are.
func escapeLink(address string) string { return escape(html.EscapeString(address)) }

// literal quotes a text of several lines for Graphviz, which takes backslashes and entities in texts for more than they
// are. Lines begin at the left.
func literal(text string) dot.Literal {
	lines := strings.Split(text, "\n")
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "&", "&amp;")
	for i, line := range lines {
		lines[i] = quoted.Replace(words.Printable(line))
	}
	return dot.Literal(`"` + strings.Join(lines, `\l`) + `"`)
}
