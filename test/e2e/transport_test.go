package e2e_test

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"testing"

	"purser/test/contract"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
)

const (
	typeXYAML = "application/x-yaml"
	typeYAML  = "application/yaml"
	typeJSON  = "application/json"
)

//nolint:paralleltest,tparallel // one after the other, so that the server is free soon
func TestAnswers_mediaType(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.put(t, "mop", widget("w1", "{x: 1}"))
	want := s.get(t, "revisions/1/documents").documents(t)
	for accept, kind := range map[string]string{
		"":                                    typeXYAML,
		"*/*":                                 typeXYAML,
		typeXYAML:                             typeXYAML,
		typeYAML:                              typeYAML,
		typeJSON:                              typeJSON,
		"application/json, */*":               typeJSON,
		"text/html":                           typeXYAML,
		"application/json;q=0.5, " + typeYAML: typeYAML,
		"text/plain, application/json;q=0.1":  typeJSON,
	} {
		t.Run(strings.NewReplacer("/", "-", " ", "").Replace(accept), func(t *testing.T) {
			for _, path := range []string{"revisions/1/documents", "revisions", "revisions/7", "/versions", "/nowhere"} {
				header := []string{"Accept", accept}
				if accept == "" {
					header = nil
				}
				got := s.get(t, path, header...)
				if diff := cmp.Diff(kind, got.got.Get("Content-Type")); diff != "" {
					t.Errorf("media type of %s (-want +got):\n%s", path, diff)
				}
			}
		})
	}
	t.Run("JSON says the same", func(t *testing.T) {
		got := s.get(t, "revisions/1/documents", "Accept", typeJSON).documents(t)
		for _, list := range [][]map[string]any{got, want} {
			text, _ := contract.Plain(list[0])
			list[0], _ = text.(map[string]any)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-YAML +JSON):\n%s", diff)
		}
	})
}

func TestAnswers_emptyJSONIsAnArray(t *testing.T) {
	t.Parallel()
	s := start(t)
	if got := s.send(t, request{
		method: http.MethodPut, path: "buckets/mop/documents", header: map[string]string{"Accept": typeJSON},
	}); strings.TrimSpace(got.text) != "[]" {
		t.Errorf("nothing written: %q, want []", got.text)
	}
	s.put(t, "mop", widget("w1", "{}"))
	got := s.send(t, request{
		method: http.MethodPut, path: "buckets/mop/documents", header: map[string]string{"Accept": typeJSON},
	}).documents(t)
	want := []map[string]any{{"status": map[string]any{"bucket": "mop", "revision": 2.0}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("all deleted (-want +got):\n%s", diff)
	}
}

//nolint:paralleltest,tparallel // one after the other, so that the server is free soon
func TestRequests_mediaType(t *testing.T) {
	t.Parallel()
	s := start(t)
	yamlText := widget("w1", "{x: 1}")
	jsonText := `{"schema": "acme/Widget/v1", "metadata": {"schema": "metadata/Document/v1", "name": "j%", ` +
		`"storagePolicy": "cleartext", "layeringDefinition": {"layer": "site"}}, "data": {"x": 1e3}}`
	named := func(name string) string { return strings.Replace(jsonText, "j%", name, 1) }
	for name, c := range map[string]struct {
		header map[string]string
		body   string
		want   []string
	}{
		"x-yaml":         {yamlBody(), yamlText, []string{"w1"}},
		"yaml":           {map[string]string{"Content-Type": typeYAML}, yamlText, []string{"w1"}},
		"parameters":     {map[string]string{"Content-Type": "application/x-yaml; charset=utf-8"}, yamlText, []string{"w1"}},
		"letter case":    {map[string]string{"Content-Type": "Application/X-YAML"}, yamlText, []string{"w1"}},
		"JSON array":     {map[string]string{"Content-Type": typeJSON}, "[" + named("j1") + "," + named("j2") + "]", []string{"j1", "j2"}},
		"JSON object":    {map[string]string{"Content-Type": typeJSON}, named("j1"), []string{"j1"}},
		"JSON as YAML":   {yamlBody(), named("j1"), []string{"j1"}},
		"empty array":    {map[string]string{"Content-Type": typeJSON}, "[]", []string{}},
		"no body at all": {nil, "", []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			got := s.send(t, request{
				method: http.MethodPut, path: "buckets/b/documents", body: c.body, header: c.header, bad: name == "letter case",
			}).is(t, http.StatusOK)
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
				header := map[string]string{}
				if c.kind != "" {
					header["Content-Type"] = c.kind
				}
				method := http.MethodPost
				if strings.HasPrefix(path, "buckets") {
					method = http.MethodPut
				}
				s.send(t, request{method: method, path: path, body: yamlText, header: header, bad: true}).
					fails(t, c.status, c.errorType, c.help)
			}
			s.isRevision(t, 0)
		})
	}
}

