package api

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"purser/internal/budget"
)

// Texts for people are printable, whoever makes them. Data are sent as they are.
func TestWriter_Deliver(t *testing.T) {
	t.Parallel()
	const text, shown = "a\u202eb\x1b[31m\n", "a⟨U+202E⟩b⟨U+001B⟩[31m\n"
	for kind, want := range map[string]string{
		typeText: shown, typeHTML: shown, typeMarkdown: shown, typeDot: shown,
		typeXYAML: text, typeJSON: text, typePatch: text, typeZip: text,
	} {
		recorder := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
		newAnswerWriter(0, time.Minute).deliver(recorder, r, http.StatusOK, kind, []byte(text))
		if got := recorder.Body.String(); got != want {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
}

// The work of writing an answer counts in the budget of its request, and one that exceeds it is refused.
func TestWriter_Write_budget(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		method string
		spent  int
		status int
	}{
		"within":           {http.MethodGet, 0, http.StatusOK},
		"beyond":           {http.MethodGet, 2 * budget.Second, http.StatusRequestEntityTooLarge},
		"beyond, a change": {http.MethodPut, 2 * budget.Second, http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, end := budget.NewPool(1, time.Minute).Begin(t.Context())
			defer end()
			if err := budget.NewMeter(ctx).Spend(c.spent); err != nil {
				t.Fatal(err)
			}
			before, _ := budget.From(ctx).Spent()
			recorder := httptest.NewRecorder()
			r := httptest.NewRequestWithContext(ctx, c.method, "/", http.NoBody)
			const bytes = 1 << 20
			newAnswerWriter(0, time.Minute).write(recorder, r, http.StatusOK, strings.Repeat("x", bytes))
			after, _ := budget.From(ctx).Spent()
			if counted := c.method == http.MethodGet; recorder.Code != c.status || counted != (after-before > bytes) {
				t.Errorf("%d, and %d steps were counted", recorder.Code, after-before)
			}
		})
	}
}
