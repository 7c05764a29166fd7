package attest_test

import (
	"crypto/sha256"
	"strings"
	"testing"

	"purser/internal/attest"
	"purser/internal/document"
)

// The order of documents and how they are written do not matter, nor does what only the server knows of them. All else
// does.
func TestDigestOf(t *testing.T) {
	t.Parallel()
	digest := func(text string) document.Digest { return factsOf(t, text).Rendered.Digest }
	parts := strings.Split(widgets, "---\n")
	asJSON := `[{"schema": "acme/Widget/v1", "data": "text", "metadata": {"storagePolicy": "cleartext", "schema": "metadata/Control/v1", "name": "w0"}},
		{"metadata": {"name": "w1", "schema": "metadata/Document/v1", "layeringDefinition": {"layer": "site", "abstract": false}, "storagePolicy": "cleartext"},
		"data": {"names": ["\u00e4", "\u2028"], "ratio": 1e2, "size": 9007199254740993}, "schema": "acme/Widget/v1"}]`
	want := digest(widgets)
	for name, text := range map[string]string{
		"in another order":      "---\n" + parts[2] + "---\n" + parts[1],
		"other line ends":       strings.ReplaceAll(widgets, "\n", "\r\n"),
		"JSON":                  asJSON,
		"JSON in lines":         strings.ReplaceAll(asJSON, "\n", "\r\n"),
		"another id":            strings.Replace(widgets, "id: 3", "id: 7", 1),
		"another revision":      strings.ReplaceAll(widgets, "revision: 1", "revision: 2"),
		"without these":         strings.ReplaceAll(strings.ReplaceAll(widgets, "status: {bucket: b, revision: 1}\n", ""), "id: 3\n", ""),
		"a number, in full":     strings.Replace(widgets, "100.0", "1.0e+2", 1),
		"comments":              strings.ReplaceAll(widgets, "---\n", "---\n# hello\n"),
		"a block of YAML":       strings.Replace(widgets, "data: text", "data: >-\n  text", 1),
		"the keys of a mapping": strings.Replace(widgets, "{size: 9007199254740993, ratio: 100.0,", "{ratio: 100.0, size: 9007199254740993,", 1),
	} {
		if got := digest(text); got != want {
			t.Errorf("%s: another digest", name)
		}
	}
	for name, text := range map[string]string{
		"a digit that no double has": strings.Replace(widgets, "993", "992", 1),
		"a text for a number":        strings.Replace(widgets, "100.0", `"100.0"`, 1),
		"a label":                    strings.Replace(widgets, "name: w0", "name: w0, labels: {a: b}", 1),
		"a schema":                   strings.Replace(widgets, "schema: acme/Widget/v1", "schema: acme/Widget/v2", 1),
		"a space":                    strings.Replace(widgets, "data: text", "data: 'text '", 1),
		"one less":                   "---\n" + parts[1],
		"one twice":                  widgets + "---\n" + parts[1],
		"none":                       "",
		"the order of a list":        strings.Replace(widgets, `["ä", "\u2028"]`, `["\u2028", "ä"]`, 1),
	} {
		if digest(text) == want {
			t.Errorf("%s: the same digest", name)
		}
	}
}

// Anybody can compute the digest with a library for RFC 8785: it is the SHA-256 of one JSON array.
func TestDigestOf_form(t *testing.T) {
	t.Parallel()
	const text = `[{"data":"text","metadata":{"name":"w0","schema":"metadata/Control/v1","storagePolicy":"cleartext"},` +
		`"schema":"acme/Widget/v1"},{"data":{"names":["ä","` + "\u2028" + `"],"ratio":100,"size":9007199254740993},"metadata":` +
		`{"layeringDefinition":{"abstract":false,"layer":"site"},"name":"w1","schema":"metadata/Document/v1",` +
		`"storagePolicy":"cleartext"},"schema":"acme/Widget/v1"}]`
	if got, want := factsOf(t, widgets).Rendered.Digest, document.Digest(sha256.Sum256([]byte(text))); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := factsOf(t, "").Rendered.Digest, document.Digest(sha256.Sum256([]byte("[]"))); got != want {
		t.Errorf("of none: %s, want %s", got, want)
	}
}

// What two programs may read in different ways is refused.
func TestReadDocuments_refuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a: [":                                "not closed",
		"- a":                                 "not a mapping",
		"{}":                                  "no schema",
		"{schema: a, data: 1}":                "no metadata",
		"{metadata: {}, data: 1}":             "no schema",
		"{schema: a, schema: b}":              "twice",
		"{schema: a, metadata: {a: 1, a: 2}}": "twice",
		`[{"schema": "a", "metadata": {"a": 1, "a": 2}}]`: "twice",
		"{schema: a, metadata: {}, dta: 1}":               "a key at its top",
		"\xff":                                            "UTF-8",
	} {
		_, err := attest.ReadDocuments(t.Context(), []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "dta") {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
