package diff

import (
	"iter"
	"regexp"
	"strconv"
	"strings"
)

// Line is a line of a unified diff.
type Line struct {
	Kind     Kind
	Old, New int    // its numbers; 0 if that side does not have it
	Text     string // without the mark of its kind, and without its line break
}

// Kind is the kind of a Line.
type Kind string

// The kinds of lines.
const (
	Note    Kind = ""        // none of these, such as \ No newline at end of file
	OldName Kind = "old"     // --- name
	NewName Kind = "new"     // +++ name
	Header  Kind = "header"  // @@ -1,6 +1,7 @@
	Removed Kind = "removed" // -line
	Added   Kind = "added"   // +line
	Same    Kind = "same"    //  line
)

// mark returns the beginning of lines of a kind, which is not part of their text.
func (k Kind) mark() string {
	switch k {
	case OldName:
		return "--- "
	case NewName:
		return "+++ "
	case Removed:
		return "-"
	case Added:
		return "+"
	case Same:
		return " "
	case Header, Note:
	}
	return ""
}

// String returns the line with its mark.
func (l Line) String() string { return l.Kind.mark() + l.Text }

// Lines reads unified diffs of several documents, one after the other. The numbers in the header of a hunk determine
// its lines, so that no line of a document is mistaken for a name or a header.
func Lines(unified string) iter.Seq[Line] {
	return func(yield func(Line) bool) {
		var before, after extent
		var last Kind
		for rest := unified; rest != ""; {
			line := Line{}
			line.Text, rest, _ = strings.Cut(rest, "\n")
			switch {
			case before.left > 0 || after.left > 0:
				line.Kind = kindInHunk(line.Text)
				line.Old, line.New = before.take(line.Kind, Removed), after.take(line.Kind, Added)
			case strings.HasPrefix(line.Text, "--- ") && strings.HasPrefix(rest, "+++ "):
				line.Kind = OldName
			case last == OldName:
				line.Kind = NewName
			default:
				if header := hunkHeader.FindStringSubmatch(line.Text); header != nil {
					line.Kind, before, after = Header, extentOf(header[1], header[2]), extentOf(header[3], header[4])
				}
			}
			last, line.Text = line.Kind, strings.TrimPrefix(line.Text, line.Kind.mark())
			if !yield(line) {
				return
			}
		}
	}
}

func kindInHunk(text string) Kind {
	switch {
	case strings.HasPrefix(text, "-"):
		return Removed
	case strings.HasPrefix(text, "+"):
		return Added
	case strings.HasPrefix(text, `\`):
		return Note
	}
	return Same
}

var hunkHeader = regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)

// extent is the part of one side that a hunk shows.
type extent struct{ next, left int } // the number of the next line, and how many are left

func extentOf(first, count string) extent {
	e := extent{left: 1}
	e.next, _ = strconv.Atoi(first) // digits
	if count != "" {
		e.left, _ = strconv.Atoi(count)
	}
	return e
}

// take returns the number of the next line if that is of the kind own or Same, and 0 if it is on the other side.
func (e *extent) take(kind, own Kind) int {
	if kind != own && kind != Same {
		return 0
	}
	e.next, e.left = e.next+1, e.left-1
	return e.next - 1
}
