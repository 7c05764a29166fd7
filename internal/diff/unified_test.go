package diff

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestUnified(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, after, want string }{
		"equal":           {"a\n", "a\n", ""},
		"changed":         {"a\nb\n", "a\nc\n", "--- old\n+++ new\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"},
		"from nothing":    {"", "a\n", "--- old\n+++ new\n@@ -0,0 +1 @@\n+a\n"},
		"to nothing":      {"a\nb\n", "", "--- old\n+++ new\n@@ -1,2 +0,0 @@\n-a\n-b\n"},
		"end is missing":  {"a\nb\n", "a\nb", "--- old\n+++ new\n@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n"},
		"end comes":       {"a", "a\n", "--- old\n+++ new\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"},
		"end stays away":  {"x\na", "y\na", "--- old\n+++ new\n@@ -1,2 +1,2 @@\n-x\n+y\n a\n\\ No newline at end of file\n"},
		"context":         {"1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nx\n6\n7\n8\n9\n", "--- old\n+++ new\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n"},
		"close together":  {"a\n1\n2\n3\n4\n5\n6\nb\n", "x\n1\n2\n3\n4\n5\n6\ny\n", "--- old\n+++ new\n@@ -1,8 +1,8 @@\n-a\n+x\n 1\n 2\n 3\n 4\n 5\n 6\n-b\n+y\n"},
		"far apart":       {"a\n1\n2\n3\n4\n5\n6\n7\nb\n", "x\n1\n2\n3\n4\n5\n6\n7\ny\n", "--- old\n+++ new\n@@ -1,4 +1,4 @@\n-a\n+x\n 1\n 2\n 3\n@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-b\n+y\n"},
		"lines behind":    {"1\n2\n3\n4\n5\n6\n7\n8\n9\nx\n", "a\n1\n2\nb\n3\n4\n5\n6\n7\n8\n9\ny\n", "--- old\n+++ new\n@@ -1,5 +1,7 @@\n+a\n 1\n 2\n+b\n 3\n 4\n 5\n@@ -7,4 +9,4 @@\n 7\n 8\n 9\n-x\n+y\n"},
		"carriage return": {"a\r\n", "a\n", "--- old\n+++ new\n@@ -1 +1 @@\n-a\r\n+a\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := unified(t, "old", "new", c.before, c.after); got != c.want {
				t.Errorf("(-want +got)\n%.2000s", cmp.Diff(c.want[:min(len(c.want), 1000)], got[:min(len(got), 1000)]))
			}
		})
	}
}

// The diff of any two texts leads from the one to the other.
func TestUnified_applies(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.Custom(func(t *rapid.T) string {
			lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "", "-- x", "@@ -"}), 0, 40).Draw(t, "lines")
			return strings.Join(lines, "\n") + rapid.SampledFrom([]string{"", "\n"}).Draw(t, "end")
		})
		before, after := text.Draw(t, "before"), text.Draw(t, "after")
		if got := follow(t, before, unified(t, "a", "b", before, after)); got != after {
			t.Fatalf("%q, want %q", got, after)
		}
	})
}

// follow applies a unified diff, checking every line and line number on the way.
func follow(t *rapid.T, before, unified string) string {
	if unified == "" {
		return before
	}
	old := strings.SplitAfter(before, "\n")
	unified = strings.ReplaceAll(unified, "\n\\ No newline at end of file\n", "\x00")
	var out strings.Builder
	at := 0
	for _, line := range strings.SplitAfter(strings.ReplaceAll(unified, "\x00", "\x00\n"), "\n")[2:] {
		line = strings.TrimSuffix(line, "\x00\n")
		switch {
		case line == "":
		case strings.HasPrefix(line, "@@ -"):
			start, newStart := headed(t, line)
			for ; at < start; at++ {
				out.WriteString(old[at])
			}
			if n := strings.Count(out.String(), "\n"); n != newStart {
				t.Fatalf("%q after %d lines", line, n)
			}
		case line[0] == '+':
			out.WriteString(line[1:])
		case line[1:] != old[at]:
			t.Fatalf("line %d is %q and not %q", at+1, old[at], line[1:])
		default:
			if line[0] == ' ' {
				out.WriteString(old[at])
			}
			at++
		}
	}
	return out.String() + strings.Join(old[at:], "")
}

// headed is how many lines stand before a hunk in both texts.
func headed(t *rapid.T, head string) (before, after int) {
	ranges := strings.Fields(head)
	for i, lines := range []*int{&before, &after} {
		first, count, several := strings.Cut(ranges[1+i][1:], ",")
		var err error
		if *lines, err = strconv.Atoi(first); err != nil {
			t.Fatalf("%q: %v", head, err)
		}
		if !several || count != "0" {
			*lines--
		}
	}
	return before, after
}
