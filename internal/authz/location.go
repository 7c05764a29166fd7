package authz

import (
	"bytes"
	"strings"
)

// location is the line of a file that begins with the name of a rule.
type location struct {
	line int    // counts from 1; 0 if it is unknown
	rest string // the line after the name
}

// locate returns the lines that begin with the name of a rule, for messages: the YAML reader returns values only. It
// does not find names that are written in an unusual way.
func locate(text []byte) map[string]location {
	locations, number := map[string]location{}, 0
	for line := range bytes.Lines(text) {
		number++
		name, rest, ok := nameAt(strings.TrimLeft(string(line), " \t{,"))
		if _, seen := locations[name]; ok && !seen {
			locations[name] = location{number, strings.TrimSpace(rest)}
		}
	}
	return locations
}

// nameAt cuts a line after the key that it begins with.
func nameAt(line string) (name, rest string, ok bool) {
	line = strings.TrimRight(line, "\r\n")
	if line != "" && (line[0] == '"' || line[0] == '\'') {
		name, rest, ok = strings.Cut(line[1:], line[:1])
		rest, isKey := strings.CutPrefix(strings.TrimLeft(rest, " \t"), ":")
		return name, rest, ok && isKey
	}
	if name, isLast := strings.CutSuffix(line, ":"); isLast && !strings.Contains(name, ": ") {
		return name, "", true
	}
	name, rest, ok = strings.Cut(line, ": ")
	return strings.TrimRight(name, " \t"), rest, ok
}
