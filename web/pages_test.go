package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"purser/api"
	"purser/internal/words"
)

const hostSchema = `---
schema: deckhand/DataSchema/v1
metadata: {schema: metadata/Control/v1, name: acme/Host/v1}
data: {type: object, properties: {rack: {type: integer, maximum: 40}}}
`

const layers = `---
schema: deckhand/LayeringPolicy/v1
metadata: {schema: metadata/Control/v1, name: layering-policy}
data: {layerOrder: [global, site]}
`

const gate = `---
schema: deckhand/ValidationPolicy/v1
metadata: {schema: metadata/Control/v1, name: gate}
data: {validations: [{name: deckhand-schema-validation}, {name: drydock-validation, expiresAfter: PT2H}]}
`

// broken returns a site whose newest revision may not be deployed: 1 adds the schemas, 2 the hosts, 3 breaks one.
func broken(t *testing.T, changes ...func(*api.Config)) *site {
	t.Helper()
	s := newSite(t, changes...)
	s.put(t, "control", hostSchema, layers, gate)
	s.put(t, "site", host("cmp-1", 2), host("cmp-2", 3))
	s.put(t, "site", host("cmp-1", 2), host("cmp-2", 99))
	return s
}

func host(name string, rack int) string {
	return doc("acme/Host/v1", name, "cleartext", ", labels: {rack: r1}", fmt.Sprintf("{address: 10.0.0.1, rack: %d}", rack))
}

