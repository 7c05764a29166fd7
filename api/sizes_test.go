package api_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"net/http"
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
	s := newSite(t)
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
