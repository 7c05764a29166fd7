package lsp

import (
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"purser/internal/check"
	"purser/internal/document"
)

// lines are the lines of a text, without their ends.
type lines []string

func linesOf(text []byte) lines {
	all := strings.Split(strings.TrimPrefix(string(text), "\ufeff"), "\n")
	for i := range all {
		all[i] = strings.TrimSuffix(all[i], "\r")
	}
	return all
}

// at returns a line, which counts from 0; "" if there is none.
func (l lines) at(line int) string {
	if line < 0 || line >= len(l) {
		return ""
	}
	return l[line]
}

// units returns the number of UTF-16 code units of a text.
func units(text string) (n int) {
	for _, r := range text {
		n += utf16.RuneLen(r)
	}
	return n
}

// offset returns the offset in a line, in bytes, of a number of UTF-16 code units. It is within the line, and before a
// character whose middle is asked for.
func offset(line string, character int) int {
	for i, r := range line {
		if character -= utf16.RuneLen(r); character < 0 {
			return i
		}
	}
	return len(line)
}

// positionOf converts a position of the protocol to one of a document.
func (l lines) positionOf(p position) document.Position {
	line := l.at(p.Line)
	return document.Position{Line: p.Line + 1, Column: 1 + utf8.RuneCountInString(line[:offset(line, p.Character)])}
}

// spanOf converts a place to the range of the word there, which ends with the value's line at the latest.
func (l lines) spanOf(p check.Place) span {
	line := max(1, p.Line) - 1
	text := l.at(line)
	start := len(text)
	for i := range text {
		if p.Column--; p.Column <= 0 {
			start = i
			break
		}
	}
	from := units(text[:start])
	return span{position{line, from}, position{line, from + units(text[start:start+wordLength(text[start:])])}}
}

// wordLength returns the length of the scalar at the beginning of a text: up to its closing quote, or up to what can
// end a plain one.
func wordLength(text string) int {
	if text == "" {
		return 0
	}
	if quote := text[0]; quote == '"' || quote == '\'' {
		for i := 1; i < len(text); i++ {
			if text[i] == '\\' && quote == '"' {
				i++
			} else if text[i] == quote {
				return i + 1
			}
		}
		return len(text)
	}
	end := len(text)
	for _, mark := range []string{" #", ": ", ", ", "}", "]"} {
		if i := strings.Index(text, mark); i > 0 {
			end = min(end, i)
		}
	}
	return len(strings.TrimRight(strings.TrimSuffix(text[:end], ":"), " \t"))
}

// pathOf returns the path of the file that a URI names; ok is false if it names none.
func pathOf(uri string) (path string, ok bool) {
	parsed, err := url.Parse(uri)
	if err != nil || parsed.Scheme != "file" || parsed.Path == "" {
		return "", false
	}
	path = parsed.Path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/") // /c:/…
	}
	return filepath.Clean(filepath.FromSlash(path)), true
}

// uriOf returns the URI of a file.
func uriOf(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}
