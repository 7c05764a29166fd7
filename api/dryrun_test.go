package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDryRun(t *testing.T) {
	t.Parallel()
	w1, w2 := widget("w1", "{size: 1}"), widget("w2", "{size: 177}")
	for name, changes := range map[string][]change{
		"PUTs": {
			put("a", ""), put("a", w1), put("a", w1), put("a", w1+w2), put("b", widget("w3", "{}")), put("a", w2), put("a", ""), put("a", ""),
			put("none", ""),
		},
		"a failing document": {put("a", sizes()), put("b", w1+w2), put("b", w1+w2), put("b", w2+w1), put("b", w1)},
		"a new DataSchema makes others fail": {
			put("a", w1+w2), put("schemas", sizes()), put("schemas", dataSchema("acme/Widget/v1", "{type: string}")),
			put("schemas", ""), put("schemas", dataSchema("acme/Widget/v1", "{required: [x]}")+widget("w4", "{x: 1}")),
		},
		"a ValidationPolicy comes and goes": {
			put("a", w2), put("p", policy("ready", own)), put("a", w2+sizes()), put("p", policy("ready", own, "a-validation")),
			put("q", policy("other", "b-validation")), put("p", ""), put("q", policy("broken", "nonsense")), put("q", ""),
		},
		"change sets": {
			set("", in("a", w1)+in("b", w2)), set("?buckets=b", in("a", w1+w2)), set("", in("a", w2)+in("b", w1+sizes())),
			set("?buckets=a,b,c", ""), set("?buckets=a", ""), set("", in("c", policy("ready", own)+w2)), set("", in("c", w2+policy("ready", own))),
		},
		"rollbacks": {
			back("0"), put("a", w1+w2), back("1"), put("b", sizes()+policy("ready", own)), put("a", ""), back("2"), back("4"), back("5"),
			set("?buckets=a,b", in("c", w1+w2+sizes())), back("latest"), back("7"), back("0"), back("8"),
		},
		"a note": {
			bad(put("a", widget("w", "{x: 1, x: 2}")+w1)), bad(put("a", widget("w", "{x: 1, x: 2, y: 3}")+w1)),
			bad(set("", in("a", widget("w", "{x: 1, x: 3}")))),
			back("1"), put("b", widget("w5", "{}")), back("2"),
		},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			s := schemasSite(t)
			for i, c := range changes {
				if s.isPredicted(t, c); t.Failed() {
					t.Fatalf("at change %d: %s %s\n%s", i+1, c.method, c.path, c.body)
				}
			}
		})
	}
}

func TestDryRun_compat(t *testing.T) {
	t.Parallel()
	s := compatSite(t)
	w1, w2 := widget("w1", "{size: 1}"), widget("w2", "{size: 177}")
	for _, c := range []change{
		put("none", ""), put("a", w1), put("a", w1), put("b", sizes()+w2), put("a", ""), put("a", ""), set("?buckets=b", in("a", w1)),
		set("", in("a", w1)), back("4"), back("2"), back("0"),
	} {
		if s.isPredicted(t, c); t.Failed() {
			t.Fatalf("at %s %s\n%s", c.method, c.path, c.body)
		}
	}
}

func TestDryRun_refusesWhatTheRealRunRefuses(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "a", widget("w1", "{}")+layeringPolicy("lp"))
	before := s.everything(t)
	for _, c := range []struct {
		change
		status int
	}{
		{put("b", widget("w1", "{}")), http.StatusConflict},
		{put("b", layeringPolicy("other")), http.StatusConflict},
		{put("b", "---\nschema: a\n"), http.StatusBadRequest},
		{put("b", "{a: "), http.StatusBadRequest},
		{put("b", sealed(widget("w2", "{x: 1}"))), http.StatusNotImplemented},
		{set("", widget("w2", "{}")), http.StatusBadRequest},
		{set("", in("b", widget("w1", "{}"))), http.StatusConflict},
		{back("7"), http.StatusNotFound},
	} {
		for _, query := range []string{"?dry-run=true", "?dry-run", "?dry-run=false"} {
			r := c.request(query)
			s.send(t, r).is(t, c.status)
		}
	}
	s.isAsBefore(t, before)
	for _, word := range []string{"maybe", "TRUE", "2", "true&dry-run=true"} {
		for _, c := range []change{put("a", widget("new", "{}")), set("?buckets=a", ""), back("0"), {method: http.MethodPost, path: "revisions/prune?keep=1"}} {
			r := c.request("?dry-run=" + word)
			s.send(t, r).isFault(t, http.StatusBadRequest, "HTTPInvalidParam", `"dry-run" parameter is invalid`)
		}
	}
	s.isAsBefore(t, before)
}

// A dry run predicts a change to the revision that is newest at that time. A later change may differ.
func TestDryRun_json(t *testing.T) {
	t.Parallel()
	s := schemasSite(t)
	got := s.unchecked().do(t, http.MethodPut, "buckets/a/documents?dry-run", widget("w1", "{}"), "Content-Type", typeXYAML, "Accept", typeJSON).is(t, http.StatusOK)
	want := map[string]any{
		"dryRun": true, "changed": true, "revision": 1.0, "status": "success", "buckets": map[string]any{"a": "created"},
		"changes": map[string]any{"added": 1.0, "modified": 0.0, "deleted": 0.0, "unchanged": 0.0},
		"documents": []any{
			map[string]any{"change": "created", "bucket": "a", "schema": "acme/Widget/v1", "layer": "site", "name": "w1"},
		},
		"findings": []any{}, "validationPolicies": []any{},
		"validations": []any{map[string]any{"name": own, "status": "success"}},
		"warnings":    []any{"1 document has no DataSchema: acme/Widget/v1 (1)"},
		"notice":      unguarded,
	}
	if diff := cmp.Diff(want, got.mapping(t)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	s.isRevision(t, 0)
}
