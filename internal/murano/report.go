package murano

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"purser/internal/budget"
)

// Issue is a problem with a package.
type Issue struct {
	Code     string
	Severity Severity
	Message  string
	File     string // relative to the package; "" if it is about the package
	Located  bool   // it has a place in the file
	Line     int    // lines and columns count from 0, columns in characters
	Column   int
	Source   string // the line
}

// Report lists the issues of a package, sorted by file, line, column, code and message.
type Report struct{ Issues []Issue }

// Errors returns the issues that make the package invalid.
func (r Report) Errors() (issues []Issue) {
	for _, issue := range r.Issues {
		if issue.Severity == Error {
			issues = append(issues, issue)
		}
	}
	return issues
}

func (r Report) sort() {
	slices.SortStableFunc(r.Issues, func(a, b Issue) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Code, b.Code), cmp.Compare(a.Message, b.Message))
	})
}

// maxSource bounds the line that is shown with an issue, in bytes.
const maxSource = 1000

// lineSteps is the cost of dividing a byte of a file into lines.
const lineSteps = 20

// addSources adds to each issue the line of the file that it is about. The errors are those of meter.
func (r Report) addSources(meter *budget.Meter, pkg *Package) error {
	var file string
	var lines []string
	for i := range r.Issues {
		issue := &r.Issues[i]
		if !issue.Located {
			continue
		}
		if issue.File != file || lines == nil {
			f := pkg.Files[issue.File]
			if f == nil {
				f = &File{}
			}
			if err := meter.Spend(lineSteps * (1 + len(f.Raw))); err != nil {
				return err
			}
			file, lines = issue.File, linesOf(f)
		}
		if issue.Line < len(lines) {
			issue.Source = lines[issue.Line]
		}
	}
	return nil
}

// linesOf returns the lines of a UTF-8 file, without its byte order mark.
func linesOf(f *File) []string {
	text := strings.TrimPrefix(string(f.Raw), "\ufeff")
	var lines []string
	for text != "" {
		line, rest := text, ""
		if end := strings.IndexAny(text, "\n\r\u0085\u2028\u2029"); end >= 0 {
			_, size := utf8.DecodeRuneInString(text[end:])
			if strings.HasPrefix(text[end:], "\r\n") {
				size = len("\r\n")
			}
			line, rest = text[:end], text[end+size:]
		}
		if len(line) > maxSource {
			line = line[:maxSource]
		}
		lines, text = append(lines, strings.ToValidUTF8(line, "")), rest
	}
	return lines
}