func TestPages(t *testing.T) {
	t.Parallel()
	s := broken(t)
	s.call(t, http.MethodPost, "revisions/2/validations/drydock-validation", "{status: success, validator: {name: drydock, version: '1'}}")
	s.call(t, http.MethodPost, "revisions/2/tags/blessed", "{by: someone}")
	b := s.as(t, "admin")
	const cmp2 = "schema=acme/Host/v1&layer=site&name=cmp-2"
	for target, want := range map[string][]string{
		"/ui/": {
			"✗ Revision 3 may not be deployed", "deckhand-schema-validation failed: 1 finding in 1 document.",
			"Correct the documents below", "No result has been posted for drydock-validation.", "Required by the policy gate",
			"99 is greater than the maximum of 40", "Compare with revision 2, the newest that may be deployed",
			"site 2 3", "Ada", "99 is greater than the maximum of 40 · value 99",
		},
		"/ui/revisions":                                  {"blessed", "3 ✗ failure", "2 ✓ success", "1 document changed", "2 documents added"},
		"/ui/revisions?tag=blessed":                      {"2 ✓ success"},
		"/ui/revisions/3":                                {"changed acme/Host/v1 cmp-2", "1 document", "What is wrong"},
		"/ui/revisions/2":                                {"✓ Revision 2 may be deployed", "blessed", `{"by":"someone"}`, "added acme/Host/v1 cmp-1", "drydock-validation ✓ success gate", "Ada"},
		"/ui/revisions/1":                                {"Changes since revision 0", "added deckhand/ValidationPolicy/v1 gate"},
		"/ui/revisions/latest":                           {"Revision 3"},
		"/ui/revisions/tag:blessed":                      {"Revision 2"},
		"/ui/revisions/9":                                {"There is no revision 9 The newest is revision 3 ."},
		"/ui/revisions/9/graph":                          {"There is no revision 9 The newest is revision 3 ."},
		"/ui/revisions/tag:none":                         {"Not found"},
		"/ui/compare?from=2&to=9":                        {"There is no revision 9 The newest is revision 3 ."},
		"/ui/search?revision=9":                          {"There is no revision 9 The newest is revision 3 ."},
		"/ui/nothing":                                    {"No page exists at /ui/nothing"},
		"/ui/compare":                                    {"Compare revisions"},
		"/ui/compare?from=2&to=3":                        {"From revision 2 to revision 3", "− rack: 3", "+ rack: 99", "1 document"},
		"/ui/compare?from=0&to=3":                        {"From revision 0 to revision 3", "added"},
		"/ui/compare?from=2&view=split":                  {"rack: 3", "rack: 99"},
		"/ui/compare?from=nine":                          {"nine"},
		"/ui/search":                                     {"cmp-1", "gate", "rack=r1", "In revision 3"},
		"/ui/search?q=99":                                {"cmp-2"},
		"/ui/search?label=rack%3Dr2":                     {"No document matches"},
		"/ui/search?revision=1":                          {"In revision 1"},
		"/ui/audit":                                      {"pushed bucket site; 1 document changed PUT /api/v1.0/buckets/site/documents", "Ada", "200"},
		"/ui/audit?since=yesterday":                      {"such as 2026-01-31T12:00:00Z"},
		"/ui/revisions/3/schemas":                        {"acme/Host/v1 registered by a document of bucket control", "deckhand/Passphrase/v1 built in"},
		"/ui/revisions/3/schemas/acme/Host/v1":           {"acme/Host/v1", "rack"},
		"/ui/revisions/3/graph":                          {"How documents depend on each other", "cmp-2"},
		"/ui/revisions/3/graph?focus=nothing":            {"nothing", "Name a document"},
		"/ui/revisions/2/validations/drydock-validation": {"drydock", "✓ success", "by drydock 1", "expires in 2 hours"},
		"/ui/revisions/3/validations/deckhand-schema-validation": {"✗ failure", "acme/Host/v1 cmp-2 layer site · 1 finding", "1 finding in 1 document"},
		"/ui/revisions/3/document?" + cmp2:                       {"rack: 99", "1 finding, marked in the text", "error .data.rack 99 is greater"},
		"/ui/revisions/2/document?" + cmp2:                       {"rack: 3"},
		"/ui/revisions/3/document?as=rendered&" + cmp2:           {"cannot be rendered: The provided documents failed schema validation. [acme/Host/v1, site] cmp-2: 99 is greater"},
		"/ui/revisions/2/document?as=rendered&" + cmp2:           {"rack: 3"},
		"/ui/revisions/3/document?as=explained&" + cmp2:          {".rack", "99", "cmp-2 layer site"},
		"/ui/revisions/3/document?as=history&" + cmp2:            {"Revision 3 : changed", "Revision 2 : added", "− rack: 3"},
		"/ui/revisions/3/document?as=graph&" + cmp2:              {"Depends on"},
		"/ui/revisions/1/document?" + cmp2:                       {"Not found", "no document [acme/Host/v1, site] cmp-2"},
		"/ui/revisions/9/document?" + cmp2:                       {"There is no revision 9 The newest is revision 3 ."},
		"/ui/revisions/3/document":                               {"names no document"},
	} {
		page := b.get(t, target)
		page.shows(t, want...)
		wellFormed(t, target, page)
	}
}

// TestPages_rendered compares a rendered document between revisions; the third cannot be rendered.
func TestPages_rendered(t *testing.T) {
	t.Parallel()
	s := broken(t, anonymous)
	s.put(t, "site", host("cmp-1", 2), host("cmp-2", 4))
	b := s.browser(t)
	for revision, want := range map[string][]string{
		"4": {"from revision 2 to revision 4", "− rack: 3", "+ rack: 4"},
		"2": {"It is the same in both"},
		"3": {"cannot be rendered", "99 is greater"},
	} {
		target := "/ui/revisions/" + revision + "/document?as=rendered&from=2&schema=acme/Host/v1&layer=site&name=cmp-2"
		page := b.get(t, target).is(t, http.StatusOK)
		page.shows(t, want...)
		wellFormed(t, target, page)
		if strings.Contains(page.text, "id: ") {
			t.Errorf("the number of the document is among the differences:\n%s", page.visible(t))
		}
	}
}

