package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"purser/internal/document/blockyaml"
	"purser/internal/words"
)

// output is the flag for the format in which commands print the answers of a server.
type output struct {
	Output string `default:"table" enum:"table,json,yaml,name" help:"Output format: table, json, yaml or name." placeholder:"FORM" short:"o"`
}

// shown is an answer in all the formats in which it can be printed.
type shown struct {
	text  []byte   // JSON
	names []string // printed by -o name, one per line
	table func(w io.Writer)
}

// print prints an answer in the requested format.
func (o output) print(around *surroundings, s shown) error {
	switch o.Output {
	case "json":
		return write(around, words.PrintableJSON(string(s.text)))
	case "yaml":
		return write(around, string(blockyaml.Append(nil, s.text)))
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
		b.WriteString(words.Printable(line) + "\n")
	}
	return b.String()
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

// columns writes rows as a table with aligned columns. The first row is the header.
func columns(w io.Writer, rows [][]string) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i, cell := range row {
			row[i] = words.Line(cell)
		}
		_, _ = fmt.Fprintln(table, strings.TrimRight(strings.Join(row, "\t"), "\t"))
	}
	_ = table.Flush() // w is in memory
}

// moment shortens a time of the server to seconds.
func moment(at string) string {
	at, _, _ = strings.Cut(at, ".")
	return strings.Replace(at, "T", " ", 1)
}

// dash returns a dash for an empty cell, and any other text unchanged.
func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// listText returns items as JSON text, in the form of the server's lists.
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

// decode decodes JSON of the server.
func decode(text []byte, into any) error {
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("the server's answer cannot be read: %w", err)
	}
	return nil
}

// marshal returns a value as JSON text.
func marshal(value any) []byte {
	text, _ := json.Marshal(value) //nolint:errchkjson // strings, numbers and lists of them always marshal
	return text
}
