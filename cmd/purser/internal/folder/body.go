package folder

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"purser/internal/budget"
	"purser/internal/document"
)

// Body is the body of a request, a stream of documents, and the sources of its lines.
type Body struct {
	Text    []byte
	Empty   []string // the buckets of a change set without documents
	Notices []string // lines for the user about files that were left out, and about mistakes that servers accept

	lines  int
	pieces []piece
}

// piece is a document in a body.
type piece struct {
	*source

	from  int  // its first line in the body, which may be a separator that the file does not have
	line  int  // the first line of its text in the body
	exact bool // its lines are the same as in the file
}

// bodyOf makes a body of the documents that were read. In a change set, each document names its bucket.
func bodyOf(read contents) *Body {
	b := &Body{Empty: read.empty, Notices: read.notices()}
	for i := range read.sources {
		b.add(&read.sources[i])
	}
	return b
}

// Rename gives the files other names, also in notices.
func (b *Body) Rename(name func(string) string) {
	for i := range b.pieces {
		b.pieces[i].file = name(b.pieces[i].file)
	}
	for i, notice := range b.Notices {
		b.Notices[i] = name(notice)
	}
}

// add adds a document: unchanged if possible, and otherwise as JSON on one line.
func (b *Body) add(s *source) {
	text := s.segment.Text
	root, isMapping := s.Value.(document.Mapping)
	_, hasStatus := root.Lookup("status")
	verbatim := !s.segment.Digest.IsZero() // it does not depend on a directive, and is not an item of a list
	if s.bucket != "" {
		verbatim = verbatim && isMapping && !hasStatus && isBlock(text)
	}
	if !verbatim {
		value := s.Value
		if s.bucket != "" && isMapping {
			value = root.With("status", document.Mapping{{Key: "bucket", Value: s.bucket}})
		}
		text = document.AppendJSON(nil, value)
	}
	from := b.lines + 1
	if !bytes.HasPrefix(text, []byte("---")) {
		b.append([]byte("---\n"))
	}
	b.pieces = append(b.pieces, piece{s, from, b.lines + 1, verbatim})
	b.append(text)
	if !bytes.HasSuffix(text, []byte("\n")) {
		b.append([]byte("\n"))
	}
	if s.bucket != "" && verbatim {
		b.append(append(document.AppendJSON([]byte("status: {bucket: "), s.bucket), "}\n"...))
	}
}

func (b *Body) append(text []byte) {
	b.Text = append(b.Text, text...)
	b.lines += bytes.Count(text, []byte("\n"))
}

// block matches the text of a document in block style, in which each top-level key begins a line.
var block = regexp.MustCompile(`\A(---[ \t]*(#.*)?\r?\n)?([ \t]*(#.*)?\r?\n)*[A-Za-z"']`)

func isBlock(text []byte) bool { return block.Match(text) }

// at returns the document at a line of the body, nil if there is none.
func (b *Body) at(line int) *piece {
	i, _ := slices.BinarySearchFunc(b.pieces, line, func(p piece, line int) int {
		if p.from <= line {
			return -1
		}
		return 1
	})
	if i == 0 {
		return nil
	}
	return &b.pieces[i-1]
}

// place returns the place in the file of a line of the body: FILE:LINE, with the column if it is known.
func (p *piece) place(line, column int) string {
	if !p.exact {
		return fmt.Sprintf("%s:%d", p.file, p.segment.Line)
	}
	place := fmt.Sprintf("%s:%d", p.file, p.segment.Line+max(line-p.line, 0))
	if column > 0 && line == p.line {
		column += p.segment.Indent()
	}
	if column > 0 {
		place += ":" + strconv.Itoa(column)
	}
	return place
}

// positionOf returns the position of a value in its file: FILE:LINE:COLUMN.
func (s *source) positionOf(ctx context.Context, path string) string {
	at, err := document.Positions(budget.NewMeter(ctx), s.segment, [][]string{document.SplitPath(path)})
	if err != nil || len(at) == 0 || at[0].Line == 0 {
		return fmt.Sprintf("%s:%d", s.file, s.segment.Line)
	}
	return fmt.Sprintf("%s:%d:%d", s.file, at[0].Line, at[0].Column)
}

// Place returns the place of a problem in the files, FILE:LINE or FILE:LINE:COLUMN. The server named the line of the
// body, the column, 0 if it is not known, and the path of the value. The result is "" if the line is in no document.
func (b *Body) Place(ctx context.Context, line, column int, path string) string {
	p := b.at(line)
	switch {
	case p == nil:
		return ""
	case !p.exact:
		return p.positionOf(ctx, path)
	}
	return p.place(line, column)
}

// bodyLine matches a line number in a message of the server.
var bodyLine = regexp.MustCompile(`\bline (\d+)(?:,? column (\d+))?`)

// Located replaces lines of the body in a message of the server by lines of files.
func (b *Body) Located(message string) string {
	return bodyLine.ReplaceAllStringFunc(message, func(match string) string {
		parts := bodyLine.FindStringSubmatch(match)
		line, _ := strconv.Atoi(parts[1])
		column, _ := strconv.Atoi(parts[2])
		if p := b.at(line); p != nil {
			return p.place(line, column)
		}
		return match
	})
}