// TestPages_compare compares submitted documents, including parents, and rendered documents that their parents change.
func TestPages_compare(t *testing.T) {
	t.Parallel()
	for _, compat := range []bool{false, true} {
		s := newSite(t, anonymous, func(config *api.Config) { config.Compat = compat })
		s.put(t, "control", layers)
		for rack := range 2 {
			s.put(t, "site", fmt.Sprintf(`---
schema: acme/Host/v1
metadata: {schema: metadata/Document/v1, name: base, storagePolicy: cleartext, labels: {a: b}, layeringDefinition: {abstract: true, layer: global}}
data: {rack: %d}
`, rack), `---
schema: acme/Host/v1
metadata: {schema: metadata/Document/v1, name: child, storagePolicy: cleartext, layeringDefinition: {abstract: false, layer: site, parentSelector: {a: b}, actions: [{method: merge, path: .}]}}
data: {address: 10.0.0.1}
`)
		}
		b := s.browser(t)
		b.get(t, "/ui/revisions/3/document?as=rendered&from=2&schema=acme/Host/v1&layer=global&name=base").shows(t, "are not rendered")
		b.get(t, "/ui/revisions/3").shows(t, "What was submitted differs in 1 document", "changed acme/Host/v1 base")
		for target, c := range map[string]struct {
			shown []string
			other string
			link  string
		}{
			"/ui/compare?from=2&to=3": {
				[]string{"This compares what was submitted", "changed acme/Host/v1 base", "+ rack: 1"},
				"child",
				"/ui/compare?from=2&rendered=true&to=3&view=unified",
			},
			"/ui/compare?from=2&to=3&rendered=true&view=split": {
				[]string{"This compares the rendered documents", "changed acme/Host/v1 child", "rack: 1"},
				"base",
				"/ui/compare?from=2&rendered=false&to=3&view=split",
			},
			"/ui/compare?from=0&to=1": {
				[]string{"1 document added deckhand/LayeringPolicy/v1 layering-policy +12 −0"}, "No line of it differs", "/ui/",
			},
			"/ui/compare?from=1&to=2&rendered=true": {[]string{"added acme/Host/v1 child"}, "base", "/ui/"},
		} {
			page := b.get(t, target).is(t, http.StatusOK)
			page.shows(t, c.shown...)
			wellFormed(t, target, page)
			if strings.Contains(page.visible(t), c.other) {
				t.Errorf("%s shows %s", target, c.other)
			}
			if links := page.links(t, target); !slices.Contains(links, c.link) {
				t.Errorf("%s has no link %s: %q", target, c.link, links)
			}
		}
	}
}

// A comparison that fails says why for both revisions, each by its number, and once what is wrong with neither alone.
func TestPages_neitherCompares(t *testing.T) {
	t.Parallel()
	s := newSite(t, anonymous)
	taking := func(source string) string {
		return doc("acme/Host/v1", "cmp-2", "cleartext", ", substitutions: [{src: {schema: acme/Host/v1, name: "+source+
			", path: .a}, dest: {path: .b}}]", "{}")
	}
	s.put(t, "control", hostSchema, layers)
	s.put(t, "site", host("cmp-1", 2), host("cmp-2", 3))
	s.put(t, "site", host("cmp-1", 2), taking("none"))
	s.put(t, "site", host("cmp-1", 2), taking("nothing"))
	b := s.browser(t)
	const refused = "The documents of revision %d cannot be rendered: "
	third, fourth := fmt.Sprintf(refused, 3), fmt.Sprintf(refused, 4)
	const rendered = "/document?as=rendered&schema=acme/Host/v1&layer=site&name=cmp-2&from="
	for target, want := range map[string][]string{
		"/ui/compare?from=3&to=4&rendered=true": {third, "v1] none was", fourth, "v1] nothing was", "Compare what was submitted"},
		"/ui/compare?from=2&to=4&rendered=true": {fourth},
		"/ui/compare?from=3&to=2&rendered=true": {third},
		"/ui/compare?from=0&to=3&rendered=true": {third},
		"/ui/compare?from=0&to=1&rendered=true": {"2 documents"},
		"/ui/compare?from=8&to=9":               {"There is no revision 8 There is no revision 9 The newest is revision 4 ."},
		"/ui/compare?from=8&to=8":               {"There is no revision 8 The newest is revision 4 ."},
		"/ui/compare?from=8&to=4&rendered=true": {"There is no revision 8 The newest is revision 4 ."},
		"/ui/revisions/4" + rendered + "3":      {third, fourth},
		"/ui/revisions/2" + rendered + "3":      {third},
		"/ui/revisions/4" + rendered + "2":      {fourth},
		"/ui/revisions/4" + rendered + "9":      {fourth, "revision=9"},
	} {
		page := b.get(t, target).is(t, http.StatusOK)
		page.shows(t, want...)
		wellFormed(t, target, page)
		if got := strings.Count(page.visible(t), "cannot be rendered"); got != strings.Count(strings.Join(want, ""), "cannot be rendered") {
			t.Errorf("%s: %d refusals:\n%s", target, got, page.visible(t))
		}
	}
}

