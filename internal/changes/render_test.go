package changes

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/authz"
	"purser/internal/budget"
	"purser/internal/fault"
	"purser/internal/revisions/revisionstest"
	"purser/internal/validations"
)

// Messages that no answer lists have no details, and secret messages do not count among the others.
func TestInvalidRendered_details(t *testing.T) {
	t.Parallel()
	const secret, open = authz.MaxListed + 1, authz.MaxListed + 2
	doc := revisionstest.Parsed(t, revisionstest.Widget("w", "{a: 1}", revisionstest.Cleartext))[0]
	var rendered Computed
	schema := &registered{Stored: doc}
	var outcomes []outcome
	for i := range secret + open {
		copied := *doc
		rendered.Documents = append(rendered.Documents, &copied)
		found := []validations.Finding{{Message: strconv.Itoa(i), SchemaPath: ".type"}}
		outcomes = append(outcomes, outcome{
			schema: schema, found: validations.Found{Count: 1, Findings: found}, secret: i < secret,
		})
	}
	r := Renderer{Engine: validations.NewEngine(validations.Options{})}
	invalid, err := r.invalidRendered(t.Context(), budget.NewMeter(t.Context()), rendered, outcomes)
	if want := secret + authz.MaxListed + 1; err != nil || len(invalid.Messages) != want { // the last one counts the others
		t.Fatalf("%d messages, want %d", len(invalid.Messages), want)
	}
	detailed := map[bool]int{}
	for _, message := range invalid.Messages {
		diagnostic, _ := message.Diagnostic.(map[string]any)
		if section, _ := diagnostic["error_section"].(json.RawMessage); strings.Contains(string(section), `"a":1`) {
			detailed[message.Secret]++
		}
	}
	if detailed[true] != authz.MaxListed || detailed[false] != authz.MaxListed {
		t.Errorf("with details: %d secret messages and %d others, want %d of each", detailed[true], detailed[false],
			authz.MaxListed)
	}
	result := revisionResult(validations.RenderingValidation, invalid)
	var stored []fault.Message
	if err := json.Unmarshal(result.Stored().Errors, &stored); err != nil {
		t.Fatal(err)
	}
	if got, want := stored[authz.MaxListed].Message, fmt.Sprintf("More errors, not listed: %d", open-authz.MaxListed); got != want {
		t.Errorf("stored: %q, want %q", got, want)
	}
}

// Errors have a total size, also without parts of documents, and the others are counted. A document is read for its
// errors only once.
func TestInvalidRendered_bytes(t *testing.T) {
	t.Parallel()
	const documents, each = 50, 100
	parsed := revisionstest.Parsed(t, revisionstest.Widget("w", "{a: 1}", revisionstest.Cleartext))[0]
	r := Renderer{Engine: validations.NewEngine(validations.Options{}), Documents: NewDocumentCache(1 << 20)}
	findings := make([]validations.Finding, each)
	for i := range findings {
		findings[i] = validations.Finding{Message: strings.Repeat("x", 4000), Instance: []string{"a"}, SchemaPath: ".type"}
	}
	list := func(data string) []fault.Message {
		var rendered Computed
		var outcomes []outcome
		for i := range documents {
			doc, text := *parsed, *parsed.Document
			text.Name, text.Data = strconv.Itoa(i), []byte(data)
			doc.Document = &text
			rendered.Documents = append(rendered.Documents, &doc)
			outcomes = append(outcomes, outcome{
				schema: &registered{Stored: parsed}, found: validations.Found{Count: each, Findings: findings},
				check: validations.Pair{1},
			})
		}
		invalid, err := r.invalidRendered(t.Context(), budget.NewMeter(t.Context()), rendered, outcomes)
		if err != nil {
			t.Fatal(err)
		}
		return invalid.Messages
	}
	messages := list(`{"a":1}`)
	size, described := 0, len(messages)-1
	for _, m := range messages {
		size += len(m.Message)
	}
	if last := messages[described]; size > maxInvalid+each*4096 || described+last.Unlisted != documents*each {
		t.Errorf("%d bytes; %d errors and %d others, of %d", size, described, last.Unlisted, documents*each)
	}
	if diff := cmp.Diff(messages, list(`not read`)); diff != "" {
		t.Errorf("again (-first +second)\n%s", diff)
	}
}
