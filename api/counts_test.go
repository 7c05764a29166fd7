package api_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/validations"
)

// racks returns documents of which some violate a maximum: two thirds of n as one error, one third as two.
func racks(n int) (text string, findings int) {
	var b strings.Builder
	for i := range n {
		b.WriteString("---\nschema: acme/Rack/v1\nmetadata: {schema: metadata/Document/v1, name: r" + strconv.Itoa(i) +
			", storagePolicy: cleartext, layeringDefinition: {abstract: false, layer: site}}\n")
		switch {
		case i%3 > 0:
			b.WriteString("data: {rack: 99}\n")
			findings++
		default:
			b.WriteString("data: {rack: 99, slot: 98}\n")
			findings += 2
		}
	}
	return b.String(), findings
}

const rackSchema = "---\nschema: deckhand/DataSchema/v1\nmetadata: {schema: metadata/Control/v1, name: acme/Rack/v1}\n" +
	"data: {properties: {rack: {maximum: 40}, slot: {maximum: 10}}}\n" +
	"---\nschema: deckhand/LayeringPolicy/v1\nmetadata: {schema: metadata/Control/v1, name: lp}\ndata: {layerOrder: [site]}\n"

// Every answer that counts findings gives the same number, however many findings it lists.
func TestAnswers_counts(t *testing.T) {
	t.Parallel()
	const own = validations.SchemaValidation + "}, {name: "
	for _, c := range []struct {
		documents int
		policy    string
		missing   int
		atLeast   bool // the rendering validation lists only a thousand errors
	}{
		{0, "", 0, false},
		{1, "", 0, false},
		{38, "", 0, false}, // 51 findings
		{100, "", 0, false},
		{101, "", 0, false},
		{750, own + "a-validation", 1, false},
		{1001, own + "a-validation", 1, false},
		{1661, "", 0, false},
		{1661, own + validations.RenderingValidation, 0, true},
	} {
		t.Run(fmt.Sprintf("%d of %s", c.documents, c.policy), func(t *testing.T) {
			t.Parallel()
			s := schemasSite(t)
			control := rackSchema
			if c.policy != "" {
				control += gate("{name: " + c.policy + "}")
			}
			s.put(t, "control", control)
			body, count := racks(c.documents)
			body, count = body+widget("w", "{}"), count+c.missing
			plus, status := "", "success"
			if c.atLeast {
				plus = "+"
			}
			if count > 0 {
				status = "failure"
			}
			header := append([]string{"Content-Type", "application/x-yaml"}, asJSON...)
			for _, query := range []string{"?dry-run=true", "?dry-run=true&findings=true", "?findings=true", "?message=again&max-deleted=9"} {
				if query == "?message=again&max-deleted=9" {
					body += widget("another", "{}")
				}
				got := s.do(t, http.MethodPut, "buckets/site/documents"+query, body, header...)
				want := fmt.Sprintf("%s; findings=%d%s", status, count, plus)
				if c.documents > 100 && !strings.Contains(query, "findings") { // they are not read
					want = fmt.Sprintf("%s; findings=%d+", status, c.documents)
				}
				if said := got.Header.Get("Purser-Status"); said != want {
					t.Errorf("%s: %s, want %s", query, said, want)
				}
				if strings.Contains(query, "findings") {
					isCount(t, query, got.mapping(t), count, c.atLeast)
				}
			}
			for _, query := range []string{"", "?limit=1", "?limit=50", "?limit=10000"} {
				isCount(t, query, s.get(t, "revisions/latest/findings"+query, asJSON...).mapping(t), count, c.atLeast)
			}
			if got := s.get(t, "revisions/latest/findings?level=error", asJSON...).mapping(t); got["total"] != float64(count) {
				t.Errorf("%v errors, want %d", got["total"], count)
			}
			text := s.get(t, "revisions/latest/status", "Accept", "text/plain").text
			if inText := countOf(text); inText != count-c.missing {
				t.Errorf("%d findings in the status, want %d:\n%s", inText, count-c.missing, text)
			}
		})
	}
}

// isCount checks the numbers of failures in a list of findings with at most one likely mistake.
func isCount(t *testing.T, of string, got map[string]any, count int, atLeast bool) {
	t.Helper()
	causes, inCauses := got["causes"].([]any)
	sum := 0.
	for _, cause := range causes {
		group, _ := cause.(map[string]any)
		n, _ := group["findings"].(float64)
		sum += n
	}
	total, _ := got["total"].(float64)
	want := []any{float64(count), atLeast, true, total}
	if diff := cmp.Diff(want, []any{got["failures"], got["more"], inCauses, sum}); diff != "" {
		t.Errorf("%s: failures, more, causes and their sum (-want +got)\n%s", of, diff)
	}
}

var counted = regexp.MustCompile(`, and (\d+) more like it|^and (\d+) more`)

// countOf counts the findings about racks in the text of a status.
func countOf(text string) (count int) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "[acme/Rack") {
			count++
		}
		if parts := counted.FindStringSubmatch(line); parts != nil {
			n, _ := strconv.Atoi(parts[1] + parts[2])
			count += n
		}
	}
	return count
}

// The next of a page is taken as it was given, and nothing else.
func TestHandler_findingsAfter(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "a", widget("w", "{}"))
	for after, status := range map[string]int{
		"0.1000.50": http.StatusOK, "7.1.0.more": http.StatusOK, "7.1.0more": http.StatusBadRequest, "7.1.0.0": http.StatusBadRequest,
		"7.1": http.StatusBadRequest, "7.1.0.more.more": http.StatusBadRequest, "07.1.0": http.StatusBadRequest, "-7.1.0": http.StatusBadRequest,
	} {
		if got := s.get(t, "revisions/1/findings?after="+after, asJSON...); got.StatusCode != status {
			t.Errorf("%s: %s, want %d", after, got.Status, status)
		}
	}
}
