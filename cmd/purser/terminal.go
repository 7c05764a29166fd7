package main

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/term"

	"purser/internal/words"
)

// write writes text to standard output. It adds a line break unless the text ends with one.
func write(around *surroundings, text string) error {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if _, err := io.WriteString(around.stdout, text); err != nil {
		return fmt.Errorf("write the output: %w", err)
	}
	return nil
}

// screen is a standard stream on which all text is printable: names and messages of others cannot control a terminal.
type screen struct {
	io.Writer

	colors bool // texts have colours, which stay
}

// pieces are escape sequences of colours, and the texts between them.
var pieces = regexp.MustCompile("\x1b\\[[0-9;]*m|[^\x1b]+|\x1b")

// Write implements io.Writer.
func (s screen) Write(text []byte) (int, error) {
	shown := pieces.ReplaceAllStringFunc(string(text), func(piece string) string {
		if s.colors && strings.HasPrefix(piece, "\x1b[") {
			return piece
		}
		return words.Printable(piece)
	})
	if _, err := s.Writer.Write([]byte(shown)); err != nil {
		return 0, err
	}
	return len(text), nil
}

// shown returns the surroundings with screens on the standard streams.
func (s surroundings) shown() surroundings {
	s.stdout = screen{s.stdout, s.colors || hasColors(s.stdout)}
	s.stderr = screen{s.stderr, s.colors || hasColors(s.stderr)}
	return s
}

// below returns the stream of a screen, for texts that control the terminal.
func below(w io.Writer) io.Writer {
	if s, ok := w.(screen); ok {
		return s.Writer
	}
	return w
}

// ask asks a question on the terminal. It returns an error unless the answer is yes.
func ask(around *surroundings, question string) error {
	fmt.Fprint(around.stderr, question, " [y/N] ")
	var answer string
	_, _ = fmt.Fscanln(around.stdin, &answer) // an empty answer means no
	if !slices.Contains([]string{"y", "yes"}, strings.ToLower(answer)) {
		return no("nothing was changed")
	}
	return nil
}

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	file, ok := below(w).(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// widthOf returns the width of a terminal in characters, 0 if the file is not a terminal.
func widthOf(file *os.File) int {
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// hasColors reports whether w is a terminal that shows colours, and NO_COLOR (https://no-color.org) is not set.
func hasColors(w io.Writer) bool {
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(w)
}
