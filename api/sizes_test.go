package api_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// numbered returns n texts that contain their number.
func numbered(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// No answer is much larger than 4 MiB and the documents that it is about, however many errors they have and however
// long these are.
func TestAnswers_size(t *testing.T) {
	t.Parallel()
	s := schemasSite(t)
	const document = "---\nschema: %s\nmetadata: {schema: metadata/%s/v1, name: %s, layeringDefinition: {layer: site}, storagePolicy: cleartext}\ndata: %s\n"
	schema := func(data string) string {
		return fmt.Sprintf(document, "deckhand/DataSchema/v1", "Control", "acme/Widget/v1", data)
	}
	widgets := func(n int, data string) string {
		return strings.ReplaceAll(numbered(fmt.Sprintf(document, "acme/Widget/v1", "Document", "w%d", "@"), n), "@", data)
	}
	wide := "{required: [" + numbered("a%d, ", 100) + "]}"
	long := strings.Repeat("x", 900)
	for name, body := range map[string]string{
		"many errors":         schema(wide) + widgets(2_000, "{b: 1}"),
		"large branches":      schema("{properties: {l: {items: {anyOf: ["+strings.Repeat("{type: integer}, ", 3_000)+"]}}}}") + widgets(1, "{l: ["+strings.Repeat("1.1e-300, ", 2_500)+"]}"),
		"large sections":      schema("{properties: {l: {items: {type: integer}}}}") + widgets(40, "{l: ["+strings.Repeat("x, ", 3_000)+"]}"),
		"deep sections":       schema("{additionalProperties: {$ref: '#'}, items: {type: string}}") + widgets(40, strings.Repeat("{a: ", 80)+"["+strings.Repeat("1, ", 2_000)+"]"+strings.Repeat("}", 80)),
		"long paths":          schema("{additionalProperties: {additionalProperties: {additionalProperties: {type: string}}}}") + widgets(40, "{"+long+": {"+long+": {"+numbered("a%d: 1, ", 200)+"}}}"),
		"long values":         schema("{additionalProperties: {enum: [y]}}") + widgets(40, "{"+numbered("a%d: "+long+", ", 100)+"}"),
		"malformed documents": strings.ReplaceAll(widgets(3_000, "{}"), "layeringDefinition", "layering"),
		"unknown keys":        strings.ReplaceAll(widgets(3_000, "{}"), "data:", "date:"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			most := 5<<20 + 8*len(body)
			for _, query := range []string{"", "&findings=true"} {
				for _, accept := range []string{"application/json", "application/x-yaml"} {
					got := s.do(t, http.MethodPut, "buckets/b/documents?dry-run=true"+query, body,
						"Content-Type", "application/x-yaml", "Accept", accept)
					if len(got.text) > most || got.StatusCode >= http.StatusInternalServerError {
						t.Errorf("%s %s: %s with %d bytes, at most %d are expected: %.300s",
							query, accept, got.Status, len(got.text), most, got.text)
					}
				}
			}
		})
	}
}

// This also holds for the issues of a package, be they errors or warnings.
func TestAnswers_sizeOfPackages(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	const manifest = "Format: MuranoPL/1.4\nType: Library\nFullName: a.B\nDescription: x\n"
	for name, class := range map[string]string{
		"errors":   "Name: A\nExtends:\n" + numbered("- \"\\x01%d"+strings.Repeat("-", 1_500)+"\"\n", 2_000),
		"warnings": "Name: A\nProperties:\n" + numbered("  a%d: {Contract: \"$."+strings.Repeat("-", 1_500)+"\"}\n", 2_000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var body bytes.Buffer
			archive := zip.NewWriter(&body)
			for file, text := range map[string]string{"manifest.yaml": manifest, "LICENSE": "", "Classes/A.yaml": class} {
				w, err := archive.Create(file)
				if err == nil {
					_, err = w.Write([]byte(text))
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if err := archive.Close(); err != nil {
				t.Fatal(err)
			}
			got := s.do(t, http.MethodPost, "packages/check", body.String(), "Content-Type", "application/zip")
			if len(got.text) < 1<<20 || len(got.text) > 5<<20 || !strings.Contains(got.text, "not listed: ") {
				t.Errorf("%s with %d bytes: %.300s", got.Status, len(got.text), got.text)
			}
		})
	}
}

// A page of a list ends once its items have 4 MiB, and the next one goes on behind it, so that nothing is left out.
func TestAnswers_pages(t *testing.T) {
	t.Parallel()
	const buckets, revisions = 1000, 20
	s := newSite(t)
	const document = "---\nschema: acme/Widget/v1\nmetadata: {schema: metadata/Document/v1, name: w%[1]d, storagePolicy: cleartext, layeringDefinition: {layer: site}}\ndata: {}\nstatus: {bucket: b%[1]d}\n"
	s.do(t, http.MethodPut, "changesets", numbered(document, buckets), "Content-Type", "application/x-yaml",
		"X-Purser-Message", strings.Repeat("<", 1000)).is(t, http.StatusOK)
	const policy = "schema: deckhand/ValidationPolicy/v1\nmetadata: {schema: metadata/Control/v1, name: p, storagePolicy: cleartext}\ndata: {validations: [%s]}\n"
	names := numbered("{name: "+strings.Repeat("x", 240)+"%d}, ", 1000)
	for i := range revisions - 1 {
		s.put(t, "policies?message="+strconv.Itoa(i), fmt.Sprintf(policy, names)).is(t, http.StatusOK)
		s.put(t, "other", fmt.Sprintf(strings.ReplaceAll(document, "%[1]d", "x%d"), i, i)).is(t, http.StatusOK)
	}
	for path, want := range map[string]int{"buckets?limit=1000": buckets + 2, "revisions?limit=1000": 1 + revisions} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			found, pages := 0, 0
			for next := "/api/v1.0/" + path; next != ""; pages++ {
				got := s.get(t, next, "Accept", "application/json").is(t, http.StatusOK)
				var page struct {
					Results []json.RawMessage `json:"results"`
					Next    string            `json:"next"`
				}
				if err := json.Unmarshal([]byte(got.text), &page); err != nil {
					t.Fatal(err)
				}
				if len(got.text) > 5<<20 {
					t.Errorf("a page has %d bytes", len(got.text))
				}
				found += len(page.Results)
				_, next, _ = strings.Cut(page.Next, "://localhost")
			}
			if found != want || pages < 2 {
				t.Errorf("%d items on %d pages, want %d on several", found, pages, want)
			}
		})
	}
}

