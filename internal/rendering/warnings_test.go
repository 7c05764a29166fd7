package rendering

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/document"
	"purser/internal/fault"
)

// Likely mistakes that keep nothing from being rendered are warnings; those of documents that take something from
// secrets are secret.
func TestRender_warnings(t *testing.T) {
	t.Parallel()
	substitution := func(source, src, dest string) string {
		return fmt.Sprintf("substitution {src: {name: %s, path: .v%s}, dest: {path: .t%s}}", source, src, dest)
	}
	const source = "site s | data {v: a-value}\n"
	for name, c := range map[string]struct{ documents, want string }{
		"nothing": {documents: source + "site d | " + substitution("s", ", pattern: a", ", pattern: X") + " | data {t: X}"},
		"a selector": {
			documents: "global p | abstract | labels {k: v} | data {}\nsite d | parent {k: w} | merge . | data {}",
			want:      "DocumentParentNotFound: The parentSelector of document [t/K/v1, site] d selects no document, so it inherits nothing",
		},
		"no layer": {documents: "- d | parent {k: w} | merge . | data {}"},
		"a pattern": {
			documents: source + "site d | " + substitution("s", "", ", pattern: 'X\\d'") + " | data {t: X}",
			want: "DocumentPatternNotFound: The pattern 'X\\\\d' is not in the text at .t of document [t/K/v1, site] d, so substitution 1, " +
				"from document [t/K/v1, site] s, changes nothing",
		},
		"a value like the pattern": {documents: source + "site d | " + substitution("s", "", ", pattern: a-value") + " | data {t: a-value}"},
		"again, after it was replaced": {
			documents: source + "site d | " + substitution("s", "", ", pattern: X") + " | " + substitution("s", "", ", pattern: X") + " | data {t: X}",
			want: "DocumentPatternNotFound: The pattern 'X' is not in the text at .t of document [t/K/v1, site] d, so substitution 2, " +
				"from document [t/K/v1, site] s, changes nothing",
		},
		"below a path": {
			documents: source + "site d | " + substitution("s", "", ", pattern: X, recurse: {depth: 1}") + " | data {t: {a: {b: X}}}",
			want: "DocumentPatternNotFound: The pattern 'X' is not in any text that is looked at below .t of document [t/K/v1, site] d, so " +
				"substitution 1, from document [t/K/v1, site] s, changes nothing",
		},
		"below a path, like the pattern": {
			documents: source + "site d | " + substitution("s", "", ", pattern: a-value, recurse: {depth: -1}") + " | data {t: [{a: a-value}]}",
		},
		"a source's pattern": {
			documents: source + "site d | " + substitution("s", ", pattern: '^(.*):(.*)$', match_group: 1", "") + " | data {}",
			want: "SourcePatternNotFound: The pattern '^(.*):(.*)$' matches nothing in the text at .v of document [t/K/v1, site] s, so " +
				"substitution 1 of document [t/K/v1, site] d takes all of it",
		},
		"a group that takes no part": {
			documents: source + "site d | " + substitution("s", ", pattern: '(x)?a', match_group: 1", "") + " | data {}",
		},
		"of a secret": {
			documents: "site s | encrypted | data {v: a}\nsite d | " + substitution("s", "", ", pattern: X") + " | data {t: a}",
			want: "secret DocumentPatternNotFound: The pattern 'X' is not in the text at .t of document [t/K/v1, site] d, so substitution 1, " +
				"from document [t/K/v1, site] s, changes nothing",
		},
		"of what a secret went into before": {
			documents: source + "site e | encrypted | data {v: X}\nsite d | sub e .v > .t | " + substitution("s", "", ", pattern: Y") + " | data {}",
			want: "secret DocumentPatternNotFound: The pattern 'Y' is not in the text at .t of document [t/K/v1, site] d, so substitution 2, " +
				"from document [t/K/v1, site] s, changes nothing",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			documents := sketch(t, c.documents)
			if got := warnedOf(t, documents, Options{}); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
			if got := warnedOf(t, documents, Options{Compat: true}); got != "" {
				t.Errorf("Deckhand says nothing; got\n%s", got)
			}
		})
	}
}

// warnedOf renders documents and returns their warnings, one a line.
func warnedOf(t *testing.T, documents []*document.Document, options Options) string {
	t.Helper()
	_, warnings, err := renderAll(t.Context(), documents, options)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, w := range warnings {
		line := w.Name + ": " + w.Message
		if w.Secret {
			line = "secret " + line
		}
		if w.Error || w.Level != "Warning" || w.Kind != fault.WarningKind {
			t.Errorf("%+v is no warning", w)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// Of many warnings the first remain, with the number of the others. Secret ones are counted by themselves.
func TestRender_warningsAreBounded(t *testing.T) {
	t.Parallel()
	text := []string{"site e | encrypted | data {v: a}", "site s | data {v: a}"}
	const warned = "site %s%d | substitution {src: {name: %s, path: .v}, dest: {path: .t, pattern: X}} | data {t: a}"
	for i := range maxWarnings + 3 {
		text = append(text, fmt.Sprintf(warned, "s", i, "s"))
	}
	for i := range maxWarnings + 1 {
		text = append(text, fmt.Sprintf(warned, "e", i, "e"))
	}
	lines := strings.Split(warnedOf(t, sketch(t, strings.Join(text, "\n")), Options{}), "\n")
	if len(lines) != 2*maxWarnings+2 {
		t.Fatalf("%d warnings", len(lines))
	}
	got := []string{lines[maxWarnings], lines[2*maxWarnings+1]}
	want := []string{": More warnings, not shown: 3", "secret : More warnings, not shown: 1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A source that is abstract is said to be, unless its name is secret or Deckhand would not say it.
func TestRender_abstractSource(t *testing.T) {
	t.Parallel()
	const plain = "Required substitution source document [t/K/v1] s was not found, yet is referenced by [t/K/v1] d"
	const details = ". Details: document [t/K/v1, type] s is abstract, and only concrete documents are sources"
	for _, c := range []struct {
		source string
		compat bool
		want   string
	}{
		{"type s | abstract | data {v: 1}\n", false, plain + details},
		{"global s | abstract | encrypted | labels {k: v} | data 1\ntype s | abstract | replacement | parent {k: v} | data 1\n", false, plain + details},
		{"type s | abstract | data {v: 1}\n", true, plain},
		{"type s | abstract | encrypted | data {v: 1}\n", false, plain},
		{"type other | data {v: 1}\n", false, plain},
	} {
		documents := sketch(t, c.source+"site d | sub s .v > .x | data {}")
		_, _, err := renderAll(t.Context(), documents, Options{Compat: c.compat})
		if f := faultOf(t, err); f.Message != c.want {
			t.Errorf("%q: %s, want %s", c.source, f.Message, c.want)
		}
		problems, err := Examine(t.Context(), documents, Options{Compat: c.compat})
		if err != nil || len(problems) != 1 || problems[0].Message != c.want {
			t.Errorf("%q: %v, %v, want %s", c.source, problems, err, c.want)
		}
	}
}

// A replacement whose selector selects nothing has both problems: the selector is the cause.
func TestExamine_orphanedReplacement(t *testing.T) {
	t.Parallel()
	documents := sketch(t, "type d | labels {k: v} | data {}\nsite d | replacement | parent {k: w} | data {}")
	problems, err := Examine(t.Context(), documents, Options{})
	var got []string
	for _, problem := range problems {
		got = append(got, problem.Type)
	}
	slices.Sort(got)
	if diff := cmp.Diff([]string{"DocumentParentNotFound", "InvalidDocumentReplacement"}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}
