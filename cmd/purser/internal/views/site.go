package views

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"purser/internal/document/blockyaml"
	"purser/internal/events"
	"purser/internal/wire"
	"purser/internal/words"
)

// Buckets returns a list of buckets.
func Buckets(items []json.RawMessage) (Answer, error) {
	buckets, err := decodeAll[wire.Bucket](items)
	if err != nil {
		return Answer{}, err
	}
	rows, names := [][]string{{"BUCKET", "DOCUMENTS", "REVISION", "AT", "USER", "MESSAGE"}}, []string{}
	for _, b := range buckets {
		names = append(names, b.Name)
		rows = append(rows, []string{
			b.Name, strconv.Itoa(b.Documents), strconv.FormatInt(b.Revision, 10), dash(moment(b.ChangedAt)), dash(b.User),
			string(b.Message),
		})
	}
	return Answer{listText(items), names, table(rows)}, nil
}

// Caller returns the caller as a server has authenticated it.
func Caller(server string, text []byte, caller wire.Caller) Answer {
	var b strings.Builder
	b.WriteString(table([][]string{
		{"server", server},
		{"user", dash(caller.User.Name), caller.User.ID},
		{"roles", dash(strings.Join(caller.Roles, ", "))},
		{"project", dash(caller.Project)},
	}))
	if len(caller.Rules) == 0 {
		b.WriteString("rules that you pass: none; the policy file of the server says which roles pass which\n")
	} else {
		b.WriteString("rules that you pass:\n")
	}
	for _, rule := range caller.Rules {
		fmt.Fprintln(&b, words.Line("  "+rule))
	}
	return Answer{text, []string{caller.User.ID}, b.String()}
}

// Documents returns a list of documents by their identities.
func Documents(documents []wire.Identity) Answer {
	rows, names := [][]string{{"SCHEMA", "LAYER", "NAME", "BUCKET"}}, []string{}
	for _, doc := range documents {
		names = append(names, doc.Schema+"/"+doc.Name)
		rows = append(rows, []string{doc.Schema, dash(doc.Layer), doc.Name, string(doc.Bucket)})
	}
	return Answer{Names: names, Text: table(rows)}
}

// Event returns an event in a format: text, json or yaml.
func Event(text []byte, format string) (string, error) {
	switch format {
	case "json":
		return words.PrintableJSON(string(text)), nil
	case "yaml":
		return "---\n" + string(blockyaml.Append(nil, text)), nil
	}
	event, err := decode[events.Cloud](text)
	if err != nil {
		return "", err
	}
	values, err := decode[map[string]any](event.Data)
	if err != nil {
		return "", err
	}
	var data []string
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if value, ok := values[key].(string); ok {
			data = append(data, key+"="+value)
		} else {
			data = append(data, key+"="+string(marshal(values[key])))
		}
	}
	return words.Line(fmt.Sprintf("%s  %s  %s  %s", moment(wire.Optional(event.Time)), event.Type, dash(event.Subject),
		strings.Join(data, " "))), nil
}
