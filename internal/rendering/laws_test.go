package rendering

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"purser/internal/document"
)

// anySet generates documents that often render: with parents, replacements, chains of substitutions and patterns.
// Each line is one document, as sketch reads it.
func anySet(t *rapid.T) []string {
	type made struct {
		layer int
		name  string
	}
	layers := []string{"global", "type", "site"}
	var sofar []made
	var lines []string
	data := rapid.SampledFrom([]string{
		"{a: {x: 1, y: P}, l: [1, {b: P}]}", "{a: {x: Q}, b: [P]}", "{b: 1}", "{a: {z: {w: P}}, c: {d: e}}", "{}", "text P", "{a: 5}",
	})
	for i := range rapid.IntRange(1, 9).Draw(t, "documents") {
		d := made{rapid.IntRange(0, 2).Draw(t, "layer"), fmt.Sprintf("d%d", i)}
		parts := []string{}
		above := slices.DeleteFunc(slices.Clone(sofar), func(m made) bool { return m.layer >= d.layer })
		if len(above) > 0 && rapid.IntRange(0, 2).Draw(t, "child") > 0 {
			parent := rapid.SampledFrom(above).Draw(t, "parent")
			parts = append(parts, fmt.Sprintf("parent {id: %d-%s} | %s", parent.layer, parent.name,
				rapid.SampledFrom([]string{"merge .", "merge . | merge .", "replace .", "merge .a", "delete .", "merge . | delete .a"}).Draw(t, "actions")))
			if rapid.IntRange(0, 2).Draw(t, "replacement") == 0 && !slices.Contains(sofar, made{d.layer, parent.name}) {
				d.name = parent.name
				parts = append(parts, "replacement")
			}
		}
		if rapid.IntRange(0, 4).Draw(t, "abstract") == 0 {
			parts = append(parts, "abstract")
		}
		for range rapid.IntRange(0, 3).Draw(t, "substitutions") {
			if len(sofar) > 0 {
				substitution := rapid.SampledFrom([]string{
					"sub %s . > .n", "sub %s .a > .a.q", "sub %s . > .",
					"substitution {src: {name: %s, path: .}, dest: {path: ., pattern: P, recurse: {depth: -1}}}",
				}).Draw(t, "substitution")
				parts = append(parts, fmt.Sprintf(substitution, rapid.SampledFrom(sofar).Draw(t, "source").name))
			}
		}
		parts = append(parts, "data "+data.Draw(t, "data"))
		lines = append(lines, fmt.Sprintf("%s %s | labels {id: %d-%s, all: x} | %s", layers[d.layer], d.name, d.layer, d.name, strings.Join(parts, " | ")))
		sofar = append(sofar, d)
	}
	return lines
}

// dataByIdentity renders documents and returns the data of each that is returned; nil if they do not render.
func dataByIdentity(t *rapid.T, documents []*document.Document) map[string]string {
	rendered, _, err := renderAll(t.Context(), documents, Options{})
	if err != nil {
		return nil
	}
	found := map[string]string{}
	for _, r := range rendered {
		d := documents[r.Index]
		data := string(d.Data)
		if r.Computed {
			data = string(document.AppendJSON(nil, r.Data))
		}
		found[d.Identity.String()] = data
	}
	return found
}

func TestLaws(t *testing.T) {
	t.Parallel()
	succeeded, failed := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		lines := anySet(rt)
		documents := sketch(t, strings.Join(lines, "\n"))
		before := textsOf(documents)
		want := dataByIdentity(rt, documents)
		if want == nil {
			failed++
		} else {
			succeeded++
		}
		if diff := cmp.Diff(want, dataByIdentity(rt, documents)); diff != "" {
			rt.Errorf("rendered twice (-once +twice)\n%s", diff)
		}
		shuffled := rapid.Permutation(documents).Draw(rt, "order")
		if diff := cmp.Diff(want, dataByIdentity(rt, shuffled)); diff != "" {
			rt.Errorf("in another order (-want +got)\n%s", diff)
		}
		if diff := cmp.Diff(before, textsOf(documents)); diff != "" {
			rt.Errorf("the input (-before +after)\n%s", diff)
		}
		if want != nil {
			isolated(rt, documents, want)
			for i, d := range documents {
				if data, returned := want[d.Identity.String()]; returned {
					explains(rt, documents, i, data)
				}
			}
		}
	})
	if t.Logf("%d sets rendered, %d did not", succeeded, failed); succeeded*5 < failed {
		t.Error("more sets should render")
	}
}

// Documents that render without a warning fit together, so package changes need not examine them.
func TestExamine_law(t *testing.T) {
	t.Parallel()
	fit, unfit := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		lines := anySet(rt)
		for range rapid.IntRange(0, 2).Draw(rt, "broken") {
			i := rapid.IntRange(0, len(lines)-1).Draw(rt, "line")
			switch rapid.IntRange(0, 4).Draw(rt, "mistake") {
			case 0:
				lines = slices.Delete(lines, i, i+1)
			case 1:
				lines[i] += " | sub gone . > .n"
			case 2:
				lines[i] += " | sub d0 . > .m"
			case 3:
				lines[i] = "unknown" + lines[i]
			case 4:
				lines[i] += " | parent {id: none}"
			}
			if len(lines) == 0 {
				return
			}
		}
		documents := sketch(t, strings.Join(lines, "\n"))
		if rapid.IntRange(0, 5).Draw(rt, "policy") == 0 {
			documents = slices.DeleteFunc(documents, func(d *document.Document) bool { return d.Name == "policy" })
		}
		_, warnings, err := renderAll(t.Context(), documents, Options{})
		problems, examined := Examine(t.Context(), documents, Options{})
		must(rt, examined)
		if unfit += len(problems); err != nil || len(warnings) > 0 {
			return
		}
		if fit++; len(problems) > 0 {
			rt.Errorf("rendered without a warning: %v", problems[0])
		}
	})
	if fit == 0 || unfit == 0 {
		t.Errorf("%d sets fit, there are %d problems: there should be both", fit, unfit)
	}
}

func textsOf(documents []*document.Document) (texts []string) {
	for _, d := range documents {
		texts = append(texts, string(d.Metadata)+string(d.Data))
	}
	return texts
}

// isolated renders each document with only its dependencies, which must give the same result; a document without
// layering and substitutions must stay unchanged.
func isolated(t *rapid.T, documents []*document.Document, want map[string]string) {
	r := newRun(t.Context(), documents, Options{})
	order, err := r.ordered(documents)
	must(t, err)
	for _, n := range r.nodes {
		expected, returned := want[n.Identity.String()]
		if !returned {
			continue
		}
		if len(n.actions) == 0 && len(n.substitutions) == 0 && expected != string(n.document.Data) {
			t.Errorf("%s became %s", n.document.Data, expected)
		}
		needed := []*node{n}
		for before := 0; before < len(needed); { // with what they replace
			before = len(needed)
			needed = r.lineage(order, func(other *node) bool {
				return slices.ContainsFunc(needed, func(n *node) bool { return n.nameKey() == other.nameKey() })
			})
		}
		some := slices.DeleteFunc(slices.Clone(documents), func(d *document.Document) bool {
			return !slices.ContainsFunc(r.nodes, func(n *node) bool {
				return n.document == d && (n.control || slices.Contains(needed, n))
			})
		})
		got := dataByIdentity(t, some)
		if got[n.Identity.String()] != expected {
			t.Errorf("%s alone is %s, with all others %s", n.Identity, got[n.Identity.String()], expected)
		}
	}
}
