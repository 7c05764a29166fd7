package rendering

import (
	"strings"
	"testing"
)

func TestRender_order(t *testing.T) {
	t.Parallel()
	for _, r := range []rule{
		{
			name: "what depends on others or is depended on first, generation by generation, backwards",
			documents: `
				site a | sub d .v > .v | data {}
				site b | sub c .v > .v | sub d .v > .w | data {}
				site c | sub e .v > .q | data {v: 1}
				site d | data {v: 2}
				site n | data 0
				site e | data {v: 3}
				site f | sub a .v > .v | data {}`,
			want: `
				site d {"v":2}
				site e {"v":3}
				site a {"v":2}
				site c {"v":1,"q":3}
				site f {"v":2}
				site b {"v":1,"w":2}
				site n 0`,
		},
		{
			name: "an edge counts once",
			documents: `
				site a | sub s .v > .v | sub s .v > .w | sub s .v > .x | data {}
				site s | data {v: 1}`,
			want: "site s {\"v\":1}\nsite a {\"v\":1,\"w\":1,\"x\":1}",
		},
		{
			name:      "a document that needs itself",
			documents: "site a | sub a .w > .v | data {w: 1}",
			class:     "SubstitutionDependencyCycle",
			says:      "Cannot determine substitution order as a dependency cycle exists for the following documents: [(('t/K/v1', 'site', 'a'), ('t/K/v1', 'site', 'a'), 'reverse')]",
		},
		{
			name: "two that need each other",
			documents: `
				site a | sub b .w > .w | data {w: 0}
				site b | sub a .w > .w | data {w: 0}`,
			class: "SubstitutionDependencyCycle",
			says:  "[(('t/K/v1', 'site', 'b'), ('t/K/v1', 'site', 'a'), 'reverse'), (('t/K/v1', 'site', 'a'), ('t/K/v1', 'site', 'b'), 'reverse')]",
		},
		{
			name: "only the cycle is told, not the way to it",
			documents: `
				site s | data {w: 1}
				site z | sub x .w > .w | data {}
				site x | sub s .w > .v | sub y .w > .w | data {}
				- it's | sub s .w > .w | sub x .w > .w | data {}
				site y | sub s .w > .v | sub it's .w > .w | data {}`,
			class: "SubstitutionDependencyCycle",
			says:  ": [(('t/K/v1', '', \"it's\"), ('t/K/v1', 'site', 'x'), 'reverse'), (('t/K/v1', 'site', 'y'), ('t/K/v1', '', \"it's\"), 'reverse'), (('t/K/v1', 'site', 'x'), ('t/K/v1', 'site', 'y'), 'reverse')]",
		},
		{
			name: "a parent that needs its child",
			documents: `
				global p | labels {k: g} | sub c .z > .v | data {a: 1}
				site c | parent {k: g} | merge . | data {z: 1}`,
			class: "SubstitutionDependencyCycle",
			says:  "[(('t/K/v1', 'site', 'c'), ('t/K/v1', 'global', 'p'), 'reverse'), (('t/K/v1', 'global', 'p'), ('t/K/v1', 'site', 'c'), 'reverse')]",
		},
		{
			name: "a replaced parent that needs its replacement",
			documents: `
				global x | labels {k: g} | sub x .a > .b | data {a: 1}
				site x | replacement | parent {k: g} | merge . | data {z: 1}`,
			class: "SubstitutionDependencyCycle",
		},
	} {
		r.run(t)
	}
}

// The policy and other control documents are returned, abstract ones are not.
func TestRender_output(t *testing.T) {
	t.Parallel()
	documents := sketch(t, "site b | data 2\nglobal a | abstract | data 1\n- k | control | schema t/L/v1 | data 3")
	rendered, _, err := renderAll(t.Context(), documents, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rendered {
		if r.Computed || r.Data != nil {
			t.Errorf("%s was computed", documents[r.Index].Name)
		}
		got = append(got, documents[r.Index].Name)
	}
	if want := "policy b k"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}
