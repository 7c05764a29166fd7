package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"purser/api"
	"purser/internal/authn"
)

// long returns a name of 255 characters, each of which takes 13 bytes of a page and 12 of a link.
func long(about string, i int) string {
	const most = 255
	name := fmt.Sprintf("%s %d ", about, i)
	return name + strings.Repeat("\U000E0001", most-len(name))
}

// worst is a site in which everything that a page shows is as long and as often as the API takes it.
func worst(t *testing.T) *site {
	t.Helper()
	s := newSite(t, func(config *api.Config) {
		known, _ := config.Access.Authenticator.(people)
		known["admin"] = authn.Caller{UserID: "admin", UserName: long("user", 0), Roles: []string{"admin"}}
	})
	kind := "acme/" + strings.Repeat("H", 245) + "/v1"
	layer, message := long("layer", 0), strings.Repeat("\U000E0001", 1000)
	s.put(t, "control", strings.ReplaceAll(hostSchema, "acme/Host/v1", kind),
		strings.ReplaceAll(layers, "[global, site]", "["+quoted(layer)+"]"))
	var labels, data, sources []string
	for i := range 40 {
		labels = append(labels, quoted(long("label", i))+": "+quoted(long("value", i)))
		data = append(data, quoted(long("key", i))+": "+quoted(strings.Repeat(message, 3)))
	}
	thing := func(i int, rack string) string {
		return strings.ReplaceAll(doc(kind, long("name", i), "cleartext",
			", labels: {"+strings.Join(labels, ", ")+"}, substitutions: ["+strings.Join(sources, ", ")+"]",
			"{rack: "+rack+", "+strings.Join(data, ", ")+"}"), "layer: site", "layer: "+quoted(layer))
	}
	for i := range 20 { // each in a bucket of its own, by a revision of its own with a message and a source
		if i > 0 {
			sources = append(sources, "{src: {schema: "+kind+", name: "+quoted(long("name", i-1))+", path: .rack}, dest: {path: "+
				quoted("."+strings.Repeat("p", 200)+strconv.Itoa(i))+"}}")
		}
		s.call(t, http.MethodPut, "buckets/"+url.PathEscape(long("bucket", i))+"/documents?message="+url.QueryEscape(message), thing(i, "1"),
			"X-Purser-Source", "https://git.example/8f2c41d/"+strings.Repeat("&", 472))
	}
	var many []string
	labels, data = labels[:4], data[:2]
	sources = nil // documents with substitutions are checked only when rendered
	for i := range 120 {
		many = append(many, thing(100+i, quoted(message)))
	}
	s.put(t, "many", many...)
	var required []string
	for i := range 3 {
		var names []string
		for k := range 25 {
			names = append(names, "{name: "+quoted(long("validation", k))+"}")
		}
		required = append(required, "---\nschema: deckhand/ValidationPolicy/v1\nmetadata: {schema: metadata/Control/v1, name: "+
			quoted(long("policy", i))+"}\ndata: {validations: ["+strings.Join(names, ", ")+"]}\n")
	}
	s.put(t, "policies", required...)
	failed := "{message: " + quoted(strings.Repeat(message, 3)) + "}"
	for i := range 40 {
		s.call(t, http.MethodPost, "revisions/latest/tags/"+url.PathEscape(long("tag", i)), "{v: "+quoted(strings.Repeat(message, 5))+"}")
		s.call(t, http.MethodPost, "revisions/latest/validations/"+url.PathEscape(long("validation", i)),
			"{status: failure, validator: {name: v, version: '1'}, url: 'https://ci.example/"+strings.Repeat("&", 1980)+"', "+
				"inputs: {schemas: ["+kind+"]}, errors: ["+strings.Repeat(failed+", ", 20)+failed+"]}")
	}
	for i := range 20 {
		s.call(t, http.MethodPost, "revisions/latest/waivers", "{validation: "+quoted(long("validation", i))+", for: P1D, reason: "+quoted(message)+"}")
	}
	return s
}

// TestWorst looks at all kinds of pages of a site in which everything is as long as can be: none has more than 150 KB,
// and hidden parts are mentioned.
func TestWorst(t *testing.T) { //nolint:paralleltest // it has the machine to itself
	b := worst(t).as(t, "admin")
	check := func(target string, page answer) {
		if page.StatusCode != http.StatusOK {
			t.Errorf("%.200s: status %d\n%.2000s", target, page.StatusCode, page.visible(t))
		}
		if strings.HasPrefix(page.Header.Get("Content-Type"), "text/html") {
			wellFormed(t, target[:min(len(target), 100)], page)
		}
	}
	document := url.Values{
		"schema": {"acme/" + strings.Repeat("H", 245) + "/v1"}, "layer": {long("layer", 0)}, "name": {long("name", 19)},
	}.Encode()
	of := "/ui/revisions/latest/document?" + document
	for target, tells := range map[string]string{
		"/ui/": "more reasons", "/ui/revisions": "", "/ui/revisions/22": "are not shown here", "/ui/revisions/23": "older waiver",
		"/ui/search": "After these", "/ui/audit": "After these", "/ui/compare?from=21&to=22": "The next ones",
		"/ui/compare?from=21&to=22&view=split": "The next ones", "/ui/compare?from=0&to=2&view=split": "too long for a page",
		"/ui/revisions/latest/graph": "more document", "/ui/revisions/latest/schemas": "",
		"/ui/revisions/latest/validations/" + url.PathEscape(long("validation", 1)): "more finding",
		of: "Lines after these", of + "&as=rendered": "", of + "&as=explained": "", of + "&as=history": "too long for a page",
		of + "&as=graph": "", "/ui/search?q=" + strings.Repeat("'", 4900): "", "/ui/search?label=" + strings.Repeat("%2b", 4900): "",
	} {
		page := b.get(t, target)
		check(target, page)
		if !strings.Contains(page.text, tells) {
			t.Errorf("%.100s does not tell %q:\n%.3000s", target, tells, page.visible(t))
		}
	}
	fields := url.Values{"message": {strings.Repeat("\U000E0001", 1000)}}
	check("rollback", b.send(t, http.MethodPost, "/ui/revisions/20/rollback", fields))
	b.crawl(t, 20, check)
	b.get(t, "/ui/search?q="+strings.Repeat("'", 5100)).is(t, http.StatusBadRequest)

	// One comes to all documents all the same.
	seen, pages := map[string]bool{}, 0
	for target := "/ui/search?schema=acme"; target != ""; pages++ {
		page := b.get(t, target).is(t, http.StatusOK)
		target = ""
		for n := range page.tree(t).Descendants() {
			href, _ := attr(n, "href")
			if rel, _ := attr(n, "rel"); rel == "next" {
				target = "/ui/search" + href
			}
			if strings.Contains(href, "/document?") {
				seen[href] = true
			}
		}
	}
	if len(seen) != 140 || pages < 10 {
		t.Errorf("%d documents on %d pages, want 140", len(seen), pages)
	}
}
