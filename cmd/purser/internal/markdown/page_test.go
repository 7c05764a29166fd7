package markdown

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

func TestCode(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"a":          "`a`",
		"":           "` `",
		"  ":         "` `",
		"a`b":        "``a`b``",
		"``":         "``` `` ```",
		" a":         "`  a `",
		"a\n/close":  "`a /close`",
		"\u202ea\\":  "`⟨U+202E⟩a\\`",
		"</details>": "`</details>`",
		"@all #1":    "`@all #1`",
	} {
		if got := Code(given); got != want {
			t.Errorf("%q: %q, want %q", given, got, want)
		}
	}
}

func TestPath(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"site/w.yaml":      "site/w.yaml",
		"a b/ü)](x)<y>?#%": "a%20b/%C3%BC%29%5D%28x%29%3Cy%3E%3F%23%25",
		"@all":             "%40all",
	} {
		if got := Path(given); got != want {
			t.Errorf("%q: %q, want %q", given, got, want)
		}
	}
}

// A page that fits has everything; one that does not is cut at items and lines, and says how many are left out.
func TestPage_Text(t *testing.T) {
	t.Parallel()
	page := Page{Head: "**Failure**\n\n", All: "`all.md` has them", Sections: []Section{
		{Title: "Findings: 3", Noun: "finding", Items: []Item{{Line: "one"}, {Line: strings.Repeat("two ", 60)}, {Line: "three"}}},
		{Title: "none", Folded: true},
		{Title: "Changes", Folded: true, Noun: "document", Items: []Item{
			{Line: "`a`", Diff: "@@ -1 +1,200 @@\n" + strings.Repeat("+`\n", 200)}, {Line: "`b`", Diff: "+b\n"},
		}, Note: "3 more"},
	}}
	want := "**Failure**\n\n**Findings: 3**\n\n- one\n- " + strings.Repeat("two ", 60) + "\n- three\n\n" +
		"<details><summary>Changes</summary>\n\n`a`\n\n```diff\n@@ -1 +1,200 @@\n" + strings.Repeat("+`\n", 200) +
		"```\n\n`b`\n\n```diff\n+b\n```\n\n\n3 more\n\n</details>\n\n"
	if diff := cmp.Diff(want, page.Text(0)); diff != "" {
		t.Errorf("whole (-want +got):\n%s", diff)
	}
	if got := page.Text(size(want)); got != want {
		t.Errorf("a page that fits exactly is cut:\n%s", got)
	}
	want = "**Failure**\n\n**Findings: 3**\n\n- one\n- three\n\n1 more finding left out here: `all.md` has them\n\n" +
		"<details><summary>Changes</summary>\n\n`a`\n\n```diff\n@@ -1 +1,200 @@\n+`\n+`\n```\n\n199 lines of it left out here\n\n" +
		"\n1 more document left out here: `all.md` has them\n\n3 more\n\n</details>\n\n"
	got := page.Text(400)
	want = strings.Replace(want, "+`\n+`\n", strings.Repeat("+`\n", strings.Count(got, "+`")), 1)
	want = strings.Replace(want, "199 lines", strconv.Itoa(200-strings.Count(got, "+`"))+" lines", 1)
	if diff := cmp.Diff(want, got); diff != "" || size(got) > 400 || size(got) < 380 {
		t.Errorf("%d characters (-want +got):\n%s", size(got), diff)
	}
}

// A diff whose lines are others' cannot end its block, and no line of it begins as a quick action.
func TestPage_names(t *testing.T) {
	t.Parallel()
	page := Page{Sections: []Section{{Title: "t", Noun: "document", Items: []Item{{Line: "x", Diff: "+++ a\n```\n/close\n+````"}}}}}
	want := "**t**\n\nx\n\n`````diff\n+++ a\n ```\n /close\n+````\n`````\n\n\n"
	if diff := cmp.Diff(want, page.Text(0)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// pageOf returns a page with a text of others at all places where one may stand.
func pageOf(foreign string) Page {
	item := Item{Line: "**error** " + Link(foreign, "https://git.example/"+Path(foreign)) + " " + Code(foreign)}
	block := Item{Line: "changed " + Code(foreign) + ":", Diff: foreign}
	return Page{Head: "**Failure**: " + Code(foreign) + "\n\n", All: Code("f") + " has them", Sections: []Section{
		{Title: "Findings", Noun: "finding", Items: []Item{item, item}, Note: "more"},
		{Title: "Changes", Folded: true, Noun: "document", Items: []Item{block, item, block}},
	}}
}

var (
	parser    = goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser()
	safeURL   = regexp.MustCompile(`^https://git\.example/[A-Za-z0-9%/._~-]*$`)
	beginning = regexp.MustCompile(`^([*\-<` + "`" + ` +@a-z0-9]|$)`) // of a line; none is a quick action or front matter
)

// structure returns what a page is made of, without the texts in code spans, code blocks and URLs.
func structure(t testing.TB, page string) string {
	t.Helper()
	source, b := []byte(page), strings.Builder{}
	_ = ast.Walk(parser.Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			b.WriteString(")")
			return ast.WalkContinue, nil
		}
		b.WriteString(n.Kind().String() + "(")
		switch n := n.(type) {
		case *ast.CodeSpan, *ast.FencedCodeBlock:
			b.WriteString(")")
			return ast.WalkSkipChildren, nil
		case *ast.Link:
			if !safeURL.Match(n.Destination) {
				t.Errorf("URL %q", n.Destination)
			}
		case *ast.Text:
			b.Write(n.Segment.Value(source))
		case *ast.HTMLBlock:
			for i := range n.Lines().Len() {
				line := n.Lines().At(i)
				b.Write(line.Value(source))
			}
		}
		return ast.WalkContinue, nil
	})
	for line := range strings.Lines(page) {
		if !beginning.MatchString(strings.TrimSuffix(line, "\n")) {
			t.Errorf("a line begins as %q", line)
		}
	}
	return b.String()
}

// Whatever the texts of others are, a page is made of the same parts, and a bounded one of no more characters than
// permitted.
func FuzzPage(f *testing.F) {
	for _, seed := range []string{
		"x", "a`b``c", "</details><script>alert(1)</script>", "\n```\n@everyone\n/close\n", "](javascript:x) [a]: b", "|\\|`",
		"```\n</details>\n\n# x\n", "``` ", " `", "\\`", "<!-- ", "- x\n\n    y", "\u202e\u2028\x00\xff", "~~~\n", "&lt;a&gt;",
		strings.Repeat("`\n", 3_000), strings.Repeat("😀", 2_000), strings.Repeat("`", 1_000), "---\na: b\n---\n", "$`a`$",
	} {
		f.Add(seed)
	}
	want := structure(f, pageOf("x").Text(0))
	f.Fuzz(func(t *testing.T, foreign string) {
		if foreign == "" || len(foreign) > 10_000 { // there is no block of differences; or the parser takes long
			t.Skip()
		}
		if diff := cmp.Diff(want, structure(t, pageOf(foreign).Text(0))); diff != "" {
			t.Errorf("what a page is made of (-want +got):\n%s", diff)
		}
		const most = 2_000
		page := pageOf(beginningOf(foreign))
		page.Sections = append(page.Sections, pageOf(foreign).Sections...)
		cut := page.Text(most)
		structure(t, cut)
		if n := size(cut); n > most || utf8.RuneCountInString(cut) > n {
			t.Errorf("%d characters:\n%s", n, cut)
		}
	})
}

// beginningOf returns the beginning of a text, of a size that a head may have.
func beginningOf(foreign string) string {
	return strings.ToValidUTF8(foreign[:min(100, len(foreign))], "")
}