// TestPages_unordered reads the pages of a site without a LayeringPolicy, whose documents cannot be rendered.
func TestPages_unordered(t *testing.T) {
	t.Parallel()
	for _, compat := range []bool{false, true} {
		s := newSite(t, anonymous, func(config *api.Config) { config.Compat = compat })
		s.put(t, "site", host("cmp-1", 2))
		b := s.browser(t)
		b.get(t, "/ui/").is(t, http.StatusOK).shows(t, "Revision 1")
		b.get(t, "/ui/revisions/1").is(t, http.StatusOK).shows(t, "Revision 1", "submitted differs in 1 document", "added acme/Host/v1 cmp-1")
		const once = "Required LayeringPolicy was not found"
		page := b.get(t, "/ui/compare?from=0&to=1&rendered=true").is(t, http.StatusOK)
		page.shows(t, once, "Compare what was submitted , which need not be rendered")
		if text := page.visible(t); strings.Contains(text, once+" for layering "+once) {
			t.Errorf("a refusal is repeated:\n%s", text)
		}
		s.put(t, "other", host("cmp-2", 2))
		b.get(t, "/ui/revisions/2").is(t, http.StatusOK).shows(t, "Show the differences added acme/Host/v1 cmp-2 layer site · bucket other Validations")
		b.get(t, "/ui/compare?from=0&to=1").is(t, http.StatusOK).shows(t, "+ rack: 2")
		for _, as := range []string{"written", "rendered", "explained", "history", "graph"} {
			b.get(t, "/ui/revisions/1/document?schema=acme/Host/v1&layer=site&name=cmp-1&as="+as).is(t, http.StatusOK)
		}
	}
}

func TestPages_empty(t *testing.T) {
	t.Parallel()
	b := newSite(t, anonymous).browser(t)
	b.get(t, "/ui/").is(t, http.StatusOK).shows(t, "There is no revision yet")
	b.get(t, "/ui/search").is(t, http.StatusOK).shows(t, "There is no revision yet")
	b.get(t, "/ui/revisions").is(t, http.StatusOK).shows(t, "There are none")
	for _, name := range []string{"latest", "1", "1/graph.svg", "latest/graph", "tag:x"} {
		page := b.get(t, "/ui/revisions/"+name).is(t, http.StatusNotFound)
		page.shows(t, "There is no revision yet", "Put documents into a bucket", "curl -X PUT")
		wellFormed(t, name, page)
	}
	b.get(t, "/ui/compare?from=1").is(t, http.StatusOK).shows(t, "There is no revision yet", "curl -X PUT")
}

