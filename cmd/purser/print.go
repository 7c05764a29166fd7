package main

import (
	"fmt"
	"io"
	"strings"

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
