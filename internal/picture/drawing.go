package picture

import (
	"context"
	"fmt"
	"strings"

	"github.com/emicklei/dot"

	"purser/internal/budget"
	"purser/internal/rendering"
)

// drawing is a picture that is being drawn.
type drawing struct {
	*rendering.Graph

	link      func(name string) string
	root      *dot.Graph
	tables    []*table
	connected []bool   // by vertex
	home      []*table // by vertex, nil for one without edges
}

// table is a box of the picture: documents of one schema and layer, one below the other.
type table struct {
	column   int // of the layer, see drawing.columns
	indent   int // within the column
	schema   string
	vertices []int
	node     dot.Node
}

// The cost of drawing, in steps of about a nanosecond and in bytes.
const (
	elementCost = 5_000 // to draw a document or an edge
	elementSize = 2_000 // of a node or an edge, until the text is written
	byteCost    = 100   // to write a byte of a text: it is quoted, escaped and copied
)

// Text draws a graph as Graphviz text. link gives the address of a document's own picture, by its name as in a Focus.
// Fault: TooLarge, of a spent budget.
func Text(ctx context.Context, g *rendering.Graph, title string, link func(name string) string) (string, error) {
	m := budget.NewMeter(ctx)
	elements := len(g.Vertices) + len(g.Edges)
	m.Charge(elementCost * elements)
	if err := m.Hold(elementSize * elements); err != nil {
		return "", tooMuch(err, g)
	}
	defer m.Release(elementSize * elements)
	text := draw(g, title, link)
	if len(text) > maxSVG {
		return "", tooLarge("It would have more than %d bytes", maxSVG)
	}
	m.Charge(byteCost * len(text))
	if err := m.Hold(len(text)); err != nil {
		return "", tooMuch(err, g)
	}
	return text, nil
}

// tooMuch adds the part that was being drawn to the fault of a spent budget.
func tooMuch(err error, g *rendering.Graph) error {
	return budget.About(err, "draw %d documents and %d dependencies", len(g.Vertices), len(g.Edges))
}

func draw(g *rendering.Graph, title string, link func(name string) string) string {
	d := &drawing{
		Graph: g, link: link, root: dot.NewGraph(dot.Directed).ID("revision"), home: make([]*table, len(g.Vertices)),
	}
	d.frame(title)
	d.connect()
	for at, vertices := range d.columns() {
		d.column(at, vertices)
	}
	d.dropEmpty()
	d.indent()
	d.stack()
	d.edges()
	return d.root.String()
}

// manyEdges is the number of edges above which Graphviz searches less long for a good layout.
const manyEdges = 1000

const legend = "Arrows lead to the dependencies of a document: blue to its parent, black to the replaced document, " +
	"thin to the\nsources of substitutions. Dashed: abstract; grey: replaced; red: missing, in doubt, or part of a cycle."

// frame sets the attributes of the whole picture.
func (d *drawing) frame(title string) {
	d.root.Attrs("label", literal(title+"\n"+legend+"\n"), "labelloc", "t", "labeljust", "l", "fontname", font,
		"fontsize", "14", "rankdir", "RL", "newrank", "true", "ranksep", "1.4", "nodesep", "0.02", "bgcolor", "white",
		"tooltip", " ", "pad", "0.3", "outputorder", "edgesfirst")
	if len(d.Edges) > manyEdges {
		d.root.Attrs("nslimit", "0.1", "mclimit", "0.3")
	}
	d.root.NodeInitializer(func(n dot.Node) {
		n.AttributesMap.Attrs("shape", "plain", "fontname", font, "fontsize", "10", "tooltip", " ")
	})
}

// connect determines which vertices have edges.
func (d *drawing) connect() {
	d.connected = make([]bool, len(d.Vertices))
	for _, e := range d.Edges {
		d.connected[e.From], d.connected[e.To] = true, true
	}
}

// columns returns the vertices by cluster, from left to right: documents without a layer, each layer, missing
// documents.
func (d *drawing) columns() [][]int {
	columns := make([][]int, 1+len(d.Layers)+len(d.Unordered)+1)
	for i, v := range d.Vertices {
		at := v.Rank + 1
		if v.Missing != rendering.Present {
			at = len(columns) - 1
		}
		columns[at] = append(columns[at], i)
	}
	return columns
}