// An answer that would be too large says how to ask for less.
func TestAnswers_tooLarge(t *testing.T) {
	t.Parallel()
	const buckets = 4500
	s := newSite(t)
	const document = "---\nschema: a/B/v1\nmetadata: {schema: metadata/Document/v1, name: w%[1]d, storagePolicy: cleartext, layeringDefinition: {layer: site}}\ndata: {}\nstatus: {bucket: '@%[1]d'}\n"
	body := strings.ReplaceAll(numbered(document, buckets), "@", strings.Repeat("\u2028", 240))
	s.do(t, http.MethodPut, "changesets", body, "Content-Type", "application/x-yaml").is(t, http.StatusOK)
	for path, less := range map[string]string{
		"revisions/0/diff/1": "compare revisions between which fewer buckets differ",
		"revisions/0/deepdiff/1?format=documents&rendered=false": "?format=documents&limit=1000",
	} {
		got := s.get(t, path, "Accept", "application/json").is(t, http.StatusRequestEntityTooLarge)
		var shown struct {
			Message string `json:"message"`
		}
		if err := json.Unmarshal([]byte(got.text), &shown); err != nil || !strings.Contains(shown.Message, less) {
			t.Errorf("%s: %v: %s", path, err, got.text)
		}
	}
	s.get(t, "revisions/0/deepdiff/1?format=documents&rendered=false&limit=10").is(t, http.StatusOK)
}

// Overrides that repeat a default for each of their resources make no answer larger than the catalog and they are.
func TestAnswers_catalogs(t *testing.T) {
	t.Parallel()
	const resources = 1_500
	s := newSite(t)
	const catalog = `{"name":"n","version":1,"resources":[]}`
	s.put(t, "puppet", "schema: deckhand/LayeringPolicy/v1\nmetadata: {schema: metadata/Control/v1, name: l, storagePolicy: cleartext}\n"+
		"data: {layerOrder: [site]}\n"+
		textOf("fuel/PuppetOverride/v1", "p", ", storagePolicy: cleartext", "{configuration: {file: {"+
			numbered("/f%d: {mode: '0640'}, ", resources)+"}}, defaults: {file: {content: "+strings.Repeat("x", 5<<10)+"}}}")).
		is(t, http.StatusOK)
	ask := func(method, path string) response {
		return s.do(t, method, "revisions/"+path, catalog, "Content-Type", "application/json", "Accept", "application/json")
	}
	for path, less := range map[string]string{
		"1/puppet/catalog": "simplify the overrides, or send a part of the catalog",
		"0/puppet/diff/1":  "compare revisions that differ less, or send a part of the catalog",
	} {
		got := ask(http.MethodPost, path).is(t, http.StatusRequestEntityTooLarge)
		if !strings.Contains(got.text, "more than 4 MiB") || !strings.Contains(got.text, less) {
			t.Errorf("%s: %s", path, got.text)
		}
	}
	ask(http.MethodPost, "1/puppet/catalog?report=true").is(t, http.StatusOK)
	ask(http.MethodPost, "1/puppet/catalog?explain=File[/f1]").is(t, http.StatusOK)
}
