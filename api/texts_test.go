package api_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"purser/api"
	"purser/internal/document"
	"purser/internal/words"
)

// hostile are names that would control a terminal, change the direction of text, or add a line to a list.
func hostile() []string {
	return []string{
		"\x1b]0;t\a\u0085\u2028\u2066\u200f\u202e\u200b\U000e0041\r\nsuccess", strings.Repeat("\u202ea\u0301\u0301", 63) + "end",
	}
}

// hostileSite returns a site with two revisions, where all that has a name has a hostile one, and fails.
func hostileSite(t *testing.T) site {
	t.Helper()
	s := newSite(t)
	schema := `---
schema: deckhand/DataSchema/v1
metadata: {schema: metadata/Control/v1, name: acme/Widget/v1}
data: {description: %[1]s, properties: {%[1]s: {type: integer, description: %[1]s, enum: [%[1]s]}}}
---
schema: deckhand/LayeringPolicy/v1
metadata: {schema: metadata/Control/v1, name: layering-policy}
data: {layerOrder: [site]}
---
schema: deckhand/ValidationPolicy/v1
metadata: {schema: metadata/Control/v1, name: %[1]s, layeringDefinition: {layer: site}}
data: {validations: [{name: deckhand-schema-validation}, {name: %[1]s}]}
`
	widget := `---
schema: acme/Widget/v1
metadata:
  {schema: metadata/Document/v1, name: %[1]s, labels: {a: %[1]s}, storagePolicy: cleartext,
  layeringDefinition: {layer: site}}
data: {%[1]s: %[1]s}
`
	breaks := strings.NewReplacer("\u0085", `\u0085`, "\u2028", `\u2028`) // YAML ends lines there
	for _, name := range hostile() {
		quoted := breaks.Replace(string(document.AppendJSON(nil, name)))
		s.put(t, "control?message="+url.QueryEscape(name), fmt.Sprintf(schema, quoted), "Accept", "text/plain").is(t, http.StatusOK)
		s.put(t, url.PathEscape(name), fmt.Sprintf(widget, quoted)).is(t, http.StatusOK)
		s.do(t, http.MethodPost, "revisions/latest/tags/"+url.PathEscape(name), "{}", "Content-Type", "application/json").
			is(t, http.StatusCreated)
		s.do(t, http.MethodPost, "revisions/latest/validations/"+url.PathEscape(name), fmt.Sprintf(
			"{status: failure, validator: {name: %[1]s, version: '1'}, errors: [{message: %[1]s}]}", quoted),
			"Content-Type", "application/x-yaml").is(t, http.StatusCreated)
	}
	return s
}

// Texts for people show all characters of names, and names add no lines to them. Headers are printable ASCII, and other
// answers have what was sent.
func TestHandler_hostileTexts(t *testing.T) {
	t.Parallel()
	s := hostileSite(t)
	texts := map[string]int{}
	check := func(path, accept string) {
		got := s.get(t, path, "Accept", accept)
		for name, values := range got.Header {
			if header := strings.Join(values, "\n"); strings.ContainsFunc(header, func(r rune) bool { return (r < ' ' || r > '~') && r != '\n' }) {
				t.Errorf("%s as %s: the header %s is %q", path, accept, name, header)
			}
		}
		kind, _, _ := strings.Cut(got.Header.Get("Content-Type"), ";")
		if got.StatusCode/100 != 2 || !strings.HasPrefix(kind, "text/") && kind != "image/svg+xml" {
			return
		}
		texts[kind]++
		if got.text != words.Printable(got.text) {
			t.Errorf("%s as %s is not printable: %q", path, kind, got.text)
		}
		if strings.Contains(got.text, "\nsuccess") && kind != "text/markdown" {
			t.Errorf("%s as %s: a name adds a line: %q", path, kind, got.text)
		}
	}
	for _, name := range hostile() {
		parts := strings.NewReplacer("{revision}", "latest", "{other}", "1", "{name}", url.PathEscape(name), "{tag}", url.PathEscape(name),
			"{layer}", "site", "{entry}", "0", "{namespace}", "acme", "{kind}", "Widget", "{version}", "v1")
		for path, methods := range api.Routes() {
			parameters, reads := methods[http.MethodGet]
			if !reads {
				continue
			}
			path = parts.Replace(path)
			if slices.Contains(parameters, "path") {
				path += "?schema=acme/Widget/v1&name=" + url.QueryEscape(name)
			}
			if slices.Contains(parameters, "rendered") {
				path += "?rendered=false"
			}
			for _, accept := range []string{"text/plain", "text/html", "text/markdown", "text/vnd.graphviz", "image/svg+xml"} {
				check(path, accept)
			}
		}
		check("revisions/latest/graph?format=dot&focus="+url.QueryEscape("acme/Widget/v1/"+name), "*/*")
	}
	if texts["text/plain"] < 10 || texts["text/html"] < 2 || texts["text/markdown"] < 2 || texts["text/vnd.graphviz"] < 4 {
		t.Errorf("few answers are texts: %v", texts)
	}
}
