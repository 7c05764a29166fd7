package judging

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

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
	if err != nil || len(invalid.Messages) != secret+open {
		t.Fatalf("%d messages, want %d", len(invalid.Messages), secret+open)
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
