package picture

import (
	"fmt"
	"strings"

	"purser/internal/rendering"
)

const (
	font          = "Helvetica"
	plainColour   = "#c5cbd3"
	layerColour   = "#8fa3bd"
	missingColour = "#d03030"
	missingFill   = "#ffc9c9"
)

// colours tell substitutions out of different tables apart.
var colours = [...]string{
	"#4e79a7", "#c26a1d", "#3f8f4f", "#8a5fa8", "#2f9c95", "#a0703c", "#b04a80", "#7a7a2a",
}

// edges draws the dependencies.
func (d *drawing) edges() {
	colour := map[*table]string{}
	for i, t := range d.tables {
		colour[t] = colours[i%len(colours)]
	}
	for _, e := range d.Edges {
		d.edge(e, colour[d.home[e.To]])
	}
}

func (d *drawing) edge(e rendering.Edge, colour string) {
	from, to := d.home[e.From], d.home[e.To]
	fromSide, toSide, constraint := ":w", ":e", true
	switch {
	case from.column < to.column, from.column == to.column && from.indent < to.indent:
		fromSide, toSide, constraint = ":e", ":w", false
	case from.column == to.column && from.indent == to.indent:
		fromSide, toSide, constraint = ":e", ":e", false
	}
	drawn := d.root.EdgeWithPorts(from.node, to.node, port(e.From)+fromSide, port(e.To)+toSide)
	if !constraint {
		drawn.Attr("constraint", "false")
	}
	text := literal(d.tooltip(e))
	drawn.AttributesMap.Attrs("tooltip", text, "edgetooltip", text)
	switch e.Kind {
	case rendering.Parent:
		drawn.AttributesMap.Attrs("color", "#20508c", "penwidth", "1.6", "arrowsize", "0.8", "weight", "4")
	case rendering.Replacement:
		drawn.AttributesMap.Attrs("color", "#111111", "penwidth", "3", "arrowsize", "0.7", "weight", "4")
	case rendering.Substitution:
		drawn.AttributesMap.Attrs("color", colour+"b0", "penwidth", "0.7", "arrowsize", "0.5")
	}
	switch {
	case e.Doubtful:
		drawn.AttributesMap.Attrs("color", missingColour, "style", "dashed")
	case e.Cyclic:
		drawn.AttributesMap.Attrs("color", missingColour, "penwidth", "2.5")
	case d.Vertices[e.To].Missing != rendering.Present:
		drawn.Attr("color", missingColour)
	}
}

// tooltip describes an edge in full.
func (d *drawing) tooltip(e rendering.Edge) string {
	var b strings.Builder
	from, to := named(d.Vertices[e.From]), named(d.Vertices[e.To])
	switch {
	case d.Vertices[e.To].Missing == rendering.MissingParent:
		fmt.Fprintf(&b, "%s: no document for its parentSelector", from)
	case e.Doubtful:
		fmt.Fprintf(&b, "%s: its parentSelector finds %s, which cannot be taken as its parent", from, to)
	default:
		fmt.Fprintf(&b, "%s: %s %s", from, [...]string{"parent", "replacement of", "substitutes from"}[e.Kind], to)
	}
	if d.Vertices[e.To].Missing == rendering.MissingSource {
		b.WriteString(", which is missing")
	}
	if e.Cyclic {
		b.WriteString(", part of a cycle")
	}
	const most = 12
	for i, c := range e.Copies {
		if i == most {
			fmt.Fprintf(&b, "\nand %d more", len(e.Copies)-most)
			break
		}
		fmt.Fprintf(&b, "\n%s → %s", brief(c.From), brief(strings.Join(c.To, ", ")))
	}
	return b.String()
}
