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
func Positions(meter *budget.Meter, s Segment, paths [][]string) ([]Position, error) {
	l := &locator{segment: s, parser: &parser{meter: meter}}
	defer l.parser.release()
	root, err := l.root()
	if err != nil {
		return nil, budget.About(err, "%s", s.Place())
	}
	positions := make([]Position, len(paths))
	for i, path := range paths {
		if positions[i], err = l.locate(root, path); err != nil {
			return nil, budget.About(err, "%s", s.Place())
		}
	}
	return positions, nil
}

// Positions returns the positions of the values at paths of the entry, as the function Positions does.
func (e Entry) Positions(meter *budget.Meter, paths [][]string) ([]Position, error) {
	return Positions(meter, e.source, paths)
}

// stepSteps is the cost of looking at a key of a mapping, in the budget's steps.
const stepSteps = 5

// locator finds values in the text of a segment.
type locator struct {
	segment Segment
	parser  *parser
}

// root parses the segment. It returns nil if the text is invalid; such a text was never decoded.
func (l *locator) root() (root *yaml.Node, err error) {
	if l.segment.media == JSON {
		return l.parser.json(l.segment.Text)
	}
	at := 1
	if l.segment.start > 0 && l.segment.item == 0 { // the text is the whole body
		at = l.segment.Index
	}
	err = l.parser.parse(l.segment.Text, func(node *yaml.Node) bool {
		if at--; at == 0 && len(node.Content) > 0 {
			root = node.Content[0]
		}
		return at > 0
	})
	if _, ok := errors.AsType[*syntaxError](err); ok {
		return nil, nil
	}
	if i := l.segment.item; i > 0 && root != nil && i <= len(root.Content) {
		root = root.Content[i-1]
	}
	return root, err
}

// locate returns the position of the value at a path.
func (l *locator) locate(root *yaml.Node, path []string) (Position, error) {
	if root == nil {
		return Position{Line: l.segment.Line, Column: 1 + l.segment.indent}, nil
	}
	at := root
	for value := root; len(path) > 0; {
		if err := l.parser.meter.Spend(stepSteps * (1 + len(value.Content))); err != nil {
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
	return l.segment.position(Position{at.Line, at.Column}), nil
}

// step returns the member or item at the beginning of a path, the member's key, and the number of parts of the path to
// it: a key that contains dots takes several.
func step(value *yaml.Node, path []string) (key, next *yaml.Node, taken int) {
	for value.Kind == yaml.AliasNode {
		value = value.Alias
	}
	switch value.Kind {
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(path[0]); err == nil && i >= 0 && i < len(value.Content) {
			return nil, value.Content[i], 1
		}
	case yaml.MappingNode:
		rest := strings.Join(path, ".")
		for i := len(value.Content) - 2; i >= 0; i -= 2 { // the last of duplicate keys wins
			name := value.Content[i].Value
			after, found := strings.CutPrefix(rest, name)
			if !found || after != "" && after[0] != '.' {
				continue
			}
			if n := 1 + strings.Count(name, "."); n <= len(path) && (n < taken || taken == 0) {
				key, next, taken = value.Content[i], value.Content[i+1], n
			}
		}
		if next == nil {
			return merged(value, path)
		}
	case yaml.DocumentNode, yaml.ScalarNode, yaml.AliasNode:
	}
	return key, next, taken
}

// merged returns a member that << merges into a mapping. It does not follow << of the merged mappings.
func merged(value *yaml.Node, path []string) (key, next *yaml.Node, taken int) {
	for i := 0; i+1 < len(value.Content); i += 2 {
		if !isMerge(value.Content[i]) {
			continue
		}
		sources := []*yaml.Node{value.Content[i+1]}
		if sources[0].Kind == yaml.SequenceNode {
			sources = sources[0].Content
		}
		for _, source := range sources {
			for source.Kind == yaml.AliasNode {
				source = source.Alias
			}
			if next := memberNode(source, path[0]); next != nil {
				return nil, next, 1
			}
		}
	}
	return nil, nil, 0
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
