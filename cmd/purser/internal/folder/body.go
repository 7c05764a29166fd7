package folder

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"purser/internal/check"
	"purser/internal/document"
)

// Body is the body of a request, which has the files as they are, and the documents in them.
type Body struct {
	Text    []byte
	Empty   []string // the buckets of a change set without documents
	Notices []string // lines for the user about files that were left out, and about mistakes that servers accept

	files   []placed
	sources []source
}

// placed is a file in a body.
type placed struct {
	name string // as the user knows it
	line int    // of the body, at which its text begins
}

// bodyOf makes a body of the files that were read.
func bodyOf(read contents) *Body {
	b := &Body{Empty: read.empty, Notices: read.notices(), sources: read.sources}
	line := 1
	for _, file := range read.files {
		at := len(b.Text)
		b.Text = document.AppendFile(b.Text, file.File)
		b.files = append(b.files, placed{file.name, line + 1})
		line += bytes.Count(b.Text[at:], []byte("\n"))
	}
	return b
}

// Rename gives the files other names, also in notices.
func (b *Body) Rename(name func(string) string) {
	for i := range b.files {
		b.files[i].name = name(b.files[i].name)
	}
	for i := range b.sources {
		b.sources[i].file = name(b.sources[i].file)
	}
	for i, notice := range b.Notices {
		b.Notices[i] = name(notice)
	}
}

// pathsIn returns the paths of files relative to the folder that has all that the user has named, "" for those without
// one that a server takes. Both kinds of names are as the user knows them.
func pathsIn(named, files []string) (paths map[string]string) {
	paths = map[string]string{}
	common := ""
	for i, name := range named {
		in, err := filepath.Abs(name)
		if err != nil || name == "-" {
			continue
		}
		if info, err := os.Stat(name); err != nil || !info.IsDir() {
			in = filepath.Dir(in)
		}
		if i == 0 || common == "" {
			common = in
		}
		for !below(in, common) {
			common = filepath.Dir(common)
		}
	}
	for _, name := range files {
		at, err := filepath.Abs(name)
		if err != nil || common == "" {
			continue
		}
		in, err := filepath.Rel(common, at)
		if path := filepath.ToSlash(in); err == nil && document.CheckPath(path) == nil && isRead(path) {
			paths[name] = path
		}
	}
	return paths
}

// isRead reports whether a push reads a file with a path in a folder. What .purser.yaml excludes is not known here.
func isRead(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if strings.HasPrefix(part, ".") {
			return false
		}
	}
	return check.IsDocumentFile(path)
}

// below reports whether a path is that of a folder or of something in it.
func below(path, folder string) bool {
	in, err := filepath.Rel(folder, path)
	return err == nil && in != ".." && !strings.HasPrefix(in, ".."+string(filepath.Separator)) ||
		filepath.Dir(folder) == folder
}

// Place returns the place of a problem in the files as text, "" if the line of the body is in no file: see At.
func (b *Body) Place(line, column int) string { return b.At(line, column).Text() }

// At returns the place of a problem in the files. The server named the line of the body and the column, 0 if it is not
// known. The result is zero if the line is in no file.
func (b *Body) At(line, column int) check.Place {
	i, _ := slices.BinarySearchFunc(b.files, line, func(file placed, line int) int {
		if file.line <= line {
			return -1
		}
		return 1
	})
	if i == 0 {
		return check.Place{}
	}
	file := b.files[i-1]
	return check.Place{File: file.name, Line: line - file.line + 1, Column: max(column, 0)}
}

// bodyLine matches a line number in a message of the server.
var bodyLine = regexp.MustCompile(`\bline (\d+)(?:,? column (\d+))?`)

// Located replaces lines of the body in a message of the server by lines of files.
func (b *Body) Located(message string) string {
	return bodyLine.ReplaceAllStringFunc(message, func(match string) string {
		parts := bodyLine.FindStringSubmatch(match)
		line, _ := strconv.Atoi(parts[1])
		column, _ := strconv.Atoi(parts[2])
		if place := b.Place(line, column); place != "" {
			return place
		}
		return match
	})
}
