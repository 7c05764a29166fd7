package web

import (
	"context"
	"strings"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/wire"
)

// maxLines bounds the lines of a page, in bytes.
const maxLines = 80_000

// maxNotes bounds the bytes of the findings that are shown beside a line.
const maxNotes = 12_000

// line is a line of a document's text, with its findings.
type line struct {
	Number   int
	Text     string
	Marked   bool // the link to the page points to it
	Findings []wire.Finding
}

// numberedLines returns the lines of text, numbered from first on.
func numberedLines(text string, first int) []line {
	var lines []line
	for i, text := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		lines = append(lines, line{Number: first + i, Text: strings.TrimSuffix(text, "\r")})
	}
	return lines
}

// attach attaches findings to the lines of a document's YAML text, and marks the line of a path if it is given. It
// returns the findings without a line.
func attach(ctx context.Context, text string, lines []line, found []wire.Finding, path string) (rest []wire.Finding) {
	paths := make([][]string, 0, len(found)+1)
	for _, f := range found {
		paths = append(paths, document.SplitPath(string(f.Path)))
	}
	at := linesOf(ctx, text, append(paths, document.SplitPath(path)))
	for i, f := range found {
		if f.Path == "" || at[i] < 1 || at[i] > len(lines) {
			rest = append(rest, f)
			continue
		}
		of := &lines[at[i]-1]
		of.Findings = append(of.Findings, f)
	}
	if n := at[len(found)]; path != "" && n >= 1 && n <= len(lines) {
		lines[n-1].Marked = true
	}
	return rest
}

// linesOf returns the line numbers of the values at paths, 0 where unknown.
func linesOf(ctx context.Context, text string, paths [][]string) []int {
	at := make([]int, len(paths))
	segments, err := document.Split(ctx, []byte(text), document.YAML, document.DefaultLimits())
	if err != nil || len(segments) == 0 {
		return at
	}
	positions, err := document.Positions(budget.NewMeter(ctx), segments[0], paths)
	if err != nil {
		return at
	}
	for i, position := range positions {
		at[i] = position.Line
	}
	return at
}

// perLink is the usual size of a link to a document, in bytes.
const perLink = 200

// pageOfDocument returns a page of a document's lines, given the size of a link to the document. Number 0 selects the
// page of the marked line, or else the first. Pages count from 1.
func pageOfDocument(lines []line, number, link int) (shown []line, page, pages int) {
	const links = 12 // of the page that name the document
	most := min(max(maxLines-links*(link-perLink), maxLines/4), maxLines)
	return pageOfLines(lines, number, most)
}

// pageOfLines returns a page of lines, limited to most bytes.
func pageOfLines(lines []line, number, most int) (shown []line, page, pages int) {
	var starts []int
	size, marked := most, 0
	for i, l := range lines {
		const perLine = 60
		cost := perLine + weight(l.Text) + min(len(l.Findings), 2)*maxNotes/2 //nolint:mnd // few have more than one
		if size += cost; size > most {
			starts, size = append(starts, i), cost
		}
		if l.Marked {
			marked = len(starts)
		}
	}
	pages = len(starts)
	if number < 1 || number > pages {
		number = max(marked, 1)
	}
	if pages == 0 {
		return nil, 1, 1
	}
	end := len(lines)
	if number < pages {
		end = starts[number]
	}
	return lines[starts[number-1]:end], number, pages
}
