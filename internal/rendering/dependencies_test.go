package rendering

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"purser/internal/document"
	"purser/internal/fault"
)

// drawn writes a graph down: its layers, one edge a line, and its problems.
func drawn(g *Graph) string {
	lines := []string{strings.Join(g.Layers, " ") + " | " + strings.Join(g.Unordered, " ")}
	for _, e := range g.Edges {
		words := []string{called(g.Vertices[e.From]), e.Kind.String(), called(g.Vertices[e.To])}
		for _, c := range e.Copies {
			words = append(words, c.From+">"+strings.Join(c.To, ","))
		}
		if e.Cyclic {
			words = append(words, "cyclic")
		}
		if e.Doubtful {
			words = append(words, "doubtful")
		}
		lines = append(lines, strings.Join(words, " "))
	}
	for i, p := range g.Problems {
		if i > 0 && g.Problems[i-1].Type == p.Type {
			continue
		}
		if n := len(g.Problems); n > 1 {
			lines = append(lines, fmt.Sprintf("%d %s", n, p.Type))
		} else {
			lines = append(lines, p.Type)
		}
	}
	return strings.Join(lines, "\n")
}

func called(v Vertex) string {
	name := cmp.Or(v.Layer, "-") + ":" + v.Name
	if v.Missing != Present {
		name = "no " + v.Missing.String() + ":" + v.Name
	}
	if len(v.Selector) > 0 {
		name += fmt.Sprint(v.Selector)
	}
	if v.Replaced {
		name += "(replaced)"
	}
	return name
}

