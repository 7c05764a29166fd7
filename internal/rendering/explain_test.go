package rendering

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"purser/internal/document"
	"purser/internal/fault"
)

// told writes an explanation, a line for each leaf: its value, where it was written, and its steps.
func told(documents []*document.Document, e *Explanation) (lines []string) {
	for _, leaf := range e.Leaves {
		line := fmt.Sprintf("%s = %s", leaf.At, document.AppendJSON(nil, leaf.Value))
		if leaf.Secret {
			line = leaf.At + " is secret"
		}
		lines = append(lines, line+" <- "+way(documents, leaf.Trail))
	}
	return lines
}

func way(documents []*document.Document, t Trail) string {
	var line strings.Builder
	line.WriteString(documents[t.Document].Name + t.Path)
	for _, s := range t.Steps {
		fmt.Fprintf(&line, " | %s %s", documents[s.Document].Name, s.Kind)
		switch s.Kind {
		case Merged, Replaced, Deleted:
			fmt.Fprintf(&line, " %d %s", s.Number, s.To)
		case Substituted, Inserted:
			fmt.Fprintf(&line, " %d %s%s to %s", s.Number, documents[s.Source].Name, s.From, s.To)
			if s.Part != "" {
				line.WriteString(" part " + s.Part)
			}
			if s.Inserted != nil {
				fmt.Fprintf(&line, " at %s (%s)", s.Pattern, way(documents, *s.Inserted))
			}
		case Inherited:
		}
	}
	return line.String()
}

func named(name string) document.Identity { return document.Identity{Schema: "t/K/v1", Name: name} }

