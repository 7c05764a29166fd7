package picture

import (
	"encoding/xml"
	"errors"
	"io"
	"net/url"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/rendering"
)

// graphOf returns a graph of documents in one layer, each of which depends on the next.
func graphOf(names ...string) *rendering.Graph {
	g := &rendering.Graph{Layers: []string{"site"}}
	for i, name := range names {
		g.Vertices = append(g.Vertices, rendering.Vertex{
			Identity: document.Identity{Schema: "acme/Widget/v1", Layer: "site", Name: name}, ReplacedBy: -1,
		})
		if i > 0 {
			g.Edges = append(g.Edges, rendering.Edge{
				From: i - 1, To: i, Kind: rendering.Substitution, Copies: []rendering.Copied{{From: "." + name, To: []string{"." + name}}},
			})
		}
	}
	return g
}

func link(name string) string { return "?" + url.Values{"focus": {name}, "format": {"svg"}}.Encode() }

func needGraphviz(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("dot"); err != nil {
		t.Skip("Graphviz is missing: apt-get install graphviz")
	}
}

// elements reads SVG: its texts, and the addresses and tooltips of its links.
func elements(t *testing.T, svg []byte) (texts, links, tips []string) {
	t.Helper()
	decoder, inText := xml.NewDecoder(strings.NewReader(string(svg))), false
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return texts, links, tips
		}
		if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			inText = e.Name.Local == "text"
			for _, a := range e.Attr {
				switch a.Name.Local {
				case "href":
					links = append(links, a.Value)
				case "title":
					tips = append(tips, a.Value)
				}
			}
		case xml.CharData:
			if inText {
				texts = append(texts, string(e))
			}
		case xml.EndElement:
			inText = false
		}
	}
}

// Names are inert for Graphviz and for SVG viewers, whatever they contain.
func TestText_hostileNames(t *testing.T) {
	t.Parallel()
	needGraphviz(t)
	names := []string{
		`"`, `\`, `\"`, `a\Nb\\c\l`, `</table>>`, `<b>x</b>`, `&lt;`, `&`, `&#92;`, `'];x[shape=star`, `--> <!--`, `]]>`,
		"<script>alert(1)</script>", `"onload="alert(1)`, `javascript:alert(1)`, "ünïcödé €", `\E\G\T`, `}`, `%3`,
	}
	svg, err := NewLayout(1).SVG(t.Context(), textOf(t, graphOf(names...), `a "title" \N <b>`, link))
	if err != nil {
		t.Fatal(err)
	}
	texts, links, tips := elements(t, svg)
	for _, name := range names {
		if !slices.Contains(texts, name) {
			t.Errorf("%q is not in the picture as it is", name)
		}
		if tip := "[acme/Widget/v1, site] " + name; !slices.Contains(tips, tip) {
			t.Errorf("%q is not a tooltip", tip)
		}
		if address := link("acme/Widget/v1/" + name + "/site"); !slices.Contains(links, address) {
			t.Errorf("%q is not a link", address)
		}
	}
	if !slices.Contains(texts, `a "title" \N <b>`) {
		t.Errorf("the title is not in the picture: %q", texts)
	}
	if strings.Contains(string(svg), "<script") {
		t.Error("a name became an element")
	}
}

func TestText_control(t *testing.T) {
	t.Parallel()
	needGraphviz(t)
	svg, err := NewLayout(1).SVG(t.Context(), textOf(t, graphOf("a\x01\x1b\x7f\u202eb", "one\ntwo", "c"), "t", link))
	if err != nil {
		t.Fatal(err)
	}
	texts, _, _ := elements(t, svg)
	for _, name := range []string{"a⟨U+0001⟩⟨U+001B⟩⟨U+007F⟩⟨U+202E⟩b", "one two"} {
		if !slices.Contains(texts, name) {
			t.Errorf("%q is not in %q", name, texts)
		}
	}
}

func TestText_isTheSame(t *testing.T) {
	t.Parallel()
	names := make([]string, 50)
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	want := textOf(t, graphOf(names...), "t", link)
	for range 10 {
		if diff := cmp.Diff(want, textOf(t, graphOf(names...), "t", link)); diff != "" {
			t.Fatalf("drawn again (-want +got):\n%s", diff)
		}
	}
}

func TestFits(t *testing.T) {
	t.Parallel()
	documents, edges, layers := graphOf(make([]string, maxDocuments+1)...), graphOf("a", "b"), graphOf("a")
	for range maxPassed {
		edges.Edges = append(edges.Edges, rendering.Edge{To: 1})
	}
	for rank := range maxLayers {
		layers.Vertices = append(layers.Vertices, rendering.Vertex{Rank: rank + 1})
	}
	for name, c := range map[string]struct {
		graph *rendering.Graph
		want  string
	}{
		"small":     {graphOf("a", "b"), ""},
		"documents": {documents, "It has 5001 documents and at most 5000 are drawn"},
		"edges":     {edges, "It has 10001 dependencies"},
		"layers":    {layers, "It has 61 layers"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := Fits(c.graph)
			if c.want == "" && err != nil {
				t.Fatal(err)
			}
			if c.want != "" && (fault.KindOf(err) != fault.TooLarge || !strings.Contains(err.Error(), c.want) ||
				!strings.Contains(err.Error(), "focus=")) {
				t.Errorf("got %v, want %q and focus=", err, c.want)
			}
		})
	}
}

// Columns follow each other whichever of them have documents.
func TestText_columns(t *testing.T) {
	t.Parallel()
	const columns = 4 // no layer, two layers, missing
	for has := range 1 << columns {
		g := &rendering.Graph{Layers: []string{"global", "site"}}
		for column := range columns {
			if has&(1<<column) == 0 {
				continue
			}
			v := rendering.Vertex{Identity: document.Identity{Schema: "acme/Widget/v1", Name: "w"}, Rank: column - 1, ReplacedBy: -1}
			if column == columns-1 {
				v.Rank, v.Missing = -1, rendering.MissingSource
			}
			g.Vertices = append(g.Vertices, v)
		}
		if got := strings.Count(textOf(t, g, "t", link), "subgraph"); got != len(g.Vertices) {
			t.Errorf("%04b: %d clusters, want %d", has, got, len(g.Vertices))
		}
	}
}

func textOf(t *testing.T, g *rendering.Graph, title string, link func(name string) string) string {
	t.Helper()
	text, err := Text(t.Context(), g, title, link)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// A graph that is far too large is not drawn.
func TestText_exceeds(t *testing.T) {
	t.Parallel()
	g := &rendering.Graph{Vertices: make([]rendering.Vertex, 200_000)}
	_, err := Text(t.Context(), g, "t", link)
	if fault.KindOf(err) != fault.TooLarge || !strings.Contains(err.Error(), "draw 200000 documents and 0 dependencies: it takes more than") {
		t.Errorf("drawn with %v", err)
	}
}
