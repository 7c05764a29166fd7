package authz

import (
	"bytes"
	"strings"
)

// location is where a file defines a rule.
type location struct {
	line int    // counts from 1; 0 if unknown
	rest string // the rest of the line after the name
}

// locate returns the locations of the rules in a file, for messages. The YAML reader returns only values, so locate
// searches for lines that begin with a name. It does not find names in unusual notation.
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

// nameAt splits a line after the key at its beginning.
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
