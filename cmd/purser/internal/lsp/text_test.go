package lsp

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/check"
	"purser/internal/document"
)

// Columns of the protocol count UTF-16 code units, and those of documents count characters.
func TestPositionOf(t *testing.T) {
	t.Parallel()
	text := linesOf([]byte("\ufeffa: é\r\n😀b: c\r\n\r\nlast"))
	for _, c := range []struct {
		at   position
		want document.Position
	}{
		{position{0, 0}, document.Position{Line: 1, Column: 1}},
		{position{0, 4}, document.Position{Line: 1, Column: 5}},
		{position{0, 99}, document.Position{Line: 1, Column: 5}}, // behind the end, without the carriage return
		{position{1, 1}, document.Position{Line: 2, Column: 1}},  // in the middle of a character
		{position{1, 2}, document.Position{Line: 2, Column: 2}},
		{position{1, 3}, document.Position{Line: 2, Column: 3}},
		{position{2, 0}, document.Position{Line: 3, Column: 1}},
		{position{3, 4}, document.Position{Line: 4, Column: 5}},
		{position{9, 3}, document.Position{Line: 10, Column: 1}},
		{position{-1, -1}, document.Position{Line: 0, Column: 1}},
	} {
		if got := text.positionOf(c.at); got != c.want {
			t.Errorf("%v is %v, want %v", c.at, got, c.want)
		}
	}
}

// The range of a finding is the scalar at its place.
func TestSpanOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line             string
		column, from, to int
	}{
		{"  rack: 99", 9, 8, 10},
		{"  rack: 99  # wrong", 9, 8, 10},
		{"  rack: 99", 3, 2, 6},
		{"😀: é😀 b", 4, 4, 9},
		{"{a: [1, 22], b: 3}", 9, 8, 10},
		{"{a: [1, 22], b: 3}", 17, 16, 17},
		{`a: "x # \" y" # z`, 4, 3, 13},
		{"a: 'x: }'", 4, 3, 9},
		{"a: 'open", 4, 3, 8},
		{"url: http://x/y#z", 6, 5, 17},
		{"key:", 1, 0, 3},
		{"a", 0, 0, 1}, // an unknown column
		{"a", 7, 1, 1}, // behind the end
		{"", 1, 0, 0},
	} {
		got := lines{c.line}.spanOf(check.Place{Line: 1, Column: c.column})
		if want := (span{position{0, c.from}, position{0, c.to}}); got != want {
			t.Errorf("%q, column %d: %s", c.line, c.column, cmp.Diff(want, got))
		}
	}
}

// A URI and the path of a file become each other.
func TestPathOf(t *testing.T) {
	t.Parallel()
	for uri, want := range map[string]string{
		"file:///a/b%20c/%C3%A9.yaml": "/a/b c/é.yaml", "file:///a/../b": "/b",
		"untitled:Untitled-1": "", "https://x/a": "", "file:": "", "%": "", "": "",
	} {
		path, ok := pathOf(uri)
		if path != want || ok != (want != "") {
			t.Errorf("%q is %q, %v", uri, path, ok)
		}
	}
	if got := uriOf("/a/b c#/é.yaml"); got != "file:///a/b%20c%23/%C3%A9.yaml" {
		t.Error(got)
	}
}
