package picture

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"purser/internal/rendering"
)

// rows are the documents of a table as Graphviz's HTML, each with a port that edges lead to.
func (d *draft) rows(t *table) string { return apart(d.list(t)) }

// apart keeps a table away from others: nodes may stand close together, so that bundles of edges between them can.
func apart(table string) string {
	return `<table border="0" cellborder="0" cellspacing="0" cellpadding="7"><tr><td>` + table + `</td></tr></table>`
}

func (d *draft) list(t *table) string {
	var b strings.Builder
	b.WriteString(`<table border="1" cellborder="0" cellspacing="1" cellpadding="2" color="#9aa3ad" bgcolor="white">`)
	d.header(&b, t.schema, 1)
	d.sorted(t.vertices)
	for _, i := range t.vertices {
		b.WriteString("<tr>")
		d.cell(&b, i)
		b.WriteString("</tr>")
	}
	b.WriteString("</table>")
	return b.String()
}

// crowd are documents that nothing connects, several beside each other.
func (d *draft) crowd(vertices []int) string {
	const wide = 3
	d.sorted(vertices)
	var b strings.Builder
	fmt.Fprintf(&b, `<table border="1" cellborder="0" cellspacing="1" cellpadding="3" color="#c5cbd3" bgcolor="white">`+
		`<tr><td colspan="%d" align="left"><font color="#666666"><i>without dependencies</i></font></td></tr>`, wide)
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
	b.WriteString("</table>")
	return apart(b.String())
}

func (d *draft) sorted(vertices []int) {
	slices.SortStableFunc(vertices, func(a, b int) int {
		return cmp.Or(cmp.Compare(d.Vertices[a].Schema, d.Vertices[b].Schema),
			cmp.Compare(d.Vertices[a].Name, d.Vertices[b].Name))
	})
}

// header names a schema, its kind larger than the rest.
func (*draft) header(b *strings.Builder, schema string, wide int) {
	before, kind, after := "", schema, ""
	if parts := strings.Split(schema, "/"); len(parts) == 3 {
		before, kind, after = parts[0]+"/", parts[1], "/"+parts[2]
	}
	fmt.Fprintf(b, `<tr><td colspan="%d" align="left" bgcolor="#e6ebf2"><font point-size="8" color="#667788">%s</font>`+
		`<b>%s</b><font point-size="8" color="#667788">%s</font></td></tr>`,
		wide, escape(before), escape(kind), escape(after))
}

// cell is one document. It leads to the document's own picture.
func (d *draft) cell(b *strings.Builder, i int) {
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

func (d *draft) address(v rendering.Vertex) string {
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

// described says all about a document.
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
