package schemadocs

import (
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"purser/internal/document"
)

// page reads a schema from YAML.
func page(t testing.TB, schema string) Page {
	t.Helper()
	value, err := document.ParseOne(t.Context(), []byte(schema), document.YAML, document.DefaultLimits())
	if err != nil {
		t.Fatalf("%s: %v", schema, err)
	}
	m, ok := value.(document.Mapping)
	if !ok {
		t.Fatalf("%s: a mapping is expected", schema)
	}
	return Page{Name: "acme/Widget/v1", Source: "built in", Schema: m}
}

// body is the Markdown without the constant beginning of pages.
func body(t testing.TB, schema string) string {
	t.Helper()
	md := markdownOf(t, page(t, schema))
	said, ok := strings.CutPrefix(md, "# acme/Widget/v1\n\nThis schema is built in.\n\n")
	if !ok {
		t.Fatalf("another beginning: %.200s", md)
	}
	return said
}

// rowOf is the line of a property's table that begins with a cell.
func rowOf(t testing.TB, md, cell string) string {
	t.Helper()
	for line := range strings.Lines(md) {
		if strings.HasPrefix(line, "| "+cell+" |") {
			return strings.TrimSuffix(line, "\n")
		}
	}
	t.Fatalf("no row %s in\n%s", cell, md)
	return ""
}

func markdownOf(t testing.TB, p Page) string {
	t.Helper()
	made, err := Markdown(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return string(made)
}

func htmlOf(t testing.TB, p Page) string {
	t.Helper()
	made, err := HTML(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return string(made)
}

var (
	tagPattern  = regexp.MustCompile(`<[^>]*>?`)
	goodPattern = regexp.MustCompile(`^</?(h[1-6]|p|ul|li|table|thead|tbody|tr|th|td|a|code|strong|br|div)` +
		`( (id|href|class)="[^"<>]*")*>$`)
	idPattern   = regexp.MustCompile(`<h[1-6] id="([^"]*)">`)
	hrefPattern = regexp.MustCompile(`href="([^"]*)"`)
)

// checkHTML reports each unknown or unclosed tag, and each broken link.
func checkHTML(t testing.TB, made string) {
	t.Helper()
	_, content, hasBegin := strings.Cut(made, "<main>\n")
	content, _, hasEnd := strings.Cut(content, "</main>\n</body>")
	if !hasBegin || !hasEnd {
		t.Fatalf("the frame is broken: %.500s", made)
	}
	var open []string
	for _, tag := range tagPattern.FindAllString(content, -1) {
		name := goodPattern.FindStringSubmatch(tag)
		switch {
		case name == nil:
			t.Fatalf("another tag: %s", tag)
		case name[1] == "br":
		case tag[1] != '/':
			open = append(open, name[1])
		case len(open) == 0 || open[len(open)-1] != name[1]:
			t.Fatalf("%s closes %v", tag, open)
		default:
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		t.Fatalf("not closed: %v", open)
	}
	checkLinks(t, content)
}

func checkLinks(t testing.TB, content string) {
	t.Helper()
	ids := make(map[string]bool)
	for _, id := range idPattern.FindAllStringSubmatch(content, -1) {
		if ids[id[1]] {
			t.Fatalf("two headings have the anchor %q", id[1])
		}
		ids[id[1]] = true
	}
	for _, href := range hrefPattern.FindAllStringSubmatch(content, -1) {
		anchor, isLocal := strings.CutPrefix(html.UnescapeString(href[1]), "#")
		if decoded, err := url.PathUnescape(anchor); err != nil || !isLocal || !ids[decoded] {
			t.Fatalf("a link leads to %s (%v)", href[1], err)
		}
	}
}

// visibleText returns the texts of all elements of a kind, as a browser shows them.
func visibleText(made, element string) (texts []string) {
	for _, part := range strings.Split(made, "<"+element+">")[1:] {
		text, _, _ := strings.Cut(part, "</"+element+">")
		texts = append(texts, html.UnescapeString(tagPattern.ReplaceAllString(text, "")))
	}
	return texts
}

// Any text is shown as it is, whatever it means in Markdown.
func TestHTML_text(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		s := rapid.StringOf(rapid.OneOf(
			rapid.SampledFrom([]rune("`*_~|\\[](){}<>&#;!:\"'-+=.1) \n\tab/é\x00\x01\x02\x03$^")), rapid.Rune(),
		)).Filter(func(s string) bool { return oneLine(s) != "" }).Draw(r, "text")
		made, err := HTML(t.Context(), Page{Name: "acme/Widget/v1", Source: s, Schema: schemaWith("properties", document.Mapping{
			{Key: s, Value: document.Mapping{{Key: "pattern", Value: s}, {Key: "description", Value: s}, {Key: "type", Value: "string"}}},
		})})
		if err != nil {
			r.Fatal(err)
		}
		want := []string{
			"This schema is " + oneLine(sentence(s)), visible(s), "string", "Optional", "matches " + visible(s), oneLine(s),
		}
		got := slices.Concat(visibleText(string(made), "p")[:1], visibleText(string(made), "td"))
		if diff := cmp.Diff(want, got); diff != "" {
			r.Errorf("%q (-want +got)\n%s", s, diff)
		}
	})
}
