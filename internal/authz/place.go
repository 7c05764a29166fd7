package authz

import (
	"bytes"
	"strings"
)

// place is where a file says something about a rule.
type place struct {
	line int    // counts from 1; 0 if it is not known
	rest string // what follows the name on the line
}

// placesOf finds the lines that begin with the name of a rule, for messages. The YAML reader gives values only; names
// that are written in an unusual way are not found.
func placesOf(text []byte) map[string]place {
	places, number := map[string]place{}, 0
	for line := range bytes.Lines(text) {
		number++
		name, rest, ok := nameAt(strings.TrimLeft(string(line), " \t{,"))
		if _, seen := places[name]; ok && !seen {
			places[name] = place{number, strings.TrimSpace(rest)}
		}
	}
	return places
}

// nameAt cuts a line behind the key that it begins with.
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
