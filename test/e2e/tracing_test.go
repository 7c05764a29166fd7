package e2e_test

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"purser/internal/store/storetest"
)

// otlp is a collector that stores the traces it receives.
type otlp struct {
	*httptest.Server

	mutex sync.Mutex
	bytes []byte
	spans []*traces.Span
}

func newCollector(t *testing.T) *otlp {
	t.Helper()
	c := &otlp{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body io.Reader = r.Body
		if r.Header.Get("Content-Encoding") == "gzip" {
			unpacked, err := gzip.NewReader(r.Body)
			if err != nil {
				t.Error(err)
				return
			}
			body = unpacked
		}
		text, err := io.ReadAll(body)
		var sent collector.ExportTraceServiceRequest
		if err != nil || r.URL.Path != "/v1/traces" || proto.Unmarshal(text, &sent) != nil {
			t.Errorf("%s is not an export of traces: %v", r.URL.Path, err)
		}
		c.mutex.Lock()
		defer c.mutex.Unlock()
		c.bytes = append(c.bytes, text...)
		for _, resource := range sent.GetResourceSpans() {
			for _, scope := range resource.GetScopeSpans() {
				c.spans = append(c.spans, scope.GetSpans()...)
			}
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	t.Cleanup(c.Close)
	return c
}

// startTraced runs a server that exports traces to an address.
func startTraced(t *testing.T, endpoint string, flags ...string) *server {
	t.Helper()
	s := beginWith(t, []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + endpoint}, program, patientClient(), append([]string{
		"serve", "--listen", "127.0.0.1:0", "--log-format", "json", "--database-url", storetest.URL(t),
	}, flags...)...)
	t.Cleanup(func() { s.stop(t) })
	s.ready(t)
	return s
}

// A PUT and its SQL are spans of the caller's trace, exported at the latest when the server stops. They contain no
// secrets and no arguments of SQL.
func TestTraces(t *testing.T) {
	t.Parallel()
	const trace, parent, secret = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7", "hunter2-hunter2"
	const reason = "told-to-the-database-as-text"
	c := newCollector(t)
	s := startTraced(t, c.URL, "--secrets-keyset", newKeyset(t))
	s.send(t, request{
		method: http.MethodPut, path: "buckets/b/documents?message=" + reason, body: passphrase("p", secret) + widget("w", "{a: "+secret+"}"),
		header: map[string]string{
			"Content-Type": "application/x-yaml", "traceparent": "00-" + trace + "-" + parent + "-01",
		},
	}).is(t, http.StatusOK)
	s.get(t, "revisions/1/documents?search="+secret).is(t, http.StatusOK)
	s.get(t, "revisions/1/rendered-documents")
	s.send(t, request{method: http.MethodGet, path: "nowhere?token=" + secret, bad: true}).is(t, http.StatusNotFound)
	if err := s.halt(); err != nil {
		t.Fatal(err)
	}

	c.mutex.Lock()
	defer c.mutex.Unlock()
	for _, text := range []string{secret, reason} {
		if bytes.Contains(c.bytes, []byte(text)) {
			t.Errorf("%q is exported", text)
		}
	}
	var put *traces.Span
	names := map[string]int{} // of the spans below that of the PUT
	for _, span := range c.spans {
		if span.GetName() == "PUT /api/v1.0/buckets/{bucket}/documents" {
			put = span
		}
	}
	if put == nil {
		t.Fatalf("no span of the PUT among %v", c.spans)
	}
	if hex.EncodeToString(put.GetTraceId()) != trace || hex.EncodeToString(put.GetParentSpanId()) != parent {
		t.Errorf("the PUT is in trace %x below %x", put.GetTraceId(), put.GetParentSpanId())
	}
	inside := [][]byte{put.GetSpanId()}
	for range c.spans { // parents are exported after their children
		for _, span := range c.spans {
			below := slices.ContainsFunc(inside, func(id []byte) bool { return bytes.Equal(id, span.GetParentSpanId()) })
			known := slices.ContainsFunc(inside, func(id []byte) bool { return bytes.Equal(id, span.GetSpanId()) })
			if below && !known {
				inside = append(inside, span.GetSpanId())
				names[span.GetName()]++
			}
		}
	}
	if names["SELECT"] == 0 || names["INSERT"] == 0 {
		t.Errorf("spans of the PUT's SQL: %v", names)
	}
	if !strings.Contains(s.log.text(), `"trace_id":"`+trace+`"`) {
		t.Error("the log does not have the trace")
	}
}

// Without a collector, requests are answered as usual, and the server stops in time.
func TestTraces_collectorAway(t *testing.T) {
	t.Parallel()
	s := startTraced(t, "http://127.0.0.1:1")
	for range 20 {
		s.put(t, "b", widget("w", "{}")).is(t, http.StatusOK)
	}
	s.get(t, "revisions/1").is(t, http.StatusOK)
}
