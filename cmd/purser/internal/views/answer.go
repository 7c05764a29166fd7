package views

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

	"purser/internal/client"
	"purser/internal/document/blockyaml"
	"purser/internal/wire"
	"purser/internal/words"
)

// Answer is an answer in all the formats in which it can be printed.
type Answer struct {
	JSON  []byte
	Names []string // one line each
	Text  string   // for people, usually a table
}

// In returns an answer in a format: json, yaml, name or table.
func (a Answer) In(format string) string {
	switch format {
	case "json":
		return words.PrintableJSON(string(a.JSON))
	case "yaml":
		return string(blockyaml.Append(nil, a.JSON))
	case "name":
		var b strings.Builder
		for _, name := range a.Names {
			b.WriteString(words.Line(name) + "\n")
		}
		return b.String()
	}
	return a.Text
}

// table returns rows with aligned columns. The first row is the header.
func table(rows [][]string) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = words.Line(cell)
		}
		_, _ = fmt.Fprintln(w, strings.TrimRight(strings.Join(cells, "\t"), "\t"))
	}
	_ = w.Flush() // b is in memory
	return b.String()
}

// moment shortens a time of the server to seconds.
func moment(at wire.Optional) string {
	text, _, _ := strings.Cut(string(at), ".")
	return strings.Replace(text, "T", " ", 1)
}

// dash returns a dash for an empty cell, and any other text unchanged.
func dash[T ~string](text T) string { return cmp.Or(string(text), "-") }

// listText returns items as JSON text, in the form of the server's lists.
func listText(items []json.RawMessage) []byte {
	if items == nil {
		items = []json.RawMessage{}
	}
	return marshal(wire.List[json.RawMessage]{Count: len(items), Results: items})
}

// marshal returns a value as JSON text.
func marshal(value any) []byte {
	text, _ := json.Marshal(value) //nolint:errchkjson // strings, numbers and lists of them always marshal
	return text
}

// decode decodes JSON of the server.
func decode[T any](text []byte) (T, error) {
	var value T
	err := client.Answer{Body: text}.Decode(&value)
	return value, err
}

// decodeAll decodes the items of a list.
func decodeAll[T any](items []json.RawMessage) ([]T, error) {
	list := make([]T, len(items))
	for i, item := range items {
		var err error
		if list[i], err = decode[T](item); err != nil {
			return nil, err
		}
	}
	return list, nil
}
