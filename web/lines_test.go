package web

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Pages together have all lines in order, and none is too large.
func TestPageOfLines(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var lines []line
		for i := range rapid.IntRange(1, 400).Draw(t, "lines") {
			lines = append(lines, line{Number: i + 1, Text: strings.Repeat("<", rapid.IntRange(0, 3000).Draw(t, "length"))})
		}
		marked := rapid.IntRange(0, len(lines)-1).Draw(t, "marked")
		lines[marked].Marked = true
		_, of, pages := pageOfLines(lines, 0, maxLines)
		next := 1
		for number := 1; number <= pages; number++ {
			shown, _, _ := pageOfLines(lines, number, maxLines)
			size := 0
			for _, l := range shown {
				if l.Number != next {
					t.Fatalf("line %d, want %d", l.Number, next)
				}
				if l.Marked && number != of {
					t.Fatalf("the marked line is on page %d, and page %d is shown", number, of)
				}
				next++
				size += weight(l.Text)
			}
			if size > maxLines {
				t.Fatalf("page %d has %d bytes", number, size)
			}
		}
		if next != len(lines)+1 {
			t.Fatalf("%d lines, want %d", next-1, len(lines))
		}
	})
}
