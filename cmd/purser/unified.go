package main

import (
	"cmp"
	"fmt"
	"strings"

	"purser/internal/diff"
	"purser/internal/words"
)

// Colours, as ANSI escape sequences. Those of differences are the same as git's.
const (
	bold   = "\x1b[1m"
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	cyan   = "\x1b[36m"
	usual  = "\x1b[39m" // as long as the others, so that cells of a table stay aligned
	plain  = "\x1b[m"
)

// statusTint returns the colour of a status or a level.
func statusTint(word string) string {
	switch word {
	case "success":
		return green
	case "failure", "error":
		return red
	case "missing", "expired", "warning":
		return yellow
	}
	return usual
}

// paint returns text in a colour if colors is set.
func paint(colors bool, tint, text string) string {
	if !colors {
		return text
	}
	return tinted(tint, text)
}

// tinted returns text in a colour; a tint of "" changes nothing.
func tinted(tint, text string) string {
	if tint == "" || text == "" {
		return text
	}
	return tint + text + plain
}

// unifiedText returns a unified diff, with coloured lines if colors is set.
func unifiedText(unified string, colors bool) string {
	unified = words.Printable(unified)
	if !colors {
		return unified
	}
	var b strings.Builder
	for line := range diff.Lines(unified) {
		b.WriteString(tinted(tintOf(line.Kind), line.String()) + "\n")
	}
	return b.String()
}

// indented returns a unified diff like unifiedText, with indented lines, to follow a line about the document.
func indented(unified string, colors bool) string {
	if unified == "" {
		return ""
	}
	text := strings.TrimSuffix(unifiedText(unified, colors), "\n")
	return "    " + strings.ReplaceAll(text, "\n", "\n    ") + "\n"
}

// lineCount has the number of lines of a document that differ.
type lineCount struct {
	title          string // of the document in a unified diff, without the number of the revision
	added, removed int
	encrypted      bool // its encrypted data differ
}

// lineCounts counts the lines of each document in a unified diff.
func lineCounts(unified string) (counts []lineCount) {
	for line := range diff.Lines(unified) {
		last := len(counts) - 1
		_, title, _ := strings.Cut(line.Text, ", ")
		switch line.Kind {
		case diff.OldName:
			counts = append(counts, lineCount{title: title})
		case diff.NewName:
			counts[last].title = cmp.Or(title, counts[last].title) // /dev/null has no title
		case diff.Added:
			counts[last].added++
		case diff.Removed:
			counts[last].removed++
		case diff.Note:
			title, encrypted := strings.CutSuffix(title, " changed")
			switch {
			case !encrypted || strings.HasPrefix(line.Text, `\`):
			case last >= 0 && counts[last].title == title:
				counts[last].encrypted = true
			default:
				counts = append(counts, lineCount{title: title, encrypted: true})
			}
		case diff.Header, diff.Same:
		}
	}
	return counts
}

// statText returns a line for each document in a unified diff, with the number of its lines that differ, and the sums.
func statText(unified string, colors bool) string {
	var b strings.Builder
	added, removed, counts := 0, 0, lineCounts(words.Printable(unified))
	for _, c := range counts {
		plus, minus := fmt.Sprintf("+%d", c.added), fmt.Sprintf("-%d", c.removed)
		if colors {
			plus, minus = tinted(green, plus), tinted(red, minus)
		}
		fmt.Fprintf(&b, "%s | %s %s", c.title, plus, minus)
		if c.encrypted {
			b.WriteString(", encrypted data")
		}
		b.WriteString("\n")
		added, removed = added+c.added, removed+c.removed
	}
	if len(counts) > 0 {
		fmt.Fprintf(&b, "%s: %s added, %d removed\n", words.Count(len(counts), "document"), words.Count(added, "line"),
			removed)
	}
	return b.String()
}

// tintOf returns the colour of a line of a unified diff.
func tintOf(kind diff.Kind) string {
	return map[diff.Kind]string{
		diff.OldName: bold, diff.NewName: bold, diff.Header: cyan, diff.Removed: red, diff.Added: green,
		diff.Same: "", diff.Note: "",
	}[kind]
}