// The same bytes have different meanings in YAML 1.1 and JSON.
func TestRequests_mediaTypeDecidesMeaning(t *testing.T) {
	t.Parallel()
	s := start(t)
	text := `{"schema": "acme/Widget/v1", "metadata": {"schema": "metadata/Control/v1", "name": "w"}, "data": {"x": 1e3}}`
	for kind, want := range map[string]any{typeXYAML: "1e3", typeJSON: 1000.0} {
		for range 2 {
			s.send(t, request{
				method: http.MethodPut, path: "buckets/b/documents", body: text, header: map[string]string{"Content-Type": kind},
			}).is(t, http.StatusOK)
		}
		got := s.get(t, "revisions/latest/documents").documents(t)
		if diff := cmp.Diff(map[string]any{"x": want}, got[0]["data"]); diff != "" {
			t.Errorf("data read as %s (-want +got):\n%s", kind, diff)
		}
	}
}

func TestRequests_gzip(t *testing.T) {
	t.Parallel()
	s := start(t)
	zipped := func(encoding, body string) request {
		return request{
			method: http.MethodPut, path: "buckets/b/documents", body: body, bad: true,
			header: map[string]string{"Content-Type": typeXYAML, "Content-Encoding": encoding},
		}
	}
	s.send(t, zipped("gzip", gzipped(t, widget("w1", "{}")))).isNames(t, "w1@1")
	s.send(t, zipped("identity", widget("w1", "{}"))).isNames(t, "w1@1")
	s.send(t, zipped("gzip", "no gzip")).fails(t, http.StatusBadRequest, "HTTPBadRequest", "gzip")
	whole := gzipped(t, widget("w1", "{x: 1}"))
	s.send(t, zipped("gzip", whole[:len(whole)-9])).fails(t, http.StatusBadRequest, "HTTPBadRequest", "ended early")
	s.send(t, zipped("br", "x")).fails(t, http.StatusUnsupportedMediaType, "HTTPUnsupportedMediaType", "br", "gzip")
	s.isRevision(t, 1)
}

func gzipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestAnswers_headers(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, path := range []string{"revisions", "revisions/7", "/nowhere", "/versions"} {
		got := s.get(t, path, "X-Context-Marker", "deploy-42", "X-End-User", "alice")
		marks := []string{got.got.Get("X-Context-Marker"), got.got.Get("X-End-User")}
		if diff := cmp.Diff([]string{"deploy-42", "alice"}, marks); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
		if got = s.get(t, path); got.got.Get("X-Context-Marker")+got.got.Get("X-End-User") != "" {
			t.Errorf("%s gives back what was not sent", path)
		}
		id := got.got.Get("X-Deckhand-Req")
		eventually(t, "the log knows the request id "+id, func() bool { return strings.Contains(s.log.text(), id+`"`) })
		if again := s.get(t, path).got.Get("X-Deckhand-Req"); again == id {
			t.Errorf("%s: two requests have the same id", path)
		}
	}
	health := s.get(t, "health", "X-End-User", "alice").is(t, http.StatusNoContent)
	for _, name := range []string{"X-Deckhand-Req", "X-End-User", "Content-Type"} {
		if health.got.Get(name) != "" {
			t.Errorf("the health check answers with %s", name)
		}
	}
	if strings.Contains(s.log.text(), "/api/v1.0/health") {
		t.Error("the health check is logged")
	}
}

