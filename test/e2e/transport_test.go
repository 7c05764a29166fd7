package e2e_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
)

const (
	typeXYAML = "application/x-yaml"
	typeYAML  = "application/yaml"
	typeJSON  = "application/json"
)

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
