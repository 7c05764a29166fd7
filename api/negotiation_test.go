package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/test/contract"
)

// JSON and YAML say the same.
func TestNegotiation_sameDocuments(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "mop", widget("w1", "{x: 1}"))
	want := s.get(t, "revisions/1/documents").documents(t)
	got := s.get(t, "revisions/1/documents", "Accept", typeJSON).documents(t)
	for _, list := range [][]map[string]any{got, want} {
		text, _ := contract.Plain(list[0])
		list[0], _ = text.(map[string]any)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-YAML +JSON):\n%s", diff)
	}
}

func TestNegotiation_emptyJSONIsAnArray(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	if got := s.do(t, http.MethodPut, "buckets/mop/documents", "", "Accept", typeJSON); strings.TrimSpace(got.text) != "[]" {
		t.Errorf("nothing written: %q, want []", got.text)
	}
	s.put(t, "mop", widget("w1", "{}"))
	got := s.do(t, http.MethodPut, "buckets/mop/documents", "", "Accept", typeJSON).documents(t)
	want := []map[string]any{{"status": map[string]any{"bucket": "mop", "revision": 2.0}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("all deleted (-want +got):\n%s", diff)
	}
}

//nolint:paralleltest,tparallel // one after the other, on one site
func TestRequests_mediaType(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	yamlText := widget("w1", "{x: 1}")
	jsonText := `{"schema": "acme/Widget/v1", "metadata": {"schema": "metadata/Document/v1", "name": "j%", ` +
		`"storagePolicy": "cleartext", "layeringDefinition": {"layer": "site"}}, "data": {"x": 1e3}}`
	named := func(name string) string { return strings.Replace(jsonText, "j%", name, 1) }
	for name, c := range map[string]struct {
		header []string
		body   string
		want   []string
	}{
		"x-yaml":         {inYAML, yamlText, []string{"w1"}},
		"yaml":           {[]string{"Content-Type", typeYAML}, yamlText, []string{"w1"}},
		"parameters":     {[]string{"Content-Type", "application/x-yaml; charset=utf-8"}, yamlText, []string{"w1"}},
		"letter case":    {[]string{"Content-Type", "Application/X-YAML"}, yamlText, []string{"w1"}},
		"JSON array":     {[]string{"Content-Type", typeJSON}, "[" + named("j1") + "," + named("j2") + "]", []string{"j1", "j2"}},
		"JSON object":    {[]string{"Content-Type", typeJSON}, named("j1"), []string{"j1"}},
		"JSON as YAML":   {inYAML, named("j1"), []string{"j1"}},
		"empty array":    {[]string{"Content-Type", typeJSON}, "[]", []string{}},
		"no body at all": {nil, "", []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			got := s.do(t, http.MethodPut, "buckets/b/documents", c.body, c.header...).is(t, http.StatusOK)
			var list []string
			for _, name := range names(got.documents(t)) {
				list = append(list, strings.TrimSuffix(name, "@1"))
			}
			if diff := cmp.Diff(c.want, append([]string{}, list...)); diff != "" {
				t.Errorf("documents (-want +got):\n%s", diff)
			}
		})
	}
	for name, c := range map[string]struct {
		kind      string
		status    int
		errorType string
		help      string
	}{
		"none":           {"", http.StatusBadRequest, "HTTPMissingHeader", "The Content-Type header is required."},
		"text":           {"text/yaml", http.StatusUnsupportedMediaType, "HTTPUnsupportedMediaType", "Unexpected content type: text/yaml. Expected content types are:"},
		"form":           {"application/x-www-form-urlencoded", http.StatusUnsupportedMediaType, "HTTPUnsupportedMediaType", typeXYAML},
		"nonsense":       {"///", http.StatusUnsupportedMediaType, "HTTPUnsupportedMediaType", "///"},
		"curl -d":        {"application/x-www-form-urlencoded", http.StatusUnsupportedMediaType, "HTTPUnsupportedMediaType", "curl -d sends that"},
		"with parameter": {"text/yaml; charset=x", http.StatusUnsupportedMediaType, "HTTPUnsupportedMediaType", "Unexpected content type: text/yaml; charset=x."},
	} {
		t.Run("refused "+name, func(t *testing.T) {
			for _, path := range []string{"buckets/b/documents", "revisions/1/validations/a-validation", "nowhere"} {
				var header []string
				if c.kind != "" {
					header = []string{"Content-Type", c.kind}
				}
				method := http.MethodPost
				if strings.HasPrefix(path, "buckets") {
					method = http.MethodPut
				}
				s.do(t, method, path, yamlText, header...).
					isFault(t, c.status, c.errorType, c.help)
			}
			s.isRevision(t, 0)
		})
	}
}

// The same bytes have different meanings in YAML 1.1 and JSON.
func TestRequests_mediaTypeDecidesMeaning(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	text := `{"schema": "acme/Widget/v1", "metadata": {"schema": "metadata/Control/v1", "name": "w"}, "data": {"x": 1e3}}`
	for kind, want := range map[string]any{typeXYAML: "1e3", typeJSON: 1000.0} {
		for range 2 {
			s.do(t, http.MethodPut, "buckets/b/documents", text, "Content-Type", kind).is(t, http.StatusOK)
		}
		got := s.get(t, "revisions/latest/documents").documents(t)
		if diff := cmp.Diff(map[string]any{"x": want}, got[0]["data"]); diff != "" {
			t.Errorf("data read as %s (-want +got):\n%s", kind, diff)
		}
	}
}

