package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"purser/internal/store/storetest"
)

// Without Graphviz, all formats except SVG are available.
func TestGraph_withoutGraphviz(t *testing.T) {
	if _, err := program(); err != nil { // needs Go in the PATH
		t.Fatal(err)
	}
	url := storetest.URL(t) // may also need programs
	t.Setenv("PATH", t.TempDir())
	s := startOn(t, url)
	s.put(t, "a", layeringPolicy("lp")+widget("w", "{}")).is(t, http.StatusOK)
	got := s.get(t, "revisions/1/graph?format=svg")
	got.fails(t, http.StatusNotImplemented, "GraphvizMissing", "apt-get install graphviz", typeGraphviz)
	if got.got.Get("ETag") != "" {
		t.Error("an error has an ETag")
	}
	s.get(t, "revisions/1/graph?format=dot").is(t, http.StatusOK)
	s.get(t, "revisions/1/graph?format=json").is(t, http.StatusOK)
}

//nolint:paralleltest,tparallel // one after the other, for the time that each takes
func TestHostile_graph(t *testing.T) {
	t.Parallel()
	s := startLean(t)
	for name, documents := range map[string]string{
		"many documents":   layeringPolicy("lp") + manyWidgets(10_000),
		"many layers":      heavy(2_000),
		"long cycle":       ring(5_001),
		"all with all":     crossed(1_500),
		"chain of sources": growing(6_000, 1, "{}"),
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			s.send(t, request{method: http.MethodPut, path: "buckets/a/documents", body: documents, header: yamlBody(), bad: true}).is(t, http.StatusOK)
			for _, format := range []string{"json", "dot", "svg"} {
				var got answer
				s.affords(t, func() { got = s.get(t, "revisions/latest/graph?format="+format) })
				if format == "svg" {
					got.fails(t, http.StatusRequestEntityTooLarge, "HTTPPayloadTooLarge", "at most", "focus=")
				} else {
					got.is(t, http.StatusOK)
				}
			}
		})
	}
}
