package puppet

import (
	"testing"

	"purser/internal/document"
)

func TestYAML_reads(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"1e-07": "1.0e-07", "1.5E+3": "1.5E+3", `"\u2028 :x"`: `"\u2028 :x"`, `["80,443"]`: `["80,443"]`} {
		if got := string(flow(parseForTest(t, in))); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

func parseForTest(t *testing.T, json string) any {
	t.Helper()
	value, err := document.ParseJSON([]byte(json))
	if err != nil {
		t.Fatal(err)
	}
	return value
}
