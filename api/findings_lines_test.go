package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"purser/internal/revisions"
	"purser/internal/validations"

	"github.com/google/go-cmp/cmp"
)

// A dry run has the same findings as the change, including warnings, with places in bodies of all formats.
func TestFindings_foretold(t *testing.T) {
	t.Parallel()
	body := strings.Join([]string{
		"schema: acme/Widget/v1", "metadata:", "  schema: metadata/Document/v1", "  name: w", "  storagePolicy: cleartext",
		"  layeringDefinition: {layer: site, actions: [{method: merge, path: .}],", "    parentSelector: {is: nowhere}}", "  substitutions:",
		"  - dest: {path: .t, pattern: NAME}", "    src: {schema: acme/Secret/v1, name: s, path: .v}",
		"  - dest: {path: .u}", "    src: {schema: acme/Secret/v1, name: s, path: .v, pattern: 'x(.)',", "      match_group: 1}",
		"data:", "  t: OTHER", "  u: text", "  size: 177", "",
	}, "\n")
	type place struct {
		rule, path   string
		line, column int
	}
	placesIn := func(list any) (places []place) {
		items, _ := list.([]any)
		for _, item := range items {
			finding, _ := item.(map[string]any)
			rule, _ := finding["rule"].(string)
			path, _ := finding["path"].(string)
			line, _ := finding["line"].(int)
			column, _ := finding["column"].(int)
			places = append(places, place{rule, path, line, column})
		}
		return places
	}
	for _, c := range []struct {
		policy string
		want   []place
	}{
		{policy("ready", own, rendering), []place{
			{".properties.size.maximum", ".data.size", 17, 9},
			{"SchemaNotFound", "", 0, 0}, // of another bucket
			{"DocumentParentNotFound", "", 7, 21},
			{"DocumentPatternNotFound", ".metadata.substitutions.0.dest", 9, 11},
			{"SourcePatternNotFound", ".metadata.substitutions.1.src.pattern", 12, 63},
		}},
		{policy("ready", own, fitting), []place{{"DocumentParentNotFound", "", 7, 21}, {"SchemaNotFound", "", 0, 0}}},
	} {
		s := newSite(t)
		s.put(t, "rules", layeringPolicy("lp")+sizes()+secret("s", "{v: a-value}")+c.policy).is(t, http.StatusOK)
		tried := s.send(t, put("mop", body).request("?dry-run=true&findings=true")).is(t, http.StatusOK).mapping(t)
		preview := s.send(t, put("mop", body).request("?dry-run=true")).is(t, http.StatusOK).mapping(t)
		made := s.send(t, put("mop", body).request("?findings=true")).is(t, http.StatusOK).mapping(t)
		if diff := cmp.Diff(c.want, placesIn(made["findings"]), cmp.AllowUnexported(place{})); diff != "" {
			t.Errorf("where the findings of the change are (-want +got)\n%s", diff)
		}
		if diff := cmp.Diff(tried["findings"], made["findings"]); diff != "" {
			t.Errorf("findings (-tried +made)\n%s", diff)
		}
		results, _ := preview["results"].([]any)
		result, _ := results[0].(map[string]any)
		want := []place{{"", c.want[0].path, c.want[0].line, c.want[0].column}} // warnings are listed separately
		if diff := cmp.Diff(want, placesIn(result["errors"]), cmp.AllowUnexported(place{})); diff != "" {
			t.Errorf("where the errors of the preview's result are (-want +got)\n%s", diff)
		}
	}
}