// The page of a document has the number of all of its findings, and says how many it leaves out. That of another says
// that it may have some, if not all of a thousand rendered documents are known.
func TestPages_manyFindings(t *testing.T) {
	t.Parallel()
	s := newSite(t, anonymous)
	hosts := []string{host("right", 1)}
	s.put(t, "control", layers, hostSchema, strings.ReplaceAll(gate, "drydock-validation", "deckhand-rendering-validation"))
	s.put(t, "site", hosts...)
	const page, about = "document?schema=acme/Host/v1&layer=site&name=right", `{schema: acme/Host/v1, layer: site, name: right}`
	var errs []string
	for i := range 250 {
		errs = append(errs, fmt.Sprintf(`{message: wrong %d, documents: [%s]}`, i, about))
	}
	b := s.browser(t)
	if got := b.get(t, "/ui/revisions/2/"+page).is(t, http.StatusOK); strings.Contains(got.text, "finding") {
		t.Errorf("a document without findings has some:\n%s", got.text)
	}
	s.call(t, http.MethodPost, "revisions/2/validations/other", "{status: failure, validator: {name: o, version: '1'}, errors: ["+strings.Join(errs, ", ")+"]}")
	b.get(t, "/ui/revisions/2/"+page).is(t, http.StatusOK).shows(t, "250 findings", "50 more findings not shown here")
	for i := range 1001 {
		hosts = append(hosts, host(fmt.Sprint("wrong", i), 99))
	}
	s.put(t, "site", hosts...)
	b.get(t, "/ui/revisions/3/"+page).is(t, http.StatusOK).shows(t, "There may be findings, which were not examined")
}

// The marked line is that of the finding.
func TestPages_marked(t *testing.T) {
	t.Parallel()
	b := broken(t, anonymous).browser(t)
	page := b.get(t, "/ui/revisions/3/document?schema=acme/Host/v1&layer=site&name=cmp-2&path=.data.rack").is(t, http.StatusOK)
	var marked []string
	for n := range page.tree(t).Descendants() {
		if id, _ := attr(n, "id"); id == "marked" {
			marked = append(marked, n.FirstChild.FirstChild.Data)
		}
	}
	if len(marked) != 1 || marked[0] != "data: {address: 10.0.0.1, rack: 99}" {
		t.Errorf("marked lines: %q", marked)
	}
}

func TestPages_compat(t *testing.T) {
	t.Parallel()
	s := broken(t, anonymous, func(config *api.Config) { config.Compat = true })
	s.browser(t).crawl(t, 60, func(target string, page answer) {
		if page.StatusCode >= http.StatusInternalServerError {
			t.Errorf("%s: status %d\n%s", target, page.StatusCode, page.text)
		}
	})
}

// Lists have pages even if the API's own lists have none.
func TestPages_compatPages(t *testing.T) {
	t.Parallel()
	s := newSite(t, anonymous, func(config *api.Config) { config.Compat = true })
	var hosts []string
	for i := range 120 {
		hosts = append(hosts, host(fmt.Sprintf("cmp-%03d", i), 1))
	}
	s.put(t, "control", hostSchema, layers)
	for i := range 60 {
		hosts[0] = host("cmp-000", i%40)
		s.put(t, "site", hosts...)
	}
	b := s.browser(t)
	b.get(t, "/ui/search?offset=100&schema=acme").shows(t, "cmp-100", "cmp-119", "101 to 120")
	b.get(t, "/ui/search?q=cmp").shows(t, "does not search texts")
	b.get(t, "/ui/revisions").shows(t, "61", "12", "1 to 50", "After these")
	b.get(t, "/ui/revisions?offset=50").shows(t, "51 to 61", "Before these")
	before := s.calls.made
	b.get(t, "/ui/").is(t, http.StatusOK).shows(t, "61 ✓ success", "52 ✓ success")
	if calls := s.calls.made - before; calls > 30 {
		t.Errorf("the overview asks the API %d times", calls)
	}
}

