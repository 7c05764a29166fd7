package changes

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/authz"
	"purser/internal/fault"
	"purser/internal/validations"
)

// The warnings of a stored result are its last items. The errors before them are not decoded.
func TestSplitWarnings(t *testing.T) {
	t.Parallel()
	const error1, error2 = `{"message": "e", "error": true}`, `not even JSON`
	warning := func(n int) string { return fmt.Sprintf(`{"message": "w%d", "kind": %q}`, n, fault.WarningKind) }
	for _, c := range []struct {
		stored, warnings []string
		errors           int
	}{
		{nil, nil, 0},
		{[]string{error1, error2}, nil, 2},
		{[]string{warning(1), warning(2)}, []string{"w1", "w2"}, 0},
		{[]string{error2, error1, warning(1), warning(2), warning(3)}, []string{"w1", "w2", "w3"}, 2},
	} {
		var stored []json.RawMessage
		for _, text := range c.stored {
			stored = append(stored, json.RawMessage(text))
		}
		errs, warnings := SplitWarnings(stored)
		var texts []string
		for _, warning := range warnings {
			texts = append(texts, warning.Message)
		}
		if diff := cmp.Diff(c.warnings, texts); diff != "" || len(errs) != c.errors || errs == nil {
			t.Errorf("%s: %d errors, warnings -want +got:\n%s", c.stored, len(errs), diff)
		}
	}
}

// The outcome of a result is that of its wire form.
func TestRevisionResult_Outcome(t *testing.T) {
	t.Parallel()
	secret := fault.Message{Message: "secret", Secret: true}
	for _, messages := range [][]fault.Message{nil, {{Message: "a"}, {Message: "b"}}, {secret}, {secret, {Message: "a"}}} {
		result := RevisionResult{Name: validations.RenderingValidation, Messages: messages}
		for _, viewer := range []authz.Viewer{{}, {Encrypted: true}} {
			if diff := cmp.Diff(validations.OutcomeOf(result.For(viewer)), result.Outcome(viewer)); diff != "" {
				t.Errorf("%v for %v: -wire +got:\n%s", messages, viewer, diff)
			}
		}
	}
}
