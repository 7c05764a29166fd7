package schemadocs_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"purser/internal/document"
	"purser/internal/schemadocs"
)

// The page of the contract has every operation, parameter and schema, and each of its links has a target.
func TestContract(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	value, err := document.ParseOne(t.Context(), text, document.YAML, document.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	page, err := schemadocs.Contract(value.(document.Mapping))
	if err != nil {
		t.Fatal(err)
	}
	made := string(page)
	for _, want := range regexp.MustCompile(`(?m)^ +operationId: (\w+)$`).FindAllStringSubmatch(string(text), -1) {
		if id := strings.ToLower(want[1]); !strings.Contains(made, `<h3 id="`+id+`">`) {
			t.Errorf("no heading for %s", want[1])
		}
	}
	for _, link := range regexp.MustCompile(`href="#([^"]+)"`).FindAllStringSubmatch(made, -1) {
		if !strings.Contains(made, ` id="`+link[1]+`"`) {
			t.Errorf("nothing has the anchor %s", link[1])
		}
	}
	for _, want := range []string{
		"<code>GET /api/v1.0/revisions/{revision}/status</code> needs the rule <code>deckhand:show_revision</code>",
		`<td><code>max-deleted</code></td>`, `<td><code>policies[].validations</code></td>`, `<a href="#schema-status">Status</a>`,
		"<code>text/plain</code>",
	} {
		if !strings.Contains(made, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if found := regexp.MustCompile(`<script|src=|href="(https?:)?//`).FindString(made); found != "" {
		t.Errorf("the page needs another resource: %s", found)
	}
}
