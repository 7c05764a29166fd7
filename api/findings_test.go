package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// One request returns all findings, the worst first. All formats of the status include failures that do not count.
func TestFindings(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "site", layeringPolicy("lp")+sizes()+widget("w1", "{size: 177}")+widget("w2", "{size: 188}")+
		docWith("acme/Gadget/v1", "g", "{}", substitution(".x"))).is(t, http.StatusOK)
	tooLarge := func(name string, size int) string {
		return fmt.Sprintf("[acme/Widget/v1, site] %s .data.size: %d is greater than the maximum of 100 (bucket site)", name, size)
	}
	const missing = "[acme/Gadget/v1, site] g .metadata.substitutions.0.src: Required substitution source document [acme/Secret/v1] s was not found, yet " +
		"is referenced by [acme/Gadget/v1] g"
	const uncovered = "[acme/Gadget/v1, site] g: No DataSchema is named acme/Gadget/v1 (1 document; did you mean acme/Widget/v1?) (warning)"
	lines := func(path string) []string {
		t.Helper()
		text := s.get(t, path, "Accept", "text/plain").is(t, http.StatusOK).text
		return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	}
	all := []string{missing, tooLarge("w1", 177), tooLarge("w2", 188)}
	for query, want := range map[string][]string{
		"": append(slices.Clip(all), uncovered), "?level=error": all, "?level=warning": {uncovered}, "?limit=1": {all[0], "and 3 more"},
		"?validation=deckhand-schema-validation": all[1:], "?document=w2": all[2:], "?document=acme/Widget/v1/site/w1": all[1:2],
	} {
		if diff := cmp.Diff(want, lines("revisions/1/findings"+query)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", query, diff)
		}
	}
	first, _ := s.get(t, "revisions/1/findings?document=w1").is(t, http.StatusOK).mapping(t)["findings"].([]any)
	want := []any{map[string]any{
		"level": "error", "validation": own, "path": ".data.size", "rule": ".properties.size.maximum", "value": 177,
		"document": map[string]any{"schema": "acme/Widget/v1", "layer": "site", "name": "w1", "bucket": "site"},
		"message":  "177 is greater than the maximum of 100", "advice": "use a number that the schema allows",
	}}
	if diff := cmp.Diff(want, first); diff != "" {
		t.Errorf("finding (-want +got)\n%s", diff)
	}
	s.put(t, "policy", policy("ready", "a-validation")).is(t, http.StatusOK)
	s.report(t, 2, "a-validation", "success")
	status := lines("revisions/2/status")
	ignored := []string{
		"success (ignored: " + own + " fails for 2 documents)",
		"warning: 1 document has no DataSchema: acme/Gadget/v1 (1; did you mean acme/Widget/v1?)", tooLarge("w1", 177) + " (warning)", tooLarge("w2", 188) + " (warning)",
	}
	if diff := cmp.Diff(ignored, status); diff != "" {
		t.Errorf("status (-want +got)\n%s", diff)
	}
	s.get(t, "revisions/2/findings?level=bad").
		isFault(t, http.StatusBadRequest, "HTTPInvalidParam", "error, warning or info")
	s.get(t, "revisions/9/findings").isFault(t, http.StatusNotFound, "RevisionNotFound")
}
