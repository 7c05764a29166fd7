package diff

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Folded returns how two texts differ whose lines are nested by indentation, as YAML is. It is a unified diff without
// names, with the lines that differ and, in place of those around them, those that they are nested in:
//
//	@@ -1,3 +1,3 @@
//	 data:
//	   images:
//	-    api: a:1
//	+    api: a:2
//
// It is the same for all pairs of texts in which the same lines differ in the same place, whatever else they contain:
// the numbers count the lines that it shows. It is empty if the texts are equal. The effort is bounded as for Unified.
//
// Fault: TooLarge, *budget.Exceeded.
func Folded(ctx context.Context, before, after string) (string, error) {
	m := newMeter(ctx)
	if m.compareTexts(before, after); before == after {
		return "", m.end()
	}
	was, is := m.nested(before), m.nested(after)
	hunks := compareLines(m, was.lines, is.lines)
	if m.err != nil {
		return "", m.end()
	}
	f := folding{meter: m, was: was, is: is, hunks: hunks, shown: map[int]bool{}}
	var removed, added int
	for _, h := range hunks {
		f.hunk(h)
		removed, added = removed+h.iEnd-h.i, added+h.jEnd-h.j
	}
	text := fmt.Sprintf("@@ -%s +%s @@\n", lineRange(0, len(f.shown)+removed), lineRange(0, len(f.shown)+added)) +
		f.text.String()
	m.charge(byteCost * len(text))
	m.hold(len(text))
	m.hold(-len(text) - was.held() - is.held())
	return text, m.end()
}

// nestedLines are the lines of a text. Each has the number of the line that it is nested in, -1 if there is none.
type nestedLines struct {
	lines   []string
	parents []int
}

// held is the memory of the parents.
func (n nestedLines) held() int { return wordSize * len(n.parents) }

// nested cuts a text into lines. A line is nested in the nearest one above that is indented less, where the items of a
// list count as indented more than the key above them, and an empty line as the one above it.
func (m *meter) nested(text string) nestedLines {
	n := nestedLines{lines: m.cutLines(text)}
	m.charge(lineCost * len(n.lines))
	if m.hold(wordSize * len(n.lines)); m.err != nil {
		return n
	}
	n.parents = make([]int, len(n.lines))
	type open struct{ line, indentation int }
	var around []open
	for i, line := range n.lines {
		text := strings.TrimLeft(line, " ")
		indentation := 2 * (len(line) - len(text))
		if strings.HasPrefix(text, "- ") {
			indentation++
		}
		if strings.TrimSpace(text) == "" {
			indentation = 0
			if len(around) > 0 {
				indentation = around[len(around)-1].indentation
			}
		}
		for len(around) > 0 && around[len(around)-1].indentation >= indentation {
			around = around[:len(around)-1]
		}
		n.parents[i] = -1
		if len(around) > 0 {
			n.parents[i] = around[len(around)-1].line
		}
		around = append(around, open{i, indentation})
	}
	return n
}

// above returns the lines that a line is nested in, the nearest first.
func (n nestedLines) above(line int) (above []int) {
	for at := n.parents[line]; at >= 0; at = n.parents[at] {
		above = append(above, at)
	}
	return above
}

// folding is a folded diff under way.
type folding struct {
	*meter

	was, is nestedLines
	hunks   []hunk
	text    strings.Builder
	shown   map[int]bool // lines of was that are the same in is, and were written
}

// hunk writes the lines that a hunk is nested in and that no hunk before it was, then its own.
func (f *folding) hunk(h hunk) {
	var context []int
	if h.iEnd > h.i {
		for _, line := range f.was.above(h.i) {
			if _, same := f.twin(line, hunk.before); same {
				context = append(context, line)
			}
		}
	}
	if h.jEnd > h.j {
		for _, line := range f.is.above(h.j) {
			if twin, same := f.twin(line, hunk.after); same {
				context = append(context, twin)
			}
		}
	}
	f.charge(lineCost * len(context))
	slices.Sort(context)
	for _, line := range context {
		if !f.shown[line] {
			f.shown[line] = true
			writeLines(&f.text, ' ', f.was.lines[line:line+1])
		}
	}
	writeLines(&f.text, '-', f.was.lines[h.i:h.iEnd])
	writeLines(&f.text, '+', f.is.lines[h.j:h.jEnd])
}

// side selects the lines of one text in a hunk, and where those after the hunk begin in the other text.
type side func(hunk) (from, to, beyond int)

func (h hunk) before() (from, to, beyond int) { return h.i, h.iEnd, h.jEnd }
func (h hunk) after() (from, to, beyond int)  { return h.j, h.jEnd, h.iEnd }

// twin returns the line of the other text that is the same as one of this side; same is false if that differs.
func (f *folding) twin(line int, of side) (twin int, same bool) {
	next, _ := slices.BinarySearchFunc(f.hunks, line, func(h hunk, line int) int {
		if from, _, _ := of(h); from > line {
			return 1
		}
		return -1
	})
	if next == 0 {
		return line, true
	}
	_, to, beyond := of(f.hunks[next-1])
	return line - to + beyond, line >= to
}
