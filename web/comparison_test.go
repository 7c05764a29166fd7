package web

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"purser/internal/diff"
	"purser/internal/wire"
)

// TestParseUnified reads back diffs of internal/diff, of texts with lines that look like diff lines.
func TestParseUnified(t *testing.T) {
	t.Parallel()
	lines := rapid.SliceOfN(rapid.SampledFrom([]string{
		"a", "b", "-- x", "++ y", "--- a", "+++ b", "@@ -1,2 +1,2 @@", "", " ", `\ No newline`, "Encrypted data of x changed",
	}), 0, 12)
	rapid.Check(t, func(t *rapid.T) {
		var text string
		var want [][2]string
		for i := range rapid.IntRange(1, 3).Draw(t, "documents") {
			before, after := lines.Draw(t, "before"), lines.Draw(t, "after")
			title := func(revision int) string {
				return fmt.Sprintf("revision %d, bucket b: [acme/A/v1, site] doc %d", revision, i)
			}
			part, err := diff.Unified(context.Background(), title(1), title(2), strings.Join(before, "\n")+"\n", strings.Join(after, "\n")+"\n")
			if err != nil {
				t.Fatal(err)
			}
			if text += part; part != "" {
				want = append(want, changedLines(before, after, part))
			}
		}
		all := parseUnified(text)
		if len(all) != len(want) {
			t.Fatalf("%d differences, want %d\n%s", len(all), len(want), text)
		}
		for i, c := range all {
			var old, now []string
			for _, h := range c.Hunks {
				for _, p := range h.Pairs() {
					if p.Old != nil {
						old = append(old, p.Old.Text)
					}
					if p.New != nil {
						now = append(now, p.New.Text)
					}
				}
			}
			if got := [2]string{strings.Join(old, "\n"), strings.Join(now, "\n")}; got != want[i] {
				t.Fatalf("difference %d: %q, want %q\n%s", i, got, want[i], text)
			}
			if !strings.HasPrefix(c.Title, "bucket b: [acme/A/v1, site] doc ") {
				t.Fatalf("title %q", c.Title)
			}
		}
	})
}

// changedLines returns both sides of the hunks of a difference, by the numbers in their headers.
func changedLines(before, after []string, text string) [2]string {
	hunkHeader := regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)
	var old, now []string
	for line := range strings.SplitSeq(text, "\n") {
		header := hunkHeader.FindStringSubmatch(line)
		if header == nil {
			continue
		}
		number := func(text string, absent int) int {
			if n, err := strconv.Atoi(text); err == nil {
				return n
			}
			return absent
		}
		a, b, c, d := number(header[1], 0), number(header[2], 1), number(header[3], 0), number(header[4], 1)
		if b > 0 {
			old = append(old, before[a-1:a-1+b]...)
		}
		if d > 0 {
			now = append(now, after[c-1:c-1+d]...)
		}
	}
	return [2]string{strings.Join(old, "\n"), strings.Join(now, "\n")}
}

func TestParseUnified_titles(t *testing.T) {
	t.Parallel()
	const text = `--- /dev/null
+++ revision 2, bucket a: b: [acme/A/v1] x] y
@@ -0,0 +1 @@
+a
--- /dev/null
+++ revision 2, bucket a: b: [acme/A/v1, None] x] y
@@ -0,0 +1 @@
+b
--- revision 1, bucket b: [acme/B/v1, a] b, c] y z
+++ /dev/null
@@ -1 +0,0 @@
-a
--- /dev/null
+++ revision 2, bucket b: [acme/B/v1, site] ⟨U+202E⟩  ⟨U+000D⟩
@@ -0,0 +1 @@
+a
Encrypted data of revision 2, bucket s: [acme/C/v1] w changed
--- /dev/null
+++ revision 2, bucket s: [acme/D/v1, site] unknown
@@ -0,0 +1 @@
+a
`
	controls := wire.Identity{Schema: "acme/A/v1", Name: "x] y", Bucket: "a: b"}
	layered := wire.Identity{Schema: "acme/A/v1", Layer: "None", Name: "x] y", Bucket: "a: b"}
	gone := wire.Identity{Schema: "acme/B/v1", Layer: "a] b, c", Name: "y\nz", Bucket: "b"}
	hidden := wire.Identity{Schema: "acme/B/v1", Layer: "site", Name: "\u202e\t\u00a0\r", Bucket: "b"}
	secret := wire.Identity{Schema: "acme/C/v1", Name: "w", Bucket: "s"}
	reordered := wire.Identity{Schema: "acme/B/v1", Layer: "site", Name: "reordered", Bucket: "b"}
	got := arranged(parseUnified(text), []comparison{
		{Document: controls},
		{Document: layered},
		{Document: reordered, Change: "changed"},
		{Document: gone},
		{Document: hidden},
		{Document: secret},
	})
	added := func(line string) []hunk {
		return []hunk{{"@@ -0,0 +1 @@", []diff.Line{{Kind: diff.Added, New: 1, Text: line}}}}
	}
	want := []*comparison{
		{Document: controls, Change: "added", Added: 1, Title: "bucket a: b: [acme/A/v1] x] y", Hunks: added("a")},
		{Document: layered, Change: "added", Added: 1, Title: "bucket a: b: [acme/A/v1, None] x] y", Hunks: added("b")},
		{Document: reordered, Change: "changed", Title: "bucket b: [acme/B/v1, site] reordered", Note: "No line of it differs."},
		{Document: gone, Change: "deleted", Removed: 1, Title: "bucket b: [acme/B/v1, a] b, c] y z", Hunks: []hunk{{"@@ -1 +0,0 @@", []diff.Line{{Kind: diff.Removed, Old: 1, Text: "a"}}}}},
		{Document: hidden, Change: "added", Added: 1, Title: "bucket b: [acme/B/v1, site] ⟨U+202E⟩  ⟨U+000D⟩", Hunks: added("a")},
		{Document: secret, Change: "changed", Title: "bucket s: [acme/C/v1] w", Note: "Its encrypted data differs."},
		{Change: "added", Added: 1, Title: "bucket s: [acme/D/v1, site] unknown", Hunks: added("a")},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