// On a site with hostile content, each link leads to a page, and no content of documents becomes markup.
func TestPages_crawl(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "control", hostSchema, layers)
	names := []string{
		"\x1b[31m\a\u0085\u2028\u2066\u200f", strings.Repeat("\u202ea", 126), `<script src=x>evil()</script>`, `javascript:evil()`, `]]><x-evil onload="evil()">`, `"><x-evil>`, `' onclick='evil()`,
		"right\u202eto left", "zero\u200bwidth", "../../sign-out", `%2e%2e/?a=b#c&d`, "{{.}}", "a/b c", "<!--",
	}
	var documents []string
	for _, name := range names {
		value := quoted(name)
		documents = append(documents, doc("acme/Host/v1", name, "cleartext", ", labels: {"+value+": "+value+"}",
			`{`+value+`: `+value+`, rack: `+value+`}`))
	}
	var required []string
	for _, name := range names[:8] {
		required = append(required, "{name: "+quoted(name)+"}")
		s.put(t, name, doc("acme/Thing/v1", "in "+name, "cleartext", "", "{a: "+quoted(name)+"}"))
		s.call(t, http.MethodPost, "revisions/latest/tags/"+url.PathEscape(name), "{v: "+quoted(name)+"}")
		s.call(t, http.MethodPost, "revisions/latest/validations/"+url.PathEscape(name),
			"{status: failure, validator: {name: v, version: '1'}, errors: [{message: "+quoted(name)+"}]}")
	}
	s.put(t, "policies", doc("deckhand/ValidationPolicy/v1", "required", "cleartext", "", "{validations: ["+strings.Join(required, ", ")+"]}"))
	s.put(t, "site?message="+url.QueryEscape(names[0]), documents...)
	for i, source := range []string{
		`https://git.example/8f2c41d/"onclick="evil()`, `https://git.example/8f2c41d?'><script>evil()</script>`,
		`git+https://git.example/8f2c41d/"><x-evil>`,
	} {
		s.call(t, http.MethodPut, "buckets/from/documents", doc("acme/Thing/v1", "from", "cleartext", "", strconv.Itoa(i)),
			"X-Purser-Source", source)
	}
	b := s.as(t, "admin")
	kinds := map[string]int{}
	seen := b.crawl(t, 300, func(target string, page answer) {
		if page.StatusCode != http.StatusOK {
			t.Errorf("%s: status %d\n%s", target, page.StatusCode, page.visible(t))
		}
		if strings.HasPrefix(page.Header.Get("Content-Type"), "text/html") {
			wellFormed(t, target, page)
		}
		kinds[page.Header.Get("Content-Type")]++
	})
	if len(seen) < 200 || kinds["image/svg+xml"] == 0 {
		t.Errorf("only %d links were found, %v", len(seen), kinds)
	}
}

