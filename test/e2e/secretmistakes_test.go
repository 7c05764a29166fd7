package e2e_test

import (
	"bytes"
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"purser/internal/check"
)

// mistakes are the ends of encrypted documents in which something is wrong; @ stands for the secret.
var mistakes = map[string][]string{
	"null": {
		"data: #@", "data: # @", "data: &@", "data: &a #@", "data: ~ # @", "data: [] # @", "data: {} # @", "data: !!null # @",
		"data: !!null '' # @", "data:\n  # @", "data: '' # @", "data: !!str # @", "data: {a: b} #@", "data:\n  a: #@", "# @\ndata: ~",
	},
	"syntax": {
		"data: \"@", "data: '@", "data: [@", "data: {@: 1", "data: {a: @", "data: @: @", "data: a\n@", "data: |\n  a\n @: b", "\tdata: @",
		"data:\n  a: 1\n   @: 2", "data: a\n  @: 1\n b: 2", "data: `@", "data: %@", "data: - @", "data: ]@", "data: \"\\q@\"", "data: \"\\ud800@\"",
		"data: {a: 1}}@", "data: - a: @\n - b", "data: !!int @", "data: !!float @", "data: !!bool @", "data: {[@]: 1}", "data: {~: 1, @: 2}",
		"data: {1.5: @}", "data: <<@\n  x", "data: {<<: @}", "data: 'a' @", "data: \"a\" @: b", "data: |@\n  a", "data: >1@\n  a", "? @\ndata: a",
		"data: @\n...\n@", "data: .inf # @", "data: {a: .nan, b: @}", "- @", "data: 0o9@", "data: !!timestamp @", "data: !!binary @",
	},
	"keys": {
		"data: {@: 1, @: 2}", "data: {a: {@: 1, @: 2}}", "data: @\ndata: @", "@: 1\n@: 2\ndata: a", "data: {a: 1, a: @}", "'@': {}\ndata: a",
		"@: 1", "dta: @", "data: a\ndatta: @", "datta: {@: @}", "schema: @\ndata: a", "dat@: 1", "\"@' appears twice\": 1\n\"@' appears twice\": 2",
		"data: {\"@' appears twice\": 1, \"@' appears twice\": 2}", "data: {a: @}\nid: @\nstatus: @",
	},
	"metadata": { // of frames that end with it as a block
		"  @: 1\ndata: a", "  '1234@.a': 1\ndata: a", "  password: @", "  lables: {@: @}\ndata: @", "  labels: @\ndata: a",
		"  labels: {@: [@]}\ndata: a", "  labels: {a: {b: @}}\ndata: @", "  replacement: '@'\ndata: a", "  substitutions: @\ndata: a",
		"  substitutions: [@]\ndata: a", "  substitutions: [{@: 1}]\ndata: a", "  substitutions: {@: @}\ndata: a",
		"  substitutions: [{src: {schema: '@', name: [@], path: 1, @: 1}, dest: {'@': 1}}]\ndata: a",
		"  substitutions: [{src: {schema: a/B/v1, name: n, path: .}, dest: [@, {path: ., pattern: '(@'}]}]\ndata: a",
		"  layeringDefinition: {layer: [@], abstract: '@', @: @, actions: [@, {method: '@', path: [@]}]}\ndata: a",
	},
}

// mistakenFrames begin encrypted documents, two of them with a misspelt storagePolicy.
var mistakenFrames = []string{
	"schema: deckhand/Passphrase/v1\nmetadata: {schema: metadata/Document/v1, name: spoilt, storagePolicy: encrypted, layeringDefinition: {layer: site}}",
	"schema: acme/Key/v1\nmetadata:\n  schema: metadata/Document/v1\n  storagePolicy: encrypted\n  layeringDefinition: {layer: site}\n  name: spoilt",
	"metadata: {schema: metadata/Control/v1, name: spoilt, storagePolicy: \"\\x65ncrypted\"}\nschema: acme/Key/v1",
	"schema: acme/Key/v1\nmetadata: {schema: metadata/Document/v1, name: spoilt, storagePolcy: encrypted, layeringDefinition: {layer: site}}",
	"schema: acme/Key/v1\nmetadata:\n  schema: metadata/Document/v1\n  name: spoilt\n  storagePolicy: encrypted",
	"schema: acme/Key/v1\nmetadata:\n  name: spoilt\n  storagePolcy: encrypted\n  schema: metadata/Document/v1",
	"schema: acme/Key/v1\nmetadata:\n  schema: metadata/Control/v1\n  storagePolicy: encrypted\n  name: spoilt",
}

// mistaken returns a body of an encrypted document with a mistake between two documents without one.
func mistaken(frame, mistake string) string {
	return widget("before", "{}") + "---\n" + frame + "\n" + mistake + "\n---\n" + widget("after", "{}")
}

// anyMistaken draws a body for each kind of mistake.
func anyMistaken(t *rapid.T) (bodies []string) {
	for _, kind := range slices.Sorted(maps.Keys(mistakes)) {
		frame := rapid.SampledFrom(mistakenFrames).Draw(t, "frame")
		bodies = append(bodies, mistaken(frame, rapid.SampledFrom(mistakes[kind]).Draw(t, "mistake")))
	}
	return bodies
}

// spoil puts bodies with a secret, reads what is said of them, and checks them as files.
func (s *story) spoil(bodies []string, secret string) {
	s.Helper()
	for _, body := range bodies {
		body = strings.ReplaceAll(body, "@", secret)
		for _, query := range []string{"?dry-run=true", "?dry-run=true&findings=true", "?findings=true"} {
			s.ask("creator", http.MethodPut, "buckets/spoilt/documents"+query, body, "Accept", "application/json")
		}
		for _, path := range []string{"/findings", "/status", "/validations/detail"} {
			s.ask("reader", http.MethodGet, "revisions/latest"+path, "", "Accept", "text/plain, application/json")
		}
		checksTellNothing(s, body, secret)
	}
}

// checksTellNothing checks a file in each format of purser check, none of which may contain a part of the secret.
func checksTellNothing(t fataler, text, secret string) {
	t.Helper()
	files := []check.File{{Name: "site.yaml", Text: []byte(text)}}
	report, err := check.New(check.Options{}).Check(context.Background(), files)
	if err != nil {
		t.Fatalf("check %q: %v", text, err)
	}
	for _, name := range check.Formats() {
		var said bytes.Buffer
		if err := check.Write(&said, name, report, check.FormatOptions{}); err != nil {
			t.Fatalf("write the report: %v", err)
		}
		for _, part := range windows(secret, 4) {
			if strings.Contains(said.String(), part) {
				t.Fatalf("purser check --format %s tells %q of\n%s\nin\n%s", name, part, text, said.String())
			}
		}
	}
}

// No format of purser check shows a part of an encrypted document, whatever is wrong with it.
func TestSecrets_mistakes(t *testing.T) {
	t.Parallel()
	const secret = "QXZJKVWQ"
	for _, frame := range mistakenFrames {
		for _, kind := range mistakes {
			for _, mistake := range kind {
				checksTellNothing(t, strings.ReplaceAll(mistaken(frame, mistake), "@", secret), secret)
			}
		}
	}
}
