package webhooks

import (
	"strings"
	"testing"

	"purser/internal/document"
	"purser/internal/fault"
)

func TestParseSpec_longURL(t *testing.T) {
	t.Parallel()
	longest := "https://a.example/" + strings.Repeat("x", maxURL-len("https://a.example/"))
	if _, err := ParseSpec(document.Mapping{{Key: "url", Value: longest}}); err != nil {
		t.Errorf("the longest URL: %v", err)
	}
	if _, err := ParseSpec(document.Mapping{{Key: "url", Value: longest + "x"}}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a longer URL: %v", err)
	}
}
