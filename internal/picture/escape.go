package picture

import (
	"html"
	"strings"

	"purser/internal/words"

	"github.com/emicklei/dot"
)

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