// Findings have the line and column in the body, in changes, change sets and their dry runs.
func TestFindings_lines(t *testing.T) {
	t.Parallel()
	body := strings.Join([]string{
		"# a widget", "---", "schema: acme/Widget/v1", "metadata:", "  schema: metadata/Document/v1", "  name: w1",
		"  storagePolicy: cleartext", "  layeringDefinition: {layer: site}", "data:", "  # too large", "  size: 177", "  é: {}", "---",
		"schema: acme/Gadget/v1", "metadata: {schema: metadata/Document/v1, name: g, storagePolicy: cleartext, layeringDefinition: {layer: site},",
		"  substitutions: [{dest: {path: .x}, src: {schema: acme/Secret/v1, name: s, path: .}}]}", "data: {}", "",
	}, "\n")
	inBuckets := strings.ReplaceAll(body, "\nschema: ", "\nstatus: {bucket: mop}\nschema: ")
	s := openSite(t, settings{defaults: revisions.Defaults{own, validations.PolicyValidation}})
	s.put(t, "rules", layeringPolicy("lp")+sizes()+widget("elsewhere", "{size: 101}")).is(t, http.StatusOK)
	at := func(offset int) []string {
		return []string{
			fmt.Sprintf("[acme/Gadget/v1, site] g .metadata.substitutions.0.src: Required substitution source document [acme/Secret/v1] s was not found, yet "+
				"is referenced by [acme/Gadget/v1] g (line %d, column %d)", 16+2*offset, 43),
			"[acme/Widget/v1, site] elsewhere .data.size: 101 is greater than the maximum of 100 (bucket rules)",
			fmt.Sprintf("[acme/Widget/v1, site] w1 .data.size: 177 is greater than the maximum of 100 (bucket mop) (line %d, column %d)",
				11+offset, 9),
			fmt.Sprintf("[acme/Gadget/v1, site] g: No DataSchema is named acme/Gadget/v1 (1 document; did you mean acme/Widget/v1?) "+
				"(line %d, column 9) (warning)", 14+2*offset),
		}
	}
	text := func(c change, query string) []string {
		t.Helper()
		r := c.request(query)
		r.header = append(slices.Clone(r.header), "Accept", "text/plain")
		return strings.Split(strings.TrimSuffix(s.unchecked().send(t, r).is(t, http.StatusOK).text, "\n"), "\n")
	}
	for name, c := range map[string]struct {
		change

		want []string
	}{"put": {put("mop", body), at(0)}, "change set": {set("", inBuckets), at(1)}} {
		if diff := cmp.Diff(c.want, text(c.change, "?findings=true&dry-run=true")); diff != "" {
			t.Errorf("%s, tried (-want +got)\n%s", name, diff)
		}
	}
	tried := s.send(t, put("mop", body).request("?dry-run=true&findings=true")).is(t, http.StatusOK).mapping(t)
	made := s.send(t, put("mop", body).request("?findings=true")).is(t, http.StatusOK)
	found := made.mapping(t)
	for _, key := range []string{"findings", "total", "more", "revision"} {
		if diff := cmp.Diff(tried[key], found[key]); diff != "" {
			t.Errorf("%s (-tried +made)\n%s", key, diff)
		}
	}
	last, _ := found["findings"].([]any)
	if last, _ := last[2].(map[string]any); last["line"] != 11 || last["column"] != 9 {
		t.Errorf("the last finding is %v, want it at line 11, column 9", last)
	}
	if made.Header.Get("Purser-Revision") != "2" || made.Header.Get("Purser-Status") != "failure; findings=3" {
		t.Errorf("headers %v", made.Header)
	}
	for _, item := range last { // the answer to a GET is the same without lines
		finding, _ := item.(map[string]any)
		delete(finding, "line")
		delete(finding, "column")
	}
	if diff := cmp.Diff(s.get(t, "revisions/2/findings").is(t, http.StatusOK).mapping(t), found); diff != "" {
		t.Errorf("(-GET +PUT)\n%s", diff)
	}
	for _, c := range []struct {
		change

		query string
		want  []string
	}{
		{put("mop", body), "?findings", at(0)},
		{put("mop", body), "?findings&dry-run", at(0)},
		{set("?buckets=mop", inBuckets), "?findings=true", at(1)},
	} {
		if diff := cmp.Diff(c.want, text(c.change, c.query)); diff != "" {
			t.Errorf("%s of what is there already (-want +got)\n%s", c.query, diff)
		}
	}
	s.send(t, put("mop", "").request("?findings=true")).is(t, http.StatusOK)
}

// Each document of a cycle has its line and column in the body.
func TestFindings_cycle(t *testing.T) {
	t.Parallel()
	link := func(name, needs string) string {
		return strings.Join([]string{
			"---", "schema: acme/Widget/v1", "metadata:", "  schema: metadata/Document/v1", "  name: " + name,
			"  storagePolicy: cleartext", "  layeringDefinition: {layer: site}",
			"  substitutions: [{dest: {path: .x}, src: {schema: acme/Widget/v1, name: " + needs + ", path: .x}}]", "data: {x: 1}", "",
		}, "\n")
	}
	s := openSite(t, settings{defaults: revisions.Defaults{validations.PolicyValidation}})
	s.put(t, "rules", layeringPolicy("lp")).is(t, http.StatusOK)
	r := put("site", link("w1", "w2")+link("w2", "w1")).request("?findings=true")
	r.header = append(slices.Clone(r.header), "Accept", "text/plain")
	text := s.send(t, r).is(t, http.StatusOK).text
	if !strings.Contains(text, " (line 17, column 18) ([acme/Widget/v1, site] w1: line 8, column 18)\n") {
		t.Errorf("the documents of a cycle have not their places:\n%s", text)
	}
	found, _ := s.get(t, "revisions/2/findings").is(t, http.StatusOK).mapping(t)["findings"].([]any)
	finding, _ := found[0].(map[string]any)
	want := []any{map[string]any{"schema": "acme/Widget/v1", "layer": "site", "name": "w1"}}
	if diff := cmp.Diff(want, finding["others"]); diff != "" {
		t.Errorf("others of %v (-want +got)\n%s", finding, diff)
	}
}
