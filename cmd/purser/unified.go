package main

import (
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

// tintOf returns the colour of a line of a unified diff.
func tintOf(kind diff.Kind) string {
	return map[diff.Kind]string{
		diff.OldName: bold, diff.NewName: bold, diff.Header: cyan, diff.Removed: red, diff.Added: green,
		diff.Same: "", diff.Note: "",
	}[kind]
}