func TestDependencies(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ documents, want string }{
		"parents": {
			"global p | abstract | labels {k: p} \n type m | labels {k: m} | parent {k: p} | merge . \n site c | parent {k: m} | merge .",
			"global type site | \n type:m parent global:p \n site:c parent type:m",
		},
		"only layers with documents": {"policy a, b, c, b \n c x \n a y", "a c | "},
		"replacement": {
			`global r | labels {k: r}
			site r | replacement | parent {k: r} | merge .
			type c | parent {k: r} | merge .
			site u | sub r .v > .v`,
			"global type site | \n site:r replacement global:r(replaced) \n type:c parent site:r \n site:u substitution site:r .v>.v",
		},
		"substitutions count once for each source": {
			"global s | data {v: 1} \n site c | sub s .v > .v | sub s .w > .x | substitution {src: {name: s, path: .}, dest: [{path: .y}, {path: .z}]}",
			"global site | \n site:c substitution global:s .v>.v .w>.x .>.y,.z",
		},
		"missing sources, one for all who ask": {
			"site a | sub lost .v > .v \n site b | sub lost .w > .w \n site x | abstract \n site c | sub x . > .v",
			`site | 
			site:a substitution no source:lost .v>.v
			site:b substitution no source:lost .w>.w
			site:c substitution no source:x .>.v
			3 SubstitutionSourceNotFound`,
		},
		"missing parents, one for all who ask": {
			"site a | parent {k: 5, l: x} | merge . \n site b | parent {k: 5, l: x} | merge . \n site c | parent {k: '5'} | merge .",
			`site | 
			site:a parent no parent:[{k 5} {l x}]
			site:b parent no parent:[{k 5} {l x}]
			site:c parent no parent:[{k 5}]
			3 DocumentParentNotFound`,
		},
		"several parents": {
			"global p | labels {k: p} \n global q | labels {k: p} \n site c | parent {k: p} | merge . | sub p .v > .v",
			`global site | 
			site:c parent global:p doubtful
			site:c parent global:q doubtful
			site:c substitution global:p .v>.v
			IndeterminateDocumentParent`,
		},
		"a parent that cannot be it": {
			"site p | labels {k: p} \n global c | parent {k: p} | merge .",
			"global site | \n global:c parent site:p doubtful \n InvalidDocumentParent",
		},
		"no policy": {
			"- policy | control \n global p | labels {k: p} \n site c | parent {k: p} | merge . | sub p .v > .v",
			`| global site
			site:c parent global:p doubtful
			site:c substitution global:p .v>.v
			LayeringPolicyNotFound`,
		},
		"an unknown layer": {
			"global p | labels {k: p} \n else c | parent {k: p} | merge . \n site d | parent {k: p} | merge .",
			"global site | else \n else:c parent global:p doubtful \n site:d parent global:p \n InvalidDocumentLayer",
		},
		"a cycle, and what leads to it": {
			"site a | sub b .v > .v \n site b | sub c .v > .v \n site c | sub a .v > .v \n site d | sub a .v > .v \n site e \n site c2 | sub e .v > .v",
			`site | 
			site:a substitution site:b .v>.v cyclic
			site:b substitution site:c .v>.v cyclic
			site:c substitution site:a .v>.v cyclic
			site:d substitution site:a .v>.v
			site:c2 substitution site:e .v>.v
			SubstitutionDependencyCycle`,
		},
		"of itself": {"site a | sub a .v > .w", "site | \n site:a substitution site:a .v>.w cyclic \n SubstitutionDependencyCycle"},
		"a parent that takes from its child": {
			"global p | labels {k: p} | sub c .v > .v \n site c | parent {k: p} | merge .",
			`global site | 
			global:p substitution site:c .v>.v cyclic
			site:c parent global:p cyclic
			SubstitutionDependencyCycle`,
		},
		"a replacement of nothing": {
			"site r | replacement", "site | \n InvalidDocumentReplacement",
		},
		"nothing is put into control documents": {"- c | control | sub lost .v > .v \n site s", "site | "},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			g, err := Dependencies(t.Context(), sketch(t, c.documents))
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(trimmed(c.want), trimmed(drawn(g))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func trimmed(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines
}

func TestDependencies_vertices(t *testing.T) {
	t.Parallel()
	documents := sketch(t, "global r | labels {k: r} | abstract | encrypted \n site r | replacement | parent {k: r} | merge . \n - c | control")
	g, err := Dependencies(t.Context(), append(documents, documents...))
	if err != nil {
		t.Fatal(err)
	}
	want := []Vertex{
		{Identity: documents[0].Identity, Rank: -1, Control: true, ReplacedBy: -1},
		{Identity: documents[1].Identity, Index: 1, Abstract: true, Encrypted: true, Replaced: true, ReplacedBy: 2},
		{Identity: documents[2].Identity, Index: 2, Rank: 1, Replacement: true, ReplacedBy: -1},
		{Identity: documents[3].Identity, Index: 3, Rank: -1, Control: true, ReplacedBy: -1},
	}
	if diff := gocmp.Diff(want, g.Vertices); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestGraph_Focus(t *testing.T) {
	t.Parallel()
	documents := sketch(t, `
		global p | labels {k: p} | sub s .v > .v
		site c | parent {k: p} | merge .
		site d | sub c .v > .v
		site e | sub d .v > .v | sub lost .v > .v
		site s
		site other | sub s .v > .v
		global twin | labels {k: twin}
		site twin | replacement | parent {k: twin} | merge .`)
	for name, c := range map[string]struct {
		focus string
		depth int
		want  string
	}{
		"alone":               {"t/K/v1/c", 0, "site:c"},
		"near":                {"t/K/v1/c", 1, "global:p site:c site:d"},
		"further":             {"t/K/v1/c", 2, "global:p site:c site:d site:e site:s"},
		"no turning around":   {"t/K/v1/c", 9, "global:p site:c site:d site:e site:s"},
		"of what many take":   {"t/K/v1/s/site", 1, "global:p site:s site:other"},
		"missing":             {"t/K/v1/lost", 1, "site:e no source:lost"},
		"several layers":      {"t/K/v1/twin", 0, "global:twin(replaced) site:twin"},
		"one of several":      {"t/K/v1/twin/global", 0, "global:twin(replaced)"},
		"of the wrong layer":  {"t/K/v1/c/global", 1, ""},
		"of the wrong schema": {"t/L/v1/c", 1, ""},
		"a name alone":        {"d", 1, "site:c site:d site:e"},
		"a name of several":   {"twin", 0, "global:twin(replaced) site:twin"},
		"no document's name":  {"K/v1/c", 1, ""},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			whole, err := Dependencies(t.Context(), documents)
			if err != nil {
				t.Fatal(err)
			}
			g, err := whole.Focus(c.focus, c.depth)
			if c.want == "" {
				if fault.KindOf(err) != fault.NotFound || !strings.Contains(err.Error(), c.focus) {
					t.Fatalf("got %v, want a fault that names %s", err, c.focus)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, v := range g.Vertices {
				names = append(names, called(v))
				if v.Focused != (c.focus == v.Name || strings.HasPrefix(c.focus+"/", v.Schema+"/"+v.Name+"/")) {
					t.Errorf("focused %v: %s", v.Focused, called(v))
				}
			}
			if diff := gocmp.Diff(c.want, strings.Join(names, " ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for _, e := range g.Edges {
				if !slices.Contains(strings.Split(drawn(whole), "\n"), strings.Split(drawn(&Graph{Vertices: g.Vertices, Edges: []Edge{e}}), "\n")[1]) {
					t.Errorf("edge %v is not one of the whole", e)
				}
			}
		})
	}
}

// Of many that are found by many, neither time nor memory is spent on all pairs.
func TestDependencies_manyCandidates(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, "global p%d | labels {k: p}\nsite c%d | parent {k: p} | merge .\n", i, i)
	}
	g, err := Dependencies(t.Context(), sketch(t, b.String()))
	if err != nil || len(g.Edges) != 1000*10 {
		t.Errorf("%d edges, %v", len(g.Edges), err)
	}
}

func TestDependencies_longCycle(t *testing.T) {
	t.Parallel()
	const length = 10_000
	var b strings.Builder
	for i := range length {
		fmt.Fprintf(&b, "site d%d | sub d%d .v > .v\n", i, (i+1)%length)
	}
	g, err := Dependencies(t.Context(), sketch(t, b.String()))
	if err != nil {
		t.Fatal(err)
	}
	if at := slices.IndexFunc(g.Edges, func(e Edge) bool { return !e.Cyclic }); at >= 0 || len(g.Edges) != length {
		t.Errorf("%d edges, edge %d is not part of the cycle", len(g.Edges), at)
	}
}

func TestDependencies_ends(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("gone")
	cancel(gone)
	if _, err := Dependencies(ctx, []*document.Document{policyOf("site")}); !errors.Is(err, gone) {
		t.Errorf("got %v, want the cause", err)
	}
}