// wellFormed checks rules for all pages: no inline scripts or styles, no markup from documents, names for
// all fields, one heading of the first level, no id twice, and a bounded size.
func wellFormed(t *testing.T, target string, page answer) {
	t.Helper()
	const most = 150 << 10
	size := len(page.text)
	if before, picture, ok := strings.Cut(page.text, "<svg"); ok { // of a graph
		_, after, _ := strings.Cut(picture, "</svg>")
		size = len(before) + len(after)
	}
	if size > most {
		t.Errorf("%s: %d bytes", target, size)
	}
	if strings.Contains(page.text, "ZgotmplZ") {
		t.Errorf("%s: html/template refused a value", target)
	}
	ids, headings, labelled := map[string]bool{}, 0, map[*html.Node]bool{}
	tree := page.tree(t)
	for n := range tree.Descendants() {
		if n.Data != words.Printable(n.Data) {
			t.Errorf("%s: a text is not printable: %q", target, n.Data)
		}
		if n.Type != html.ElementNode {
			if n.Type == html.CommentNode {
				t.Errorf("%s: a comment: %q", target, n.Data)
			}
			continue
		}
		for _, a := range n.Attr {
			if a.Val != words.Printable(a.Val) {
				t.Errorf("%s: <%s %s=%q> is not printable", target, n.Data, a.Key, a.Val)
			}
			if strings.HasPrefix(a.Key, "on") || a.Key == "style" || strings.HasPrefix(strings.TrimSpace(strings.ToLower(a.Val)), "javascript:") && (a.Key == "href" || a.Key == "src" || a.Key == "action") {
				t.Errorf("%s: <%s %s=%q>", target, n.Data, a.Key, a.Val)
			}
			if a.Key == "id" {
				if ids[a.Val] {
					t.Errorf("%s: two elements have the id %q", target, a.Val)
				}
				ids[a.Val] = true
			}
		}
		switch n.Data {
		case "h1", "h2", "h3":
			if n.Data == "h1" {
				headings++
			}
			hasText := false
			for below := range n.Descendants() {
				hasText = hasText || below.Type == html.TextNode && strings.TrimSpace(below.Data) != ""
			}
			if !hasText {
				t.Errorf("%s: an empty heading", target)
			}
		case "script":
			if src, _ := attr(n, "src"); !strings.HasPrefix(src, "/ui/static/app.js?v=") || n.FirstChild != nil {
				t.Errorf("%s: a script: %q", target, src)
			}
		case "title":
			if n.Parent.Data != "head" && (n.Namespace != "svg" || n.FirstChild != n.LastChild) {
				t.Errorf("%s: a title within <%s>", target, n.Parent.Data)
			}
		case "foreignObject", "use", "image", "style", "iframe", "object", "embed", "base", "x-evil":
			t.Errorf("%s: <%s>", target, n.Data)
		case "label":
			for below := range n.Descendants() {
				labelled[below] = true
			}
		case "img":
			if _, ok := attr(n, "alt"); !ok {
				t.Errorf("%s: a picture without alt", target)
			}
		case "input", "select", "textarea":
			if kind, _ := attr(n, "type"); kind != "hidden" && !labelled[n] {
				t.Errorf("%s: a field without label: %v", target, n.Attr)
			}
		}
	}
	if headings != 1 {
		t.Errorf("%s: %d headings of the first level", target, headings)
	}
	for n := range tree.Descendants() {
		if of, ok := attr(n, "aria-labelledby"); ok && !ids[of] {
			t.Errorf("%s: aria-labelledby names %q, which is nowhere", target, of)
		}
	}
}

// TestPages_secrets reads all pages as a user who may not see encrypted documents: they show neither their values nor
// values taken from them, which the admin sees.
func TestPages_secrets(t *testing.T) {
	t.Parallel()
	const name, value = "hidden-document", "hidden-value"
	s := newSite(t)
	s.put(t, "control", hostSchema, layers)
	s.put(t, "secret", doc("deckhand/Passphrase/v1", name, "encrypted", "", value))
	s.put(t, "site", host("cmp-1", 1), doc("acme/Service/v1", "api", "cleartext",
		", substitutions: [{src: {schema: deckhand/Passphrase/v1, name: "+name+", path: .}, dest: {path: .url, pattern: PASSWORD}}]",
		"{url: 'PASSWORD-taken'}"))
	s.put(t, "secret", doc("deckhand/Passphrase/v1", name, "encrypted", "", value+"2"))
	const document = "/ui/revisions/4/document?layer=site&as=rendered&secrets=shown&"
	admin := s.as(t, "admin")
	admin.get(t, document+"schema=deckhand/Passphrase/v1&name="+name).is(t, http.StatusOK).shows(t, name, value+"2")
	admin.get(t, document+"schema=acme/Service/v1&name=api").is(t, http.StatusOK).shows(t, value+"2-taken")
	var some string
	seen := s.as(t, "reader").crawl(t, 1000, func(target string, page answer) {
		if page.StatusCode >= http.StatusInternalServerError {
			t.Errorf("%s: status %d\n%s", target, page.StatusCode, page.text)
		}
		some += page.text
	})
	if len(seen) < 300 {
		t.Errorf("only %d links were found", len(seen))
	}
	if !strings.Contains(some, "cmp-1") {
		t.Error("the reader sees nothing")
	}
	if strings.Contains(some, value) {
		t.Errorf("the reader sees the value")
	}
	if strings.Contains(some, "/ui/audit") {
		t.Error("the reader is shown a link to the audit")
	}
}

