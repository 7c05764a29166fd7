package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"

	"purser/cmd/purser/internal/views"
)

// output is the flag for the format in which commands print the answers of a server.
type output struct {
	Output string `default:"table" enum:"table,json,yaml,name" help:"Output format: table, json, yaml or name." placeholder:"FORM" short:"o"`
}

// print prints an answer in the requested format.
func (o output) print(around *surroundings, answer views.Answer) error {
	return write(around, answer.In(o.Output))
}

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
	file, ok := w.(*os.File)
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
