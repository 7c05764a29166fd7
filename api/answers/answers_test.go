package answers

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"purser/api/mediatype"
)

// Texts for people are printable, whoever makes them. Data are sent as they are.
func TestWriter_Deliver(t *testing.T) {
	t.Parallel()
	const text, shown = "a\u202eb\x1b[31m\n", "a⟨U+202E⟩b⟨U+001B⟩[31m\n"
	for kind, want := range map[string]string{
		mediatype.Text: shown, mediatype.HTML: shown, mediatype.Markdown: shown, mediatype.Graph: shown,
		mediatype.XYAML: text, mediatype.JSON: text, mediatype.Patch: text, mediatype.Zip: text,
	} {
		recorder := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
		NewWriter(0, time.Minute).Deliver(recorder, r, http.StatusOK, kind, []byte(text))
		if got := recorder.Body.String(); got != want {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
}
