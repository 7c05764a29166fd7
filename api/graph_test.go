package api_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	typeGraphviz = "text/vnd.graphviz"
	typeSVG      = "image/svg+xml"
)

// edges returns the edges of a graph, with the names of documents.
func (r response) edges(t *testing.T) []string {
	t.Helper()
	graph := r.is(t, http.StatusOK).mapping(t)
	nodes, _ := graph["nodes"].([]any)
	name := func(id any) string {
		node, _ := nodes[int(number(id))].(map[string]any)
		if node["missing"] != nil {
			return fmt.Sprint("missing ", node["missing"], ":", node["name"])
		}
		return fmt.Sprint(node["layer"], ":", node["name"])
	}
	var edges []string
	list, _ := graph["edges"].([]any)
	for _, item := range list {
		e, _ := item.(map[string]any)
		words := []string{name(e["from"]), fmt.Sprint(e["kind"]), name(e["to"])}
		for _, mark := range []string{"cyclic", "doubtful"} {
			if e[mark] == true {
				words = append(words, mark)
			}
		}
		edges = append(edges, strings.Join(words, " "))
	}
	slices.Sort(edges)
	return edges
}

// number returns a number of JSON or YAML.
func number(value any) float64 {
	if n, ok := value.(int); ok {
		return float64(n)
	}
	n, _ := value.(float64)
	return n
}

// problems returns the names of the documents with problems in a graph.
func (r response) problems(t *testing.T) (names []string) {
	t.Helper()
	list, _ := r.mapping(t)["problems"].([]any)
	for _, item := range list {
		problem, _ := item.(map[string]any)
		names = append(names, fmt.Sprint(problem["name"]))
	}
	return names
}

// isXML checks that text is well-formed XML, and returns its character data.
func isXML(t *testing.T, text string) string {
	t.Helper()
	var said strings.Builder
	for decoder := xml.NewDecoder(strings.NewReader(text)); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return said.String()
		}
		if err != nil {
			t.Fatalf("not well-formed: %v\n%s", err, brief(text))
		}
		if data, ok := token.(xml.CharData); ok {
			said.Write(data)
		}
	}
}

func needGraphviz(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("dot"); err != nil {
		t.Skip("Graphviz is missing: apt-get install graphviz")
	}
}

// isGraphviz checks that Graphviz accepts text.
func isGraphviz(t *testing.T, text string) {
	t.Helper()
	needGraphviz(t)
	command := exec.CommandContext(t.Context(), "dot", "-Tcanon")
	command.Stdin = strings.NewReader(text)
	if out, err := command.CombinedOutput(); err != nil {
		t.Errorf("dot -Tcanon: %v\n%s", err, brief(string(out)))
	}
}

func TestGraph(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		documents       string
		edges, problems []string
	}{
		"nothing": {layeringPolicy("lp"), nil, nil},
		"whole": {
			layeringPolicy("lp") + abstract(docWith("acme/Chart/v1", "base", "{}", labelled("k: base"))) +
				under("k: base", "site", docWith("acme/Chart/v1", "c", "{}", substitutes(from("s", ".v", "{path: .v}"))), "merge .") + secret("s", "{v: 1}"),
			[]string{"site:c parent global:base", "site:c substitution site:s"},
			nil,
		},
		"missing": {
			layeringPolicy("lp") + under("k: base", "site", docWith("acme/Chart/v1", "c", "{}", substitutes(from("s", ".v", "{path: .v}"))), "merge ."),
			[]string{"site:c parent missing parent:<nil>", "site:c substitution missing source:s"},
			[]string{"DocumentParentNotFound", "SubstitutionSourceNotFound"},
		},
		"cycle": {
			ring(3),
			[]string{"site:w0 substitution site:w2 cyclic", "site:w1 substitution site:w0 cyclic", "site:w2 substitution site:w1 cyclic"},
			[]string{"SubstitutionDependencyCycle"},
		},
		"several parents": {
			crossed(2),
			[]string{"site:c0 parent global:p0 doubtful", "site:c0 parent global:p1 doubtful", "site:c1 parent global:p0 doubtful", "site:c1 parent global:p1 doubtful"},
			[]string{"IndeterminateDocumentParent", "IndeterminateDocumentParent"},
		},
		"no policy": {
			abstract(docWith("acme/Chart/v1", "base", "{}", labelled("k: base"))) + under("k: base", "site", doc("acme/Chart/v1", "c", "{}"), "merge ."),
			[]string{"site:c parent global:base doubtful"},
			[]string{"LayeringPolicyNotFound"},
		},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.put(t, "a", c.documents).is(t, http.StatusOK)
			for _, kind := range []string{typeXYAML, typeJSON} {
				got := s.get(t, "revisions/1/graph", "Accept", kind)
				if diff := cmp.Diff(c.edges, got.edges(t)); diff != "" {
					t.Errorf("edges (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(c.problems, got.problems(t)); diff != "" {
					t.Errorf("problems (-want +got):\n%s", diff)
				}
			}
			isGraphviz(t, s.get(t, "revisions/1/graph", "Accept", typeGraphviz).is(t, http.StatusOK).text)
			isXML(t, s.get(t, "revisions/1/graph", "Accept", typeSVG).is(t, http.StatusOK).text)
		})
	}
}

