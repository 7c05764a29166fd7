package rendering

import (
	"fmt"
	"strconv"
	"strings"

	"purser/internal/document"
	"purser/internal/words"
)

// action is one step of layering.
type action struct {
	method  string
	written string // its path
	path    *dataPath
	stored  document.Mapping // for messages
}

// actionSize is the memory of an action, in bytes.
const actionSize = 64

func readAction(m *memo, stored document.Mapping) action {
	m.hold(actionSize)
	written := textOf(stored.At("path"))
	return action{method: textOf(stored.At("method")), written: written, path: m.parseAction(written), stored: stored}
}

// substitution copies a value from one document into another.
type substitution struct {
	source       Key
	written      string // the path in the source
	path         *dataPath
	pattern      string
	group        any
	destinations []destination
}

// Key is the schema and name of documents, one in each of some layers. Substitutions name their source by it.
type Key struct{ Schema, Name string }

// destination is a place that a substitution writes to.
type destination struct {
	written   string // its path
	path      *dataPath
	pattern   string // the part of a text to replace; "" is all of it
	recursive bool
	depth     int // how many levels of containers are gone through; -1 is all
}

// Memory of a substitution and its edge in the graph, and of a destination, in bytes.
const (
	substitutionSize = 256
	destinationSize  = 96
)

func readSubstitution(m *memo, stored document.Mapping) substitution {
	m.hold(substitutionSize)
	src := mappingOf(stored.At("src"))
	s := substitution{
		source:  Key{textOf(src.At("schema")), textOf(src.At("name"))},
		written: textOf(src.At("path")),
		path:    m.parsePath(textOf(src.At("path"))),
		pattern: textOf(src.At("pattern")),
		group:   src.At("match_group"),
	}
	dest := stored.At("dest")
	several, ok := dest.([]any)
	if !ok {
		several = []any{dest}
	}
	for _, d := range several {
		s.destinations = append(s.destinations, readDestination(m, mappingOf(d)))
	}
	return s
}

func readDestination(m *memo, stored document.Mapping) destination {
	d := destination{written: textOf(stored.At("path")), pattern: textOf(stored.At("pattern")), depth: -1}
	m.hold(destinationSize)
	if strings.HasPrefix(d.written, ".") || d.written == "$" || strings.HasPrefix(d.written, "$.") {
		d.path = m.parsePath(d.written)
	} else {
		broken := fmt.Errorf("the path '%s' of a destination must begin with a dot", words.Excerpt(d.written))
		d.path = &dataPath{broken: broken}
	}
	if recurse := mappingOf(stored.At("recurse")); len(recurse) > 0 {
		d.recursive = true
		if depth, ok := recurse.At("depth").(document.Number); ok {
			d.depth, _ = strconv.Atoi(string(depth))
		}
	}
	return d
}
