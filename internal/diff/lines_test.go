package diff_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/diff"
)

func TestLines(t *testing.T) {
	t.Parallel()
	const text = `--- revision 1
+++ /dev/null
@@ -1,4 +0,2 @@
 a
--- b
+++ c
-@@ -1 +1 @@
 d
\ No newline at end of file
Encrypted data of revision 1 changed
--- not a name
--- x
+++ y
@@ -7 +8 @@
-z`
	want := []diff.Line{
		{Kind: diff.OldName, Text: "revision 1"},
		{Kind: diff.NewName, Text: "/dev/null"},
		{Kind: diff.Header, Text: "@@ -1,4 +0,2 @@"},
		{Kind: diff.Same, Old: 1, Text: "a"},
		{Kind: diff.Removed, Old: 2, Text: "-- b"},
		{Kind: diff.Added, New: 1, Text: "++ c"},
		{Kind: diff.Removed, Old: 3, Text: "@@ -1 +1 @@"},
		{Kind: diff.Same, Old: 4, New: 2, Text: "d"},
		{Text: `\ No newline at end of file`},
		{Text: "Encrypted data of revision 1 changed"},
		{Text: "--- not a name"},
		{Kind: diff.OldName, Text: "x"},
		{Kind: diff.NewName, Text: "y"},
		{Kind: diff.Header, Text: "@@ -7 +8 @@"},
		{Kind: diff.Removed, Old: 7, Text: "z"},
	}
	got := slices.Collect(diff.Lines(text))
	if difference := cmp.Diff(want, got); difference != "" {
		t.Errorf("-want +got:\n%s", difference)
	}
	var again []string
	for _, line := range got {
		again = append(again, line.String())
	}
	if difference := cmp.Diff(text, strings.Join(again, "\n")); difference != "" {
		t.Errorf("the lines as text, -want +got:\n%s", difference)
	}
}
