package api

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"purser/internal/document"
	"purser/internal/queries"
	"purser/internal/rendering"
	"purser/internal/words"
)

// explanationText formats an explanation for people: a numbered list of the documents involved, and the data as a tree
// with the origin of each value beside it.
func explanationText(e queries.Explanation) string {
	t := explanationTree{Explanation: e, numbers: map[int]int{}}
	t.number(e.Document)
	t.grow("", e.Leaves, 0)
	return t.legend() + "\n" + t.table()
}

type explanationTree struct {
	queries.Explanation

	documents []int       // in the order of their numbers
	numbers   map[int]int // by document
	lines     [][2]string // values and their origins
}

// number returns the number of a document in the list, which starts at 1.
func (t *explanationTree) number(doc int) int {
	if t.numbers[doc] == 0 {
		t.documents = append(t.documents, doc)
		t.numbers[doc] = len(t.documents)
	}
	return t.numbers[doc]
}

func (t *explanationTree) legend() string {
	var rows [][2]string
	for i, doc := range t.documents {
		d := t.Documents[doc]
		place := fmt.Sprintf("bucket %s, revision %d", d.Bucket, d.Revision)
		if d.Layer != "" {
			place = "layer " + d.Layer + ", " + place
		}
		rows = append(rows, [2]string{fmt.Sprintf("[%d] %s %s", i+1, d.Schema, oneLine(d.Name)), words.Line(place)})
	}
	return columns(rows)
}

func (t *explanationTree) table() string { return columns(t.lines) }

// grow adds lines for leaves that share the first depth parts of their paths.
func (t *explanationTree) grow(indent string, leaves []rendering.Leaf, depth int) {
	if len(leaves) == 1 && len(leaves[0].Parts) == depth { // the data is a single value
		t.lines = append(t.lines, [2]string{valueText(leaves[0]), t.origin(leaves[0].Trail, leaves[0].At)})
		return
	}
	for len(leaves) > 0 {
		if len(leaves[0].Parts) == depth { // the secret parts of a value that also has others
			line := indent + "├─ …: " + valueText(leaves[0])
			t.lines = append(t.lines, [2]string{line, t.origin(leaves[0].Trail, leaves[0].At)})
			leaves = leaves[1:]
			continue
		}
		part := leaves[0].Parts[depth]
		end := slices.IndexFunc(leaves, func(l rendering.Leaf) bool {
			return len(l.Parts) == depth || l.Parts[depth] != part
		})
		branch, deeper := "├─ ", "│  "
		if end < 0 {
			end, branch, deeper = len(leaves), "└─ ", "   "
		}
		line := indent + branch + oneLine(strings.TrimPrefix(part, "."))
		if end == 1 && len(leaves[0].Parts) == depth+1 {
			t.lines = append(t.lines, [2]string{line + ": " + valueText(leaves[0]), t.origin(leaves[0].Trail, leaves[0].At)})
		} else {
			t.lines = append(t.lines, [2]string{line})
			t.grow(indent+deeper, leaves[:end], depth+1)
		}
		leaves = leaves[end:]
	}
}

// origin describes where a leaf was written and each step since. It omits a path that is the same as the leaf's own.
func (t *explanationTree) origin(trail rendering.Trail, now string) string {
	from := fmt.Sprintf("[%d]", t.number(trail.Document))
	if trail.Path != "" && trail.Path != now {
		from += " " + trail.Path
	}
	parts := []string{from}
	if trail.Omitted > 0 {
		parts = append(parts, words.Count(trail.Omitted, "more step"))
	}
	for _, step := range trail.Steps {
		parts = append(parts, t.step(step))
	}
	return printable(strings.Join(parts, ", "))
}

func (t *explanationTree) step(step rendering.Step) string {
	in := ""
	if step.Document != t.Document {
		in = fmt.Sprintf(" in [%d]", t.number(step.Document))
	}
	switch step.Kind {
	case rendering.Inherited:
		return fmt.Sprintf("inherited by [%d]", t.number(step.Document))
	case rendering.Merged:
		return "merged at " + step.To + in
	case rendering.Replaced:
		return "put at " + step.To + in
	case rendering.Deleted:
		return "left empty by deleting " + step.To + in
	case rendering.Substituted:
		return "substituted" + partText(step, "") + " to " + step.To + in
	case rendering.Inserted:
	}
	by := fmt.Sprintf("[%d] %s", t.number(step.Source), step.From)
	if step.Inserted != nil {
		by = t.origin(*step.Inserted, "")
	}
	if strings.Contains(by, ", ") {
		by = "(" + by + ")"
	}
	return step.Pattern + " replaced" + in + " by" + partText(step, " of") + " " + by
}

func partText(step rendering.Step, of string) string {
	if step.Part == "" {
		return ""
	}
	return " the part " + step.Part + of
}

// valueText formats a value on one line.
func valueText(leaf rendering.Leaf) string {
	if leaf.Secret {
		return "(secret)"
	}
	if text, ok := leaf.Value.(string); ok && text != "" && !isScalar(text) {
		return oneLine(text)
	}
	return string(document.AppendJSON(nil, leaf.Value))
}

// isScalar reports whether unquoted text would be read as something other than a string.
func isScalar(text string) bool {
	_, err := document.ParseJSON([]byte(text))
	return err == nil
}

// oneLine shortens text and makes it printable.
func oneLine(text string) string {
	const maxLength = 200
	return words.First(printable(text), maxLength)
}

// printable quotes text that contains unprintable characters or several lines.
func printable(text string) string {
	if words.Line(text) != text {
		text = words.PrintableJSON(string(document.AppendJSON(nil, text)))
	}
	return text
}

// columns aligns the second column, except after a first column that is too long.
func columns(rows [][2]string) string {
	const maxWidth = 60
	width := 0
	for _, row := range rows {
		if n := utf8.RuneCountInString(row[0]); row[1] != "" && n <= maxWidth {
			width = max(width, n)
		}
	}
	var b strings.Builder
	for _, row := range rows {
		b.WriteString(row[0])
		if row[1] != "" {
			fmt.Fprintf(&b, "%*s  %s", max(0, width-utf8.RuneCountInString(row[0])), "", row[1])
		}
		b.WriteByte('\n')
	}
	return b.String()
}
