package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"text/tabwriter"

	"purser/internal/client"
	"purser/internal/document/blockyaml"
	"purser/internal/wire"
	"purser/internal/words"
)

// output is the flag for the format in which commands print the answers of a server.
type output struct {
	Output string `default:"table" enum:"table,json,yaml,name" help:"Output format: table (default), json, yaml or name." placeholder:"FORM" short:"o"`
}

// print prints an answer in the requested format.
func (o output) print(around *surroundings, a answer) error { return write(around, a.in(o.Output)) }

// answer is an answer of a server in all the formats in which it can be printed. The functions that make one are pure.
// Names and messages of others cannot begin a line of a table.
type answer struct {
	json  []byte
	names []string // one line each
	text  string   // for people, usually a table
}

// in returns an answer in a format: json, yaml, name or table.
func (a answer) in(format string) string {
	switch format {
	case "json":
		return words.PrintableJSON(string(a.json))
	case "yaml":
		return string(blockyaml.Append(nil, a.json))
	case "name":
		var b strings.Builder
		for _, name := range a.names {
			b.WriteString(words.Line(name) + "\n")
		}
		return b.String()
	}
	return a.text
}

// table returns rows with aligned columns. The first row is the header.
func table(rows [][]string) string { return paintedTable(rows, 0, false) }

// paintedTable is like table, with colours for the statuses in a column if colors is set.
func paintedTable(rows [][]string, column int, colors bool) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			if cells[i] = words.Line(cell); i == column {
				cells[i] = paint(colors, statusTint(strings.TrimSpace(cell)), cells[i])
			}
		}
		_, _ = fmt.Fprintln(w, strings.TrimRight(strings.Join(cells, "\t"), "\t"))
	}
	_ = w.Flush() // b is in memory
	return b.String()
}

// moment returns a time of the server in UTC, to the second, such as 2026-11-22 14:48:29Z; "" if there is none.
func moment(at wire.Optional) string {
	text, _, _ := strings.Cut(strings.TrimSuffix(string(at), "Z"), ".")
	if text == "" {
		return ""
	}
	return strings.Replace(text, "T", " ", 1) + "Z"
}

// dash returns a dash for an empty cell, and any other text unchanged.
func dash[T ~string](text T) string { return cmp.Or(string(text), "-") }

// list has the items of a list of the server, and the JSON text of each.
type list[T any] struct {
	items []T
	texts []json.RawMessage
}

// listOf requests a list with at most so many items.
func listOf[T any](ctx context.Context, server *client.Client, most int, query url.Values, path ...string) (
	found list[T], err error,
) {
	found.texts, err = server.List(ctx, most, query, path...)
	found.items = make([]T, len(found.texts))
	for i := 0; i < len(found.items) && err == nil; i++ {
		err = client.Answer{Body: found.texts[i]}.Decode(&found.items[i])
	}
	return found, err
}

// text returns the list as JSON text, in the form of the server's lists.
func (l list[T]) text() []byte {
	return marshal(wire.List[json.RawMessage]{Count: len(l.texts), Results: append([]json.RawMessage{}, l.texts...)})
}

// marshal returns a value as JSON text.
func marshal(value any) []byte {
	text, _ := json.Marshal(value) //nolint:errchkjson // strings, numbers and lists of them always marshal
	return text
}
