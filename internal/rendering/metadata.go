package rendering

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"purser/internal/document"
	"purser/internal/words"
)

// metadata is the part of a document's metadata that matters to its rendering.
type metadata struct {
	abstract    bool
	control     bool
	replacement bool
	encrypted   bool

	labels        []label // by key, as metadata is canonical
	selector      []label
	actions       []action
	substitutions []substitution

	layers []string // of a LayeringPolicy, the most general first; of an invalid one, the part that can be read
}

// metadataSize is the memory of Metadata without its lists, in bytes.
const metadataSize = 128

// readMetadata reads metadata.
func readMetadata(m *memo, stored document.Mapping) *metadata {
	layering := mappingOf(stored.At("layeringDefinition"))
	d := &metadata{
		abstract:    layering.At("abstract") == true,
		control:     strings.HasPrefix(textOf(stored.At("schema")), "metadata/Control"),
		replacement: stored.At("replacement") == true,
		encrypted:   stored.At("storagePolicy") == "encrypted",
		labels:      labelsOf(m.meter, stored.At("labels")),
		selector:    labelsOf(m.meter, layering.At("parentSelector")),
	}
	for _, item := range listOf(layering.At("actions")) {
		d.actions = append(d.actions, readAction(m, mappingOf(item)))
	}
	for _, item := range listOf(stored.At("substitutions")) {
		d.substitutions = append(d.substitutions, readSubstitution(m, mappingOf(item)))
	}
	return d
}

// plainMetadata returns the metadata of a document whose traits determine it completely.
func plainMetadata(m *meter, traits document.Traits) *metadata {
	labels := labelsOf(m, traits.Labels)
	slices.SortFunc(labels, func(a, b label) int { return cmp.Compare(a.key, b.key) })
	return &metadata{
		abstract: traits.Abstract, control: traits.Control, replacement: traits.Replacement, encrypted: traits.Encrypted,
		labels: labels,
	}
}

func mappingOf(value any) document.Mapping {
	m, _ := value.(document.Mapping)
	return m
}

func listOf(value any) []any {
	l, _ := value.([]any)
	return l
}

func textOf(value any) string {
	s, _ := value.(string)
	return s
}

// label is one pair of a document's labels or of a parentSelector. Value is equalText's, because values of different
// types may be equal.
type label struct{ key, value string }

// length returns the size of a label in bytes.
func (l label) length() int { return len(l.key) + len(l.value) }

// text returns the value if it is a string.
func (l label) text() (text string, ok bool) { return strings.CutPrefix(l.value, `"`) }

// nullLabel is the value of a label null, which also selects documents without the label.
const nullLabel = "null"

func labelsOf(m *meter, value any) []label {
	members := mappingOf(value)
	m.hold(2 * entrySize * len(members)) // in an index too
	labels := make([]label, 0, len(members))
	for _, member := range members {
		text := equalText(member.Value)
		m.charge(2*lookupCost + parseByteCost*len(text))
		m.hold(len(text))
		labels = append(labels, label{member.Key, text})
	}
	return labels
}

// equalText returns the same text for all values that are equal in Python, such as 1, 1.0 and true.
func equalText(value any) string {
	if s, ok := value.(string); ok {
		return `"` + s
	}
	return string(document.Canonical(document.MapScalars(value, pythonNumber)))
}

// pythonNumber replaces booleans by 0 and 1, and whole floats by integers. It returns other values unchanged.
func pythonNumber(value any) any {
	switch v := value.(type) {
	case bool:
		if v {
			return document.Number("1")
		}
		return document.Number("0")
	case document.Number:
		return wholeNumber(v)
	}
	return value
}

func wholeNumber(n document.Number) document.Number {
	if _, err := strconv.ParseInt(string(n), 10, 64); err == nil {
		return n
	}
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil || f != float64(int64(f)) {
		return n // integers beyond 64 bits are refused, so no integer equals the float
	}
	return document.Number(strconv.FormatInt(int64(f), 10))
}

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