// style returns the title and the colour of a column.
func (d *drawing) style(column int) (title, colour string) {
	rank := column - 1
	switch {
	case column == 0:
		return "no layer", plainColour
	case rank < len(d.Layers):
		return "layer " + d.Layers[rank], layerColour
	case rank < len(d.Layers)+len(d.Unordered):
		return "layer " + d.Unordered[rank-len(d.Layers)] + ", which no LayeringPolicy orders", missingColour
	}
	return "missing", missingColour
}

// column draws the documents of a cluster.
func (d *drawing) column(at int, vertices []int) {
	if len(vertices) == 0 {
		return
	}
	title, colour := d.style(at)
	box := d.root.Subgraph(fmt.Sprintf("%06d", at), dot.ClusterOption{})
	box.Attrs("label", literal(title), "fontname", font, "fontsize", "16", "style", "filled,rounded",
		"color", colour, "fillcolor", "#fafbfc", "fontcolor", "#333333", "tooltip", literal(title), "margin", "14")
	tables, alone := d.grouped(at, vertices)
	for _, t := range tables {
		d.place(box, t, d.rows(t.vertices, 1, `cellpadding="2" color="#9aa3ad" bgcolor="white">`))
	}
	if len(alone) > 0 {
		const wide = 3 // documents beside each other
		d.place(box, &table{column: at}, d.rows(alone, wide, fmt.Sprintf(`cellpadding="3" color="#c5cbd3" bgcolor="white">`+
			`<tr><td colspan="%d" align="left"><font color="#666666"><i>without dependencies</i></font></td></tr>`, wide)))
	}
}

// grouped returns a table for each schema, and the documents without dependencies, which are in none of these.
func (d *drawing) grouped(column int, vertices []int) (tables []*table, alone []int) {
	bySchema := map[string]*table{}
	for _, i := range vertices {
		if !d.connected[i] {
			alone = append(alone, i)
			continue
		}
		schema := d.Vertices[i].Schema
		t := bySchema[schema]
		if t == nil {
			t = &table{column: column, schema: schema}
			bySchema[schema] = t
			tables = append(tables, t)
		}
		t.vertices = append(t.vertices, i)
		d.home[i] = t
	}
	return tables, alone
}

// place puts a table into its cluster. Nodes are written in the order of their names.
func (d *drawing) place(box *dot.Graph, t *table, html string) {
	t.node = box.Node(fmt.Sprintf("%06d", len(d.tables))).Attr("label", dot.HTML(html))
	d.tables = append(d.tables, t)
}

// dropEmpty renumbers the columns without empty ones.
func (d *drawing) dropEmpty() {
	last, at := 0, 0
	for _, t := range d.tables { // from left to right
		if t.column > last {
			last, at = t.column, at+1
		}
		if t.column > 0 {
			t.column = at
		}
	}
}

// indent puts tables to the right of those in their column that they depend on. There are few such steps, because edges
// that pass many of them take long to lay out.
func (d *drawing) indent() {
	const steps = 3
	for range steps {
		for _, e := range d.Edges {
			from, to := d.home[e.From], d.home[e.To]
			if from != to && from.column == to.column {
				from.indent = max(from.indent, min(to.indent+1, steps))
			}
		}
	}
}

// stack keeps the columns in order by invisible points between them.
func (d *drawing) stack() {
	last := 0
	for _, t := range d.tables {
		last = max(last, t.column)
	}
	points := make([]dot.Node, last)
	for i := range points {
		points[i] = d.root.Node(fmt.Sprintf("point %06d", i)).
			Attr("shape", "point").Attr("style", "invis").Attr("label", "")
	}
	hidden := func(from, to dot.Node) { d.root.Edge(from, to).Attr("style", "invis") }
	for i := 2; i < len(points); i++ {
		hidden(points[i], points[i-1])
	}
	for _, t := range d.tables {
		if right := max(1, t.column); right < last { // documents without a layer share the first column
			hidden(points[right], t.node)
		}
		if t.column > 1 {
			hidden(t.node, points[t.column-1])
		}
	}
}

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
