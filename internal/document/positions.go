package document

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"purser/internal/budget"
)

// Position is a place in a body. Lines and columns count from 1, columns in characters. The zero Position is unknown.
type Position struct{ Line, Column int }

// AtKey at the end of a path asks for the position of a member's key instead of its value.
const AtKey = "\x00"

// Positions returns the positions, in the whole body, of the values at paths of a segment, which it parses again. If a
// path does not exist, it returns the position of the last value on the path that does: for a missing property, that of
// the mapping that lacks it. A value that begins on a later line than its key has the position of the key. Errors are
// those of the budget.
func Positions(meter *budget.Meter, s Segment, paths [][]string) (positions []Position, err error) {
	p := &parser{meter: meter}
	defer p.release()
	root, err := s.root(p)
	positions = make([]Position, len(paths))
	for i := 0; i < len(paths) && err == nil; i++ {
		positions[i], err = s.locate(meter, root, paths[i])
	}
	if err != nil {
		return nil, budget.About(err, "%s", s.Place())
	}
	return positions, nil
}

// Positions returns the positions of the values at paths of the entry, as the function Positions does.
func (e Entry) Positions(meter *budget.Meter, paths [][]string) ([]Position, error) {
	return Positions(meter, e.source, paths)
}

// stepSteps is the cost of looking at a key of a mapping, in the budget's steps.
const stepSteps = 5

// root parses the segment. It returns nil if the text is invalid; such a text was never decoded.
func (s Segment) root(p *parser) (*yaml.Node, error) {
	if s.media == JSON {
		return p.json(s.Text)
	}
	at := 1
	if s.start > 0 && !s.isItem { // the text is the whole body
		at = s.part
	}
	documents, err := p.parse(s.Text, at)
	if _, invalid := errors.AsType[*syntaxError](err); invalid {
		return nil, nil
	}
	if err != nil || len(documents) < at {
		return nil, err
	}
	root := documents[at-1]
	if s.isItem {
		root = root.Content[s.part-1]
	}
	return root, nil
}

// locate returns the position of the value at a path.
func (s Segment) locate(meter *budget.Meter, root *yaml.Node, path []string) (Position, error) {
	if root == nil {
		return Position{Line: s.Line, Column: 1 + s.indent}, nil
	}
	at := root
	for value := root; len(path) > 0; {
		if err := meter.Spend(stepSteps * (1 + len(value.Content))); err != nil {
			return Position{}, err
		}
		key, next, taken := step(value, path)
		if next == nil {
			break
		}
		ofKey := taken < len(path) && path[taken] == AtKey
		if at = next; key != nil && (ofKey || key.Line != next.Line) {
			at = key
		}
		value, path = next, path[taken:]
	}
	return s.position(Position{at.Line, at.Column}), nil
}

// anchored returns the node that an alias refers to, or the node itself.
func anchored(node *yaml.Node) *yaml.Node {
	for node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	return node
}

// step returns the member or item at the beginning of a path, the member's key, and the number of parts of the path to
// it: a key that contains dots takes several.
func step(value *yaml.Node, path []string) (key, next *yaml.Node, taken int) {
	value = anchored(value)
	switch value.Kind {
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(path[0]); err == nil && i >= 0 && i < len(value.Content) {
			return nil, value.Content[i], 1
		}
	case yaml.MappingNode:
		if key, next, taken = member(value, path); next == nil {
			next, taken = merged(value, path)
		}
	case yaml.DocumentNode, yaml.ScalarNode, yaml.AliasNode:
	}
	return key, next, taken
}

// member returns the member of a mapping at the beginning of a path, as step does. The last of duplicate keys wins.
func member(mapping *yaml.Node, path []string) (key, next *yaml.Node, taken int) {
	rest := strings.Join(path, ".")
	for i := len(mapping.Content) - 2; i >= 0; i -= 2 {
		name := mapping.Content[i].Value
		after, found := strings.CutPrefix(rest, name)
		if !found || after != "" && after[0] != '.' {
			continue
		}
		if n := 1 + strings.Count(name, "."); n <= len(path) && (n < taken || taken == 0) {
			key, next, taken = mapping.Content[i], mapping.Content[i+1], n
		}
	}
	return key, next, taken
}

// merged returns a member that << merges into a mapping. It does not follow << of the merged mappings.
func merged(mapping *yaml.Node, path []string) (next *yaml.Node, taken int) {
	for i := 0; i+1 < len(mapping.Content) && next == nil; i += 2 {
		if !isMerge(mapping.Content[i]) {
			continue
		}
		sources := []*yaml.Node{mapping.Content[i+1]}
		if sources[0].Kind == yaml.SequenceNode {
			sources = sources[0].Content
		}
		for j := 0; j < len(sources) && next == nil; j++ {
			if source := anchored(sources[j]); source.Kind == yaml.MappingNode {
				_, next, taken = member(source, path)
			}
		}
	}
	return next, taken
}

// cursor converts growing offsets in a text to lines and columns.
type cursor struct {
	text         []byte
	offset       int
	line, column int // of the offset; columns in characters
}

func (c *cursor) advance(to int) {
	passed := c.text[c.offset:to]
	if n := bytes.Count(passed, []byte("\n")); n > 0 {
		c.line, c.column = c.line+n, 1
		passed = passed[bytes.LastIndexByte(passed, '\n')+1:]
	}
	c.column += utf8.RuneCount(passed)
	c.offset = to
}