// The admin sees secrets only where the link asks for them.
func TestPages_secretsHidden(t *testing.T) {
	t.Parallel()
	s := newSite(t, anonymous)
	s.put(t, "control", layers)
	s.put(t, "secret", doc("deckhand/Passphrase/v1", "pass", "encrypted", "", "hidden-value"))
	b := s.browser(t)
	const target = "/ui/revisions/2/document?schema=deckhand/Passphrase/v1&layer=site&name=pass"
	if page := b.get(t, target).is(t, http.StatusOK); strings.Contains(page.text, "hidden-value") {
		t.Error("the secret is shown without being asked for")
	}
	if page := b.get(t, target+"&as=rendered").is(t, http.StatusOK); strings.Contains(page.text, "hidden-value") {
		t.Error("the secret is shown without being asked for")
	}
	b.get(t, target+"&as=rendered&secrets=shown").is(t, http.StatusOK).shows(t, "hidden-value")
	s.put(t, "schemas", doc("deckhand/DataSchema/v1", "acme/Host/v1", "cleartext",
		", substitutions: [{src: {schema: deckhand/Passphrase/v1, name: pass, path: .}, dest: {path: .description}}]", "{}"))
	const schema = "/ui/revisions/3/document?schema=deckhand/DataSchema/v1&layer=site&name=acme/Host/v1&as=rendered"
	for target, status := range map[string]int{
		"/ui/revisions/3/schemas": http.StatusOK, "/ui/revisions/3/schemas/acme/Host/v1": http.StatusForbidden, schema: http.StatusOK,
	} {
		if page := b.get(t, target).is(t, status); strings.Contains(page.text, "hidden-value") {
			t.Errorf("%s shows the secret without being asked for", target)
		}
	}
	b.get(t, schema+"&secrets=shown").is(t, http.StatusOK).shows(t, "hidden-value")
}

// TestPages_links follows the links to documents without layer and around one that does not exist.
func TestPages_links(t *testing.T) {
	t.Parallel()
	s := newSite(t, anonymous)
	s.put(t, "control", hostSchema, layers)
	s.put(t, "site", doc("acme/Service/v1", "api", "cleartext",
		", substitutions: [{src: {schema: acme/Host/v1, name: nowhere, path: .a}, dest: {path: .a}}]", "{a: 1}"))
	b := s.browser(t)
	for _, target := range []string{"/ui/revisions/9", "/ui/compare?from=1&to=9"} {
		if links := b.get(t, target).links(t, target); !slices.Contains(links, "/ui/revisions/2") {
			t.Errorf("%s does not link the newest revision: %q", target, links)
		}
	}
	for target, want := range map[string]int{
		"/ui/compare?from=0&to=1":                                                2,
		"/ui/revisions/1":                                                        2,
		"/ui/revisions/2/graph?focus=acme/Host/v1/nowhere":                       1,
		"/ui/revisions/2/graph?focus=acme/Service/v1/api/site":                   1,
		"/ui/revisions/2/document?as=graph&" + serviceAPI:                        1,
		"/ui/revisions/2/graph?focus=deckhand/LayeringPolicy/v1/layering-policy": 1,
	} {
		page := b.get(t, target).is(t, http.StatusOK)
		if strings.Contains(page.visible(t), "layer None") {
			t.Errorf("%s shows a layer of documents that have none", target)
		}
		documents := 0
		for _, link := range page.links(t, target) {
			if strings.Contains(link, "/document?") {
				documents++
				b.get(t, link).is(t, http.StatusOK)
			}
		}
		if documents < want {
			t.Errorf("%s has %d links to documents, want at least %d", target, documents, want)
		}
	}
}

const serviceAPI = "schema=acme/Service/v1&layer=site&name=api"
