package api_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// A key that is not one of a document's is a warning at its line in every answer about the revision, also where the
// documents have no layers, and if nothing else of the document changes. Its value is in none of them.
func TestHandler_strayKeys(t *testing.T) {
	t.Parallel()
	const said = "The key 'datta' is not kept"
	const at = "[acme/Widget/v1, site] w .datta: " + said + ": a document has only schema, metadata and data; did you mean data? (bucket b) (line 6, column 1)"
	s := newSite(t)
	body := widget("w", "{}") + "datta: {x: Hidden}\n"
	asText := []string{"Accept", "text/plain"}
	causes := regexp.MustCompile(`"causes":\[.*\],"groups"`) // which repeat the findings
	for _, c := range []struct {
		name, want string
		answer     func() response
	}{
		{"a dry run", at, func() response { return s.put(t, "b?dry-run=true&findings=true", body, asText...) }},
		{"a dry run as JSON", `"path":".datta"`, func() response { return s.put(t, "b?dry-run=true&findings=true", body, asJSON...) }},
		{"notes of a dry run", `"notes":[{"message":"` + said, func() response { return s.put(t, "b?dry-run=true", body, asJSON...) }},
		{"a change", at, func() response { return s.put(t, "b?findings=true", body, asText...) }},
		{"the same again", at, func() response { return s.put(t, "b?findings=true", body, asText...) }},
		{"findings", `"rule":"UnknownKey"`, func() response { return s.get(t, "revisions/1/findings", asJSON...) }},
		{"warnings", `"rule":"UnknownKey"`, func() response { return s.get(t, "revisions/1/findings?level=warning", asJSON...) }},
		{"the status", "warning: [acme/Widget/v1, site] w: " + said, func() response { return s.get(t, "revisions/1/status", asText...) }},
		{"the entry", `"notes":[{"message":"` + said, func() response { return s.get(t, "revisions/1/validations/detail", asJSON...) }},
	} {
		got := c.answer().is(t, http.StatusOK)
		got.text = causes.ReplaceAllString(got.text, "")
		if strings.Count(got.text, c.want) != 1 || strings.Contains(got.text, "Hidden") {
			t.Errorf("%s: %s\nwant %s", c.name, got.text, c.want)
		}
	}
	read := s.get(t, "revisions/1/documents").is(t, http.StatusOK).text
	if strings.Contains(read, "datta") {
		t.Errorf("it is kept:\n%s", read)
	}
	if got := s.put(t, "c?findings=true", strings.ReplaceAll(read, "name: w", "name: v"), asText...).is(t, http.StatusOK); strings.Contains(got.text, "is not kept") {
		t.Errorf("the keys that the server adds are refused:\n%s", got.text)
	}
	if got := s.put(t, "b?findings=true", widget("w", "{}"), asText...).is(t, http.StatusOK); strings.Contains(got.text, "line 5") {
		t.Errorf("without the key:\n%s", got.text)
	}
	if got := s.put(t, "b?findings=true", widget("w", "{}")+"dta: {x: 1}\n", asText...).is(t, http.StatusOK); got.Header.Get("Purser-Revision") != "2" ||
		!strings.Contains(got.text, "The key 'dta' is not kept") {
		t.Errorf("a change of nothing but a key: revision %s\n%s", got.Header.Get("Purser-Revision"), got.text)
	}
}