//nolint:paralleltest,tparallel // one after the other, on one site
func TestRoutes(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "mop", widget("w1", "{}")+layeringPolicy("lp"))
	t.Run("one trailing slash is ignored", func(t *testing.T) {
		for _, path := range []string{
			"revisions/", "revisions/1/", "revisions/1/documents/", "revisions/1/rendered-documents/", "revisions/1/status/", "revisions/1/validations/",
			"revisions/1/tags/", "revisions/1/diff/1/", "revisions/0/deepdiff/1/",
			"revisions/1/validations/detail/", "revisions/1/validations/a/", "/versions/",
			"revisions/1/validations/deckhand-schema-validation/entries/0/",
		} {
			s.get(t, path).is(t, http.StatusOK)
		}
		s.get(t, "health/").is(t, http.StatusNoContent)
		s.get(t, "revisions//").isFault(t, http.StatusNotFound, "HTTPRouteNotFound")
	})
	t.Run("unknown paths", func(t *testing.T) {
		for _, path := range []string{
			"/api", "/api/v1.0", "/api/v2.0/revisions", "nowhere", "buckets/b", "revisions/1/nothing",
			"revisions/1/validations/a/entries", "rollback", "rollback/1/2", "changesets/a", "revisions/1/diff",
			"revisions/1/deepdiff/", "revisions/1/tags/a/b", "/%2e%2e/versions",
		} {
			got := s.get(t, path)
			got.isFault(t, http.StatusNotFound, "HTTPRouteNotFound")
			if message := got.mapping(t)["message"]; message != nil {
				t.Errorf("%s: message %v, want null", path, message)
			}
		}
	})
	t.Run("the version is the path's", func(t *testing.T) {
		for path, want := range map[string]string{"nowhere": "v1.0", "/nowhere": "N/A", "/api/v7.5/x": "v7.5"} {
			if diff := cmp.Diff(want, s.get(t, path).mapping(t)["apiVersion"]); diff != "" {
				t.Errorf("apiVersion of %s (-want +got):\n%s", path, diff)
			}
		}
	})
}

//nolint:paralleltest,tparallel // one after the other, on one site
func TestRoutes_methods(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "mop", widget("w1", "{}"))
	for path, known := range map[string]string{
		"/versions":                           "GET, OPTIONS",
		"health":                              "GET, OPTIONS",
		"buckets/b/documents":                 "OPTIONS, PUT",
		"changesets":                          "OPTIONS, PUT",
		"rollback/1":                          "OPTIONS, POST",
		"revisions":                           "DELETE, GET, OPTIONS",
		"revisions/prune":                     "OPTIONS, POST",
		"revisions/1":                         "GET, OPTIONS",
		"revisions/1/documents":               "GET, OPTIONS",
		"revisions/1/rendered-documents":      "GET, OPTIONS",
		"revisions/1/diff/1":                  "GET, OPTIONS",
		"revisions/1/deepdiff/1":              "GET, OPTIONS",
		"revisions/1/tags":                    "DELETE, GET, OPTIONS",
		"revisions/1/tags/a":                  "DELETE, GET, OPTIONS, POST",
		"revisions/1/status":                  "GET, OPTIONS",
		"revisions/1/validations":             "GET, OPTIONS",
		"revisions/1/validations/detail":      "GET, OPTIONS",
		"revisions/1/validations/a":           "GET, OPTIONS, POST",
		"revisions/1/validations/a/entries/0": "GET, OPTIONS",
	} {
		t.Run(strings.ReplaceAll(path, "/", "-"), func(t *testing.T) {
			methods := []string{"PUT", "POST", "DELETE", "PATCH", "TRACE", "OPTIONS"}
			allowed := strings.Split(known, ", ")
			if slices.Contains(allowed, "GET") {
				s.do(t, "HEAD", path, "")
			} else {
				methods = append(methods, "GET", "HEAD")
			}
			for _, method := range methods {
				if slices.Contains(allowed, method) && method != "OPTIONS" {
					continue
				}
				got := s.do(t, method, path, "")
				if diff := cmp.Diff(known, got.Header.Get("Allow")); diff != "" {
					t.Errorf("%s: Allow (-want +got):\n%s", method, diff)
				}
				switch method {
				case "OPTIONS":
					got.is(t, http.StatusOK)
				case "HEAD":
					got.is(t, http.StatusMethodNotAllowed)
				default:
					got.isFault(t, http.StatusMethodNotAllowed, "HTTPMethodNotAllowed")
				}
			}
		})
	}
}

func TestRoutes_inventedMethod(t *testing.T) {
	t.Parallel()
	got := newSite(t).send(t, request{method: "BREW", path: "revisions"})
	if diff := cmp.Diff("DELETE, GET, OPTIONS", got.Header.Get("Allow")); diff != "" {
		t.Errorf("Allow (-want +got):\n%s", diff)
	}
	got.isFault(t, http.StatusMethodNotAllowed, "HTTPMethodNotAllowed")
}
