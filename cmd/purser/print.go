package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode"

	"purser/internal/client"
	"purser/internal/document"
)

// output is the flag of commands that print what a server answers.
type output struct {
	Output string `default:"table" enum:"table,json,yaml,name" help:"Form of the output: table, json, yaml or name." placeholder:"FORM" short:"o"`
}

// shown is an answer in the forms that it can be printed in.
type shown struct {
	text  []byte   // JSON
	names []string // what -o name prints, one a line
	table func(w io.Writer)
}

// print prints an answer in the form that is asked for.
func (o output) print(around *surroundings, s shown) error {
	switch o.Output {
	case "json":
		return write(around, string(s.text))
	case "yaml":
		return write(around, string(document.AppendYAML(nil, s.text)))
	case "name":
		return write(around, lines(s.names))
	}
	var b strings.Builder
	s.table(&b)
	return write(around, b.String())
}

func lines(of []string) string {
	var b strings.Builder
	for _, line := range of {
		b.WriteString(client.Printable(line) + "\n")
	}
	return b.String()
}

// write writes a text on standard output, and a line break if it has none at its end.
func write(around *surroundings, text string) error {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if _, err := io.WriteString(around.stdout, text); err != nil {
		return fmt.Errorf("write the output: %w", err)
	}
	return nil
}

// columns writes rows as a table with aligned columns. The first row has the titles.
func columns(w io.Writer, rows [][]string) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i, cell := range row {
			row[i] = cellOf(cell)
		}
		_, _ = fmt.Fprintln(table, strings.TrimRight(strings.Join(row, "\t"), "\t"))
	}
	_ = table.Flush() // w is in memory
}

// cellOf returns a text as one line that cannot control a terminal.
func cellOf(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, client.Printable(text))
}

// moment returns a time of the server for people: to the second.
func moment(at string) string {
	at, _, _ = strings.Cut(at, ".")
	return strings.Replace(at, "T", " ", 1)
}

// dash stands for an empty cell.
func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// listText returns the items of a list as JSON text in the server's form of lists.
func listText(items []json.RawMessage) []byte {
	if items == nil {
		items = []json.RawMessage{}
	}
	text, _ := json.Marshal(struct { //nolint:errchkjson // the items are JSON
		Count   int               `json:"count"`
		Results []json.RawMessage `json:"results"`
	}{len(items), items})
	return text
}

// decodeAll decodes the items of a list.
func decodeAll[T any](items []json.RawMessage) ([]T, error) {
	list := make([]T, len(items))
	for i, item := range items {
		if err := json.Unmarshal(item, &list[i]); err != nil {
			return nil, fmt.Errorf("the server's answer cannot be read: %w", err)
		}
	}
	return list, nil
}
