package declared

import (
	"fmt"
	"strconv"
	"strings"

	"purser/internal/document"
	"purser/internal/rendering/paths"
	"purser/internal/words"
)

// Action is one step of layering.
type Action struct {
	Method  string
	Written string // its path
	Path    *paths.Path
	Stored  document.Mapping // for messages
}

// actionSize is the memory of an action, in bytes.
const actionSize = 64

func action(parser *paths.Parser, stored document.Mapping) Action {
	parser.Hold(actionSize)
	written := text(stored.At("path"))
	return Action{Method: text(stored.At("method")), Written: written, Path: parser.ParseAction(written), Stored: stored}
}

// Substitution copies a value from one document into another.
type Substitution struct {
	Source       Key
	Written      string // the path in the source
	Path         *paths.Path
	Pattern      string
	Group        any
	Destinations []Destination
}

// Key identifies the source of a substitution.
type Key struct{ Schema, Name string }

// Destination is a place that a substitution writes to.
type Destination struct {
	Written   string // its path
	Path      *paths.Path
	Pattern   string // the part of a text to replace; "" is all of it
	Recursive bool
	Depth     int // how many levels of containers are gone through; -1 is all
}

// Memory of a substitution and its edge in the graph, and of a destination, in bytes.
const (
	substitutionSize = 256
	destinationSize  = 96
)

func substitution(parser *paths.Parser, stored document.Mapping) Substitution {
	parser.Hold(substitutionSize)
	src := mapping(stored.At("src"))
	s := Substitution{
		Source:  Key{text(src.At("schema")), text(src.At("name"))},
		Written: text(src.At("path")),
		Path:    parser.Parse(text(src.At("path"))),
		Pattern: text(src.At("pattern")),
		Group:   src.At("match_group"),
	}
	dest := stored.At("dest")
	several, ok := dest.([]any)
	if !ok {
		several = []any{dest}
	}
	for _, d := range several {
		s.Destinations = append(s.Destinations, destination(parser, mapping(d)))
	}
	return s
}

func destination(parser *paths.Parser, stored document.Mapping) Destination {
	d := Destination{Written: text(stored.At("path")), Pattern: text(stored.At("pattern")), Depth: -1}
	parser.Hold(destinationSize)
	if strings.HasPrefix(d.Written, ".") || d.Written == "$" || strings.HasPrefix(d.Written, "$.") {
		d.Path = parser.Parse(d.Written)
	} else {
		broken := fmt.Errorf("the path '%s' of a destination must begin with a dot", words.Excerpt(d.Written))
		d.Path = &paths.Path{Broken: broken}
	}
	if recurse := mapping(stored.At("recurse")); len(recurse) > 0 {
		d.Recursive = true
		if depth, ok := recurse.At("depth").(document.Number); ok {
			d.Depth, _ = strconv.Atoi(string(depth))
		}
	}
	return d
}