//nolint:paralleltest,tparallel // one after the other, so that the server is free soon
func TestRoutes(t *testing.T) {
	t.Parallel()
	s := start(t)
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
		s.get(t, "revisions//").fails(t, http.StatusNotFound, "HTTPRouteNotFound")
	})
	t.Run("unknown paths", func(t *testing.T) {
		for _, path := range []string{
			"/api", "/api/v1.0", "/api/v2.0/revisions", "nowhere", "buckets/b", "revisions/1/nothing",
			"revisions/1/validations/a/entries", "rollback", "rollback/1/2", "changesets/a", "revisions/1/diff",
			"revisions/1/deepdiff/", "revisions/1/tags/a/b", "/%2e%2e/versions",
		} {
			got := s.get(t, path)
			got.fails(t, http.StatusNotFound, "HTTPRouteNotFound")
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

//nolint:paralleltest,tparallel // one after the other, so that the server is free soon
func TestRoutes_methods(t *testing.T) {
	t.Parallel()
	s := start(t)
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
				s.send(t, request{method: "HEAD", path: path, bad: true})
			} else {
				methods = append(methods, "GET", "HEAD")
			}
			for _, method := range methods {
				if slices.Contains(allowed, method) && method != "OPTIONS" {
					continue
				}
				got := s.send(t, request{method: method, path: path, bad: true})
				if diff := cmp.Diff(known, got.got.Get("Allow")); diff != "" {
					t.Errorf("%s: Allow (-want +got):\n%s", method, diff)
				}
				switch method {
				case "OPTIONS":
					got.is(t, http.StatusOK)
				case "HEAD":
					got.is(t, http.StatusMethodNotAllowed)
				default:
					got.fails(t, http.StatusMethodNotAllowed, "HTTPMethodNotAllowed")
				}
			}
		})
	}
}

func TestRoutes_inventedMethod(t *testing.T) {
	t.Parallel()
	got := start(t).send(t, request{method: "BREW", path: "revisions", bad: true})
	if diff := cmp.Diff("DELETE, GET, OPTIONS", got.got.Get("Allow")); diff != "" {
		t.Errorf("Allow (-want +got):\n%s", diff)
	}
	got.fails(t, http.StatusMethodNotAllowed, "HTTPMethodNotAllowed")
}

func TestRoutes_headIsGetWithoutBody(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.put(t, "mop", widget("w1", "{}")+layeringPolicy("lp"))
	for path, status := range map[string]int{
		"revisions": http.StatusOK, "revisions/1/documents": http.StatusOK, "revisions/9": http.StatusNotFound,
		"revisions/1/tags": http.StatusOK, "revisions/1/diff/0": http.StatusOK, "revisions/0/deepdiff/1": http.StatusOK,
		"revisions/1/rendered-documents": http.StatusOK, "revisions/9/rendered-documents": http.StatusNotFound,
	} {
		got := s.send(t, request{method: http.MethodHead, path: path, bad: true}).is(t, status)
		if got.text != "" {
			t.Errorf("HEAD %s has a body", path)
		}
	}
}

func TestOperation(t *testing.T) {
	t.Parallel()
	s := startFresh(t)
	want := map[string]any{"v1.0": map[string]any{"path": "/api/v1.0", "status": "stable"}}
	if diff := cmp.Diff(want, s.get(t, "/versions").mapping(t)); diff != "" {
		t.Errorf("versions (-want +got):\n%s", diff)
	}
	s.put(t, "mop", widget("w1", "{}"))
	metrics := s.get(t, "/metrics").is(t, http.StatusOK).text
	for _, part := range []string{
		`purser_http_requests_total{method="PUT",route="/api/v1.0/buckets/{bucket}/documents",status="200"} 1`,
		`purser_ingest_phase_duration_seconds_count{phase="store"} 1`, `purser_database_connections{state="idle"}`,
		`purser_http_request_duration_seconds_count{method="GET",route="/versions"} 1`, `purser_build_info{goversion="go`,
		"purser_database_up 1\n", "purser_newest_revision 1\n", `purser_newest_revision_status{status="failure"} 1`,
	} {
		if !strings.Contains(metrics, part) {
			t.Errorf("the metrics lack %s", part)
		}
	}
}
