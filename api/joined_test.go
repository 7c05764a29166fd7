package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/validations"
)

// policyOf is a ValidationPolicy that requires validations.
func policyOf(names ...string) string {
	return fmt.Sprintf("---\nschema: deckhand/ValidationPolicy/v1\nmetadata: {schema: metadata/Control/v1, name: vp}\n"+
		"data: {validations: [{name: %s}]}\n", strings.Join(names, "}, {name: "))
}

// The validations that look at values fail together because of a secret: a revision does not fail because of one that
// its policies do not require, and the owner of the secret is told of each validation why it fails.
func TestHandler_joined(t *testing.T) {
	t.Parallel()
	const schemas, rendering = validations.SchemaValidation, validations.RenderingValidation
	enum := dataSchema("t/K/v1", "{properties: {x: {enum: [a]}}}")
	replaced := enum + replacedAndTaken("ba") // fails only the schema validation
	taken := dataSchema("t/P/v1", "{properties: {x: {enum: [b]}}}") + textOf("t/Key/v1", "key", encrypted, "a") +
		textOf("t/P/v1", "p", takesKey, "{}") // fails only when it is rendered
	const together = "It fails because another validation of the server does"
	ofKey := "[t/K/v1, global] k .data: The value violates .properties.x.enum"
	ofTaken := "[t/P/v1, site] p .data.x: The value violates .properties.x.enum"
	for name, c := range map[string]struct {
		documents string
		want      map[string]string // how the findings of a validation begin for the owner
		header    string            // Purser-Status for others
	}{
		"one that does not count": {
			policyOf(rendering) + replaced, map[string]string{schemas: ofKey, rendering: ""}, "success; findings=1",
		},
		"schemas": {
			policyOf(schemas, rendering) + replaced,
			map[string]string{schemas: ofKey, rendering: rendering + ": " + together},
			"failure; findings=1",
		},
		"a rendering": {
			policyOf(schemas, rendering) + taken,
			map[string]string{schemas: schemas + ": " + together, rendering: ofTaken},
			"failure; findings=1",
		},
		"a rendering that alone counts": {
			policyOf(rendering) + taken,
			map[string]string{schemas: schemas + ": " + together, rendering: ofTaken},
			"failure; findings=1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := guarded(t, "")
			s.put(t, "site", layeringPolicy("layers")+c.documents, as("admin")...).is(t, http.StatusOK)
			got, owner := map[string]string{}, as("admin", "Accept", "text/plain")
			for validation := range c.want {
				got[validation] = s.get(t, "revisions/1/findings?validation="+validation, owner...).is(t, http.StatusOK).text
				if begin := c.want[validation]; begin != "" && strings.HasPrefix(got[validation], begin) {
					got[validation] = begin
				}
				fails := strings.Contains(s.get(t, "revisions/1/validations/"+validation, as("admin")...).text, "failure")
				if fails != (c.want[validation] != "") {
					t.Errorf("of the entries of %s some fail: %v", validation, fails)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("the owner is told (-want +got)\n%s", diff)
			}
			if all := s.get(t, "revisions/1/findings", owner...).text; strings.Contains(all, together) {
				t.Errorf("beside the reason, the findings repeat\n%s", all)
			}
			own := textOf("t/Own/v1", "own", ", storagePolicy: cleartext", "{}")
			put := s.put(t, "else", own, as("writer")...).is(t, http.StatusOK)
			if got := put.Header.Get("Purser-Status"); got != c.header {
				t.Errorf("others are told %q, want %q", got, c.header)
			}
		})
	}
}
