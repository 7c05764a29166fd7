package diff

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestFolded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, after, want string }{
		"equal":        {"a\n", "a\n", ""},
		"from nothing": {"", "a:\n  b: 1\n", "@@ -0,0 +1,2 @@\n+a:\n+  b: 1\n"},
		"to nothing":   {"a: 1\n", "", "@@ -1 +0,0 @@\n-a: 1\n"},
		"nested": {
			"a:\n  b:\n    c: 1\n    d: 2\n  e: 3\n", "a:\n  b:\n    c: 1\n    d: 4\n  e: 3\n",
			"@@ -1,3 +1,3 @@\n a:\n   b:\n-    d: 2\n+    d: 4\n",
		},
		"siblings share what they are nested in": {
			"a:\n  b: 1\n  c: 2\n  d: 3\n", "a:\n  b: 4\n  c: 2\n  d: 5\n",
			"@@ -1,3 +1,3 @@\n a:\n-  b: 1\n+  b: 4\n-  d: 3\n+  d: 5\n",
		},
		"an item of a list": {
			"l:\n  - name: x\n    v: 1\n  - name: y\n    v: 2\n", "l:\n  - name: x\n    v: 1\n  - name: y\n    v: 3\n",
			"@@ -1,3 +1,3 @@\n l:\n   - name: y\n-    v: 2\n+    v: 3\n",
		},
		"an item of a list that is not indented": {
			"l:\n- name: x\n  v: 1\n- name: y\n  v: 2\nm: 1\n", "l:\n- name: x\n  v: 1\n- name: y\n  v: 3\nm: 1\n",
			"@@ -1,3 +1,3 @@\n l:\n - name: y\n-  v: 2\n+  v: 3\n",
		},
		"after a list": {"l:\n- x\nm: 1\n", "l:\n- x\nm: 2\n", "@@ -1 +1 @@\n-m: 1\n+m: 2\n"},
		"added below":  {"a:\n  b: 1\n", "a:\n  b: 1\n  c:\n    d: 2\n", "@@ -1 +1,3 @@\n a:\n+  c:\n+    d: 2\n"},
		"removed":      {"a:\n  b: 1\n  c: 2\n", "a:\n  c: 2\n", "@@ -1,2 +1 @@\n a:\n-  b: 1\n"},
		"what it is nested in differs too": {
			"a:\n  b: 1\n  c:\n    d: 2\n    e: 3\n", "a:\n  b: 1\n  x:\n    d: 2\n    e: 4\n",
			"@@ -1,3 +1,3 @@\n a:\n-  c:\n+  x:\n-    e: 3\n+    e: 4\n",
		},
		"an empty line of a text": {"a: |\n  x\n\n  y\nb: 1\n", "a: |\n  x\n\n\n  y\nb: 1\n", "@@ -1 +1,2 @@\n a: |\n+\n"},
		"the end is missing":      {"a\nb\n", "a\nb", "@@ -1 +1 @@\n-b\n+b\n\\ No newline at end of file\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Folded(t.Context(), c.before, c.after)
			if err != nil || got != c.want {
				t.Errorf("%v (-want +got)\n%s", err, cmp.Diff(c.want, got))
			}
		})
	}
}

// What stands around the lines that differ, but not above them, makes no difference.
func TestFolded_sameInOtherTexts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		filler := func(label string) string {
			n := rapid.IntRange(0, 30).Draw(t, label)
			return strings.Repeat("  "+label+": x\n", n)
		}
		text := func(value string, others []string) string {
			return "data:\n" + others[0] + "  images:\n    api: " + value + "\n" + others[1] + "other: 1\n"
		}
		few, many := []string{"", ""}, []string{filler("f"), filler("z")}
		want, err := Folded(t.Context(), text("1", few), text("2", few))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Folded(t.Context(), text("1", many), text("2", many)); err != nil || got != want {
			t.Fatalf("%v (-want +got)\n%s", err, cmp.Diff(want, got))
		}
	})
}

// Lines reads a folded diff: no line is taken for a header or a note, whatever it begins with, and every line that
// differs between two texts is in it.
func TestFolded_isUnified(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.Custom(func(t *rapid.T) string {
			line := rapid.SampledFrom([]string{"a:", "  b:", "  - c", "    d", "", "-- x", "@@ -1 +1 @@", "++ y", "      e"})
			return strings.Join(rapid.SliceOfN(line, 0, 40).Draw(t, "lines"), "\n") + "\n"
		})
		before, after := text.Draw(t, "before"), text.Draw(t, "after")
		folded, err := Folded(t.Context(), before, after)
		if err != nil {
			t.Fatal(err)
		}
		unified := unified(t, "a", "b", before, after)
		only := func(text string, kinds ...Kind) (lines []string) {
			for line := range Lines(text) {
				for _, kind := range kinds {
					if line.Kind == kind {
						lines = append(lines, line.String())
					}
				}
			}
			return lines
		}
		if diff := cmp.Diff(only(unified, Removed, Added), only(folded, Removed, Added)); diff != "" {
			t.Fatalf("%s\n(-unified +folded)\n%s", folded, diff)
		}
		shown := strings.Count(folded, "\n")
		if lines := len(only(folded, Removed, Added, Same, Header)); lines != shown {
			t.Fatalf("%s\n%d of %d lines are read", folded, lines, shown)
		}
	})
}