func TestExplain(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, documents, of, path string
		want                      []string
	}{
		{"as it is", "site a | data {x: 1, l: [a, {}], e: []}", "a", ".", []string{
			".x = 1 <- a.x", ".l[0] = \"a\" <- a.l[0]", ".l[1] = {} <- a.l[1]", ".e = [] <- a.e",
		}},
		{"no mapping", "site a | data text", "a", ".", []string{`. = "text" <- a.`}},
		{"inherited and merged", `
			global g | labels {k: g} | data {x: 1, y: 2}
			site s | parent {k: g} | merge . | data {y: 3, z: {w: 4}}`, "s", ".", []string{
			".x = 1 <- g.x | s inherit", ".y = 3 <- s.y | s merge 0 .", ".z.w = 4 <- s.z.w | s merge 0 .",
		}},
		{"through a parent's parent", `
			global g | labels {k: g} | data {x: 1}
			type t | labels {k: t} | parent {k: g} | merge . | data {y: 2}
			site s | parent {k: t} | merge . | data {z: 3}`, "s", ".", []string{
			".x = 1 <- g.x | t inherit | s inherit", ".y = 2 <- t.y | t merge 0 . | s inherit", ".z = 3 <- s.z | s merge 0 .",
		}},
		{"replaced and deleted", `
			global g | labels {k: g} | data {x: {a: 1}, y: {b: 2}, l: [1]}
			site s | parent {k: g} | replace .x | delete .y.b | delete .l[0] | data {x: {c: 3}}`, "s", ".", []string{
			".x.c = 3 <- s.x.c | s replace 0 .x", ".y = {} <- s | s delete 1 .y.b", ".l = [] <- s | s delete 2 .l[0]",
		}},
		{"items move up", `
			global g | labels {k: g} | data {l: [1, 2, 3]}
			site s | parent {k: g} | delete .l[0] | data {}`, "s", ".", []string{
			".l[0] = 2 <- g.l[1] | s inherit", ".l[1] = 3 <- g.l[2] | s inherit",
		}},
		{"all deleted", "global g | labels {k: g} | data {x: 1}\nsite s | parent {k: g} | delete . | data {}", "s", ".", []string{
			". = {} <- s | s delete 0 .",
		}},
		{"substituted, parts of it too", `
			site a | data {x: {y: 1, t: "user:word"}}
			site b | sub a .x > .n.m | sub a .x.y > .o | substitution {src: {name: a, path: .x.t, pattern: ":(.*)", match_group: 1}, dest: [{path: .p}, {path: .q}]} | data {}`, "b", ".", []string{
			".n.m.y = 1 <- a.x.y | b substitute 0 a.x to .n.m", `.n.m.t = "user:word" <- a.x.t | b substitute 0 a.x to .n.m`,
			".o = 1 <- a.x.y | b substitute 1 a.x.y to .o",
			`.p = "word" <- a.x.t | b substitute 2 a.x.t to .p part :(.*)`, `.q = "word" <- a.x.t | b substitute 2 a.x.t to .q part :(.*)`,
		}},
		{"along a chain", "site a | data one\nsite b | sub a . > .x | data {}\nsite c | sub b .x > .y | data {}", "c", ".", []string{
			`.y = "one" <- a. | b substitute 0 a. to .x | c substitute 0 b.x to .y`,
		}},
		{"into a text", `
			site a | data {n: {w: one}}
			site b | substitution {src: {name: a, path: .n.w}, dest: {path: .x, pattern: P}} | data {x: a P b}
			site c | substitution {src: {name: b, path: .x}, dest: {path: ., pattern: Q, recurse: {depth: -1}}} | data {l: [Q, r]}`, "c", ".", []string{
			`.l[0] = "a one b" <- c.l[0] | c insert 0 b.x to . at Q (b.x | b insert 0 a.n.w to .x at P (a.n.w))`, `.l[1] = "r" <- c.l[1]`,
		}},
		{"made on the way", "site a | data 1\nsite b | sub a . > .l[2].x | data {}", "b", ".", []string{
			".l[0] = {} <- b | b substitute 0 a. to .l[2].x", ".l[1] = {} <- b | b substitute 0 a. to .l[2].x",
			".l[2].x = 1 <- a. | b substitute 0 a. to .l[2].x",
		}},
		{"of a parent's replacement", `
			global g | labels {k: g} | data {x: 1, y: 2}
			site g | labels {k: r} | parent {k: g} | replacement | merge . | data {x: 3}
			site c | parent {k: g} | merge . | data {}`, "c", ".", []string{
			".x = 3 <- g.x | g merge 0 . | c inherit", ".y = 2 <- g.y | g inherit | c inherit",
		}},
		{"an abstract one", "site a | abstract | data {x: 1}", "a", ".", []string{".x = 1 <- a.x"}},
		{"secrets and what they went into", `
			site a | encrypted | data {w: secret}
			site b | sub a .w > .w | data {x: 1}
			site c | sub b .w > .v | substitution {src: {name: b, path: .w}, dest: {path: .t, pattern: P}} | data {t: P, u: 2}`, "c", ".", []string{
			".t is secret <- c.t | c insert 1 b.w to .t at P (a. | b substitute 0 a.w to .w)", ".u = 2 <- c.u",
			".v is secret <- a. | b substitute 0 a.w to .w | c substitute 0 b.w to .v",
		}},
		{"an encrypted one", "site a | encrypted | data {w: secret}", "a", ".w", []string{". is secret <- a."}},
		{"not even the keys of a secret", `
			site a | encrypted | data {k: {x: 1, y: 2}, l: 3}
			site b | sub a .k > .n | data {m: 1}
			site c | sub b .n > .o.p | sub a .k.x > .q | data {}`, "c", ".", []string{
			".o.p is secret <- a. | b substitute 0 a.k to .n | c substitute 0 b.n to .o.p", ".q is secret <- a. | c substitute 1 a.k.x to .q",
		}},
		{"a part", "site a | data {x: {y: [1, {z: 2}]}, w: 3}", "a", ".x.y[1]", []string{".x.y[1].z = 2 <- a.x.y[1].z"}},
		{"several", "site a | data {x: {y: 1}, w: {y: 2}}", "a", ".*.y", []string{".x.y = 1 <- a.x.y", ".w.y = 2 <- a.w.y"}},
		{"odd keys", "site a | data {a.b: {'': 1}, \"it's\": 2}", "a", ".", []string{
			`.'a.b'.'' = 1 <- a.'a.b'.''`, `.'it\'s' = 2 <- a.'it\'s'`,
		}},
		{"whatever does not render beside it", "site a | data {x: 1}\nsite b | sub nowhere . > .x | data {}", "a", ".", []string{".x = 1 <- a.x"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			documents := sketch(t, tt.documents)
			explained, err := Explain(t.Context(), documents, named(tt.of), tt.path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, told(documents, explained)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestExplain_refuses(t *testing.T) {
	t.Parallel()
	var wide strings.Builder
	for i := range 10_001 {
		fmt.Fprintf(&wide, "%d, ", i)
	}
	tests := []struct {
		name, documents, path string
		kind                  fault.Kind
		message               string
	}{
		{"no path", "site a | data {x: 1}", "x y", fault.Invalid, `The "path" parameter is invalid: the path 'x y' cannot be read`},
		{"nothing there", "site a | data {x: {y: 1}}", ".x.z.w", fault.NotFound, "There is nothing at .x.z.w in the rendered data of document [t/K/v1, site] a; it leads no further than .x"},
		{"nothing in a text", "site a | data {x: text}", ".x[0]", fault.NotFound, "There is nothing at .x[0]"},
		{"no document", "site b | data 1", ".", fault.NotFound, "There is no document [t/K/v1] a; of that schema or name there are, among others: [t/K/v1, site] b"},
		{"its parent's source is missing", "site a | parent {k: p} | merge . | data {}\nglobal p | labels {k: p} | sub b . > .x | data {}", ".", fault.Conflict, "Required substitution source document [t/K/v1] b was not found"},
		{"its source is missing", "site a | sub b . > .x | data {}", ".", fault.Conflict, "Required substitution source document [t/K/v1] b was not found"},
		{"too many", "site a | data [" + wide.String() + "]", ".", fault.TooLarge, "ask for a part of them"},
		{"too long", "site a | data {" + strings.Repeat("k", 1_000) + ": [" + strings.Repeat("1, ", 5_000) + "]}", ".", fault.TooLarge, "and 4 MiB together"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			documents := sketch(t, tt.documents)
			_, err := Explain(t.Context(), documents, named("a"), tt.path, Options{})
			if fault.KindOf(err) != tt.kind || !strings.Contains(fmt.Sprint(err), tt.message) {
				t.Errorf("%v, want a fault of kind %d: %s", err, tt.kind, tt.message)
			}
		})
	}
}

// A document is explained if it renders, whatever else fails.
func TestExplain_besidesFaults(t *testing.T) {
	t.Parallel()
	documents := sketch(t, "site a | sub s .v > .x | data {}\nsite s | data {v: 1}\nsite b | sub gone . > .x | data {}\nlost c | data 1")
	e, err := Explain(t.Context(), documents, named("a"), ".", Options{})
	if err != nil || len(e.Leaves) != 1 || e.Leaves[0].At != ".x" {
		t.Errorf("%+v, %v", e, err)
	}
	if _, err := Explain(t.Context(), documents, named("c"), ".", Options{}); faultOf(t, err).Type != "InvalidDocumentLayer" {
		t.Error(err)
	}
}

// A text that holds the last one twice, and so on, has more ways than anybody could tell.
func TestExplain_isBounded(t *testing.T) {
	t.Parallel()
	lines := []string{"site d0 | data x"}
	for i := range 12 {
		lines = append(lines, fmt.Sprintf("site d%d | %s | data PQ", i+1, strings.Join([]string{
			fmt.Sprintf("substitution {src: {name: d%d, path: .}, dest: {path: ., pattern: P}}", i),
			fmt.Sprintf("substitution {src: {name: d%d, path: .}, dest: {path: ., pattern: Q}}", i),
		}, " | ")))
	}
	for i := range 300 {
		lines = append(lines, fmt.Sprintf("site e%d | sub %s . > . | data %d", i+1, map[bool]string{true: "d0", false: fmt.Sprintf("e%d", i)}[i == 0], i))
	}
	documents := sketch(t, strings.Join(lines, "\n"))
	explained, err := Explain(t.Context(), documents, named("d12"), ".", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(fmt.Sprint(told(documents, explained))); n > 64<<10 {
		t.Errorf("%d bytes to tell about one value", n)
	}
	explained, err = Explain(t.Context(), documents, named("e300"), ".", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if leaf := explained.Leaves[0]; len(leaf.Steps) != maxSteps || leaf.Omitted != 300-maxSteps || documents[leaf.Document].Name != "d0" {
		t.Errorf("%d steps and %d more from %s", len(leaf.Steps), leaf.Omitted, documents[leaf.Document].Name)
	}
}

// explains checks that the explained leaves of a document are those of its rendered data, and that applying the trail
// of each gives its value.
func explains(t *rapid.T, documents []*document.Document, at int, want string) {
	explained, err := Explain(t.Context(), documents, documents[at].Identity, ".", Options{})
	must(t, err)
	value, err := document.ParseJSON([]byte(want))
	must(t, err)
	for _, leaf := range explained.Leaves {
		found, ok := first(t, value, leaf.At)
		got := string(document.AppendJSON(nil, leaf.Value))
		if !ok || string(document.AppendJSON(nil, found)) != got {
			t.Errorf("%s says %s at %s, not %s", documents[at].Identity, want, leaf.At, got)
		}
		if applied := string(document.AppendJSON(nil, apply(t, documents, leaf.Trail))); applied != got {
			t.Errorf("%s at %s of %s, but what is told of it gives %s\n%s", got, leaf.At, documents[at].Identity, applied, way(documents, leaf.Trail))
		}
	}
	if leaves := count(value); leaves != len(explained.Leaves) {
		t.Errorf("%s has %d leaves, of which %d are explained", want, leaves, len(explained.Leaves))
	}
}

// apply computes a leaf from its trail.
func apply(t *rapid.T, documents []*document.Document, trail Trail) any {
	var value any
	if trail.Path != "" {
		data, err := document.ParseJSON(documents[trail.Document].Data)
		must(t, err)
		value, _ = first(t, data, trail.Path)
	} else {
		value = document.Mapping{}
	}
	for _, s := range trail.Steps {
		if s.Kind == Inserted {
			var with string
			if s.Inserted != nil {
				with = pythonText(apply(t, documents, *s.Inserted))
			} else {
				with = pythonText(renderedAt(t, documents, s))
			}
			value = strings.ReplaceAll(value.(string), s.Pattern, with)
		}
	}
	return value
}

// renderedAt returns the value that a step read.
func renderedAt(t *rapid.T, documents []*document.Document, s Step) any {
	r := newRun(t.Context(), documents, Options{})
	order, err := r.render(documents)
	must(t, err)
	source, err := findDocument(order, documents[s.Source].Identity)
	must(t, err)
	data, err := r.value(source)
	must(t, err)
	if _, isMapping := data.(document.Mapping); isMapping {
		data, _ = first(t, data, s.From)
	}
	return data
}

// first returns the first value at a path.
func first(t *rapid.T, value any, path string) (any, bool) {
	r := newRun(t.Context(), nil, Options{})
	return r.first(value, r.parsePath(path).steps)
}

func count(value any) (leaves int) {
	switch v := value.(type) {
	case document.Mapping:
		for _, m := range v {
			leaves += count(m.Value)
		}
	case []any:
		for _, item := range v {
			leaves += count(item)
		}
	}
	return max(leaves, 1)
}