// A revision without a LayeringPolicy uses that of an earlier revision, as in rendering.
func TestGraph_policyFallback(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "policies", layeringPolicy("lp")).is(t, http.StatusOK)
	s.put(t, "a", abstract(docWith("acme/Chart/v1", "base", "{}", labelled("k: base")))+
		under("k: base", "site", doc("acme/Chart/v1", "c", "{}"), "merge .")).is(t, http.StatusOK)
	s.put(t, "policies", "").is(t, http.StatusOK)
	want := []string{"site:c parent global:base"}
	if diff := cmp.Diff(want, s.get(t, "revisions/latest/graph").edges(t)); diff != "" {
		t.Errorf("edges (-want +got):\n%s", diff)
	}
}

func TestGraph_focus(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "a", growing(6, 1, "{}")).is(t, http.StatusOK)
	for path, want := range map[string]int{
		"focus=acme/Widget/v1/w3": 4, "focus=acme/Widget/v1/w3&depth=1": 2, "focus=acme/Widget/v1/w3/site&depth=0": 0,
		"focus=acme/Widget/v1/w0&depth=99999999999": 6, "depth=1": 6,
	} {
		if edges := s.get(t, "revisions/1/graph?"+path).edges(t); len(edges) != want {
			t.Errorf("%s: %d edges, want %d: %v", path, len(edges), want, edges)
		}
	}
	s.get(t, "revisions/1/graph?focus=acme/Widget/v1/lost").isFault(t, http.StatusNotFound, "DocumentNotFound", "acme/Widget/v1/lost")
	s.get(t, "revisions/2/graph?focus=acme/Widget/v1/w3").isFault(t, http.StatusNotFound, "RevisionNotFound", "revision=2")
	for _, query := range []string{"depth=x", "depth=-1", "depth=", "depth=1&depth=2", "format=png", "focus=a&focus=b", "focus=%ff"} {
		parameter, _, _ := strings.Cut(query, "=")
		s.get(t, "revisions/1/graph?"+query).
			isFault(t, http.StatusBadRequest, "HTTPInvalidParam", parameter)
	}
}

func TestGraph_forms(t *testing.T) {
	t.Parallel()
	needGraphviz(t)
	s := newSite(t)
	s.fillSite(t)
	for format, kind := range map[string]string{
		"json": typeJSON, "yaml": typeXYAML, "dot": typeGraphviz + "; charset=utf-8", "svg": typeSVG,
	} {
		for _, got := range []response{
			s.get(t, "revisions/latest/graph?format="+format, "Accept", "text/plain"),
			s.get(t, "revisions/latest/graph", "Accept", "text/html, "+kind),
		} {
			if diff := cmp.Diff(kind, got.is(t, http.StatusOK).Header.Get("Content-Type")); diff != "" {
				t.Errorf("%s (-want +got):\n%s", format, diff)
			}
			if got.Header.Get("Vary") != "Accept, Accept-Encoding" {
				t.Errorf("%s: Vary is %q", format, got.Header.Get("Vary"))
			}
			again := s.get(t, got.path, "Accept", got.Request.Header.Get("Accept"), "If-None-Match", got.Header.Get("ETag"))
			if again.is(t, http.StatusNotModified).Header.Get("ETag") != got.Header.Get("ETag") {
				t.Errorf("%s: another ETag with 304", format)
			}
		}
	}
	svg := s.get(t, "revisions/latest/graph?format=svg").text
	if said := isXML(t, svg); !strings.Contains(said, "regional") || strings.Contains(svg, "weak") {
		t.Errorf("the picture lacks a document or tells data: %s", brief(said))
	}
}

func TestGraph_hostileNames(t *testing.T) {
	t.Parallel()
	needGraphviz(t)
	s := newSite(t)
	names := []string{`"><script>alert(1)</script>`, `\N\G`, `</table>>]`, `&amp;`, `a b`, "ü€"}
	documents := []string{layeringPolicy("lp")}
	for i, name := range names {
		quoted := "'" + name + "'"
		source := from("'"+names[(i+1)%len(names)]+"'", ".v", "{path: .p"+strconv.Itoa(i)+"}")
		documents = append(documents, docWith("acme/Secret/v1", quoted, "{}", substitutes(source)))
	}
	s.put(t, "a", strings.Join(documents, "")).is(t, http.StatusOK)
	isGraphviz(t, s.get(t, "revisions/1/graph?format=dot").is(t, http.StatusOK).text)
	svg := s.get(t, "revisions/1/graph?format=svg").is(t, http.StatusOK)
	said := isXML(t, svg.text)
	for _, name := range names {
		if !strings.Contains(said, name) {
			t.Errorf("%q is not in the picture", name)
		}
	}
	if strings.Contains(svg.text, "<script") || svg.Header.Get("Content-Security-Policy") == "" {
		t.Error("a name may become a script")
	}
}
