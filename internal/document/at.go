package document

import (
	"strconv"

	"gopkg.in/yaml.v3"

	"purser/internal/budget"
)

// PathAt is the reverse of Positions: it returns the path of the innermost value of a segment that begins at or before
// a position of the body. The path ends with AtKey if the position is in the key of that value, or between the two. It
// is nil if the segment begins after the position or cannot be parsed. Errors are those of the budget.
func PathAt(meter *budget.Meter, s Segment, at Position) (path []string, err error) {
	p := &parser{meter: meter}
	defer p.release()
	root, err := s.root(p)
	if err == nil && root != nil && !s.position(Position{root.Line, root.Column}).after(at) {
		path, err = s.pathAt(meter, root, at)
	}
	if err != nil {
		return nil, budget.About(err, "%s", s.Place())
	}
	return path, nil
}

// after reports whether a position is behind another one.
func (p Position) after(other Position) bool {
	return p.Line > other.Line || p.Line == other.Line && p.Column > other.Column
}

// pathAt returns the path in a value that begins at or before a position. What an alias stands for is elsewhere.
func (s Segment) pathAt(meter *budget.Meter, value *yaml.Node, at Position) ([]string, error) {
	path := []string{}
	for {
		if err := meter.Spend(stepSteps * (1 + len(value.Content))); err != nil {
			return nil, err
		}
		last := -1
		for i, child := range value.Content {
			if s.position(Position{child.Line, child.Column}).after(at) {
				break
			}
			last = i
		}
		switch {
		case last < 0:
			return path, nil
		case value.Kind != yaml.MappingNode:
			path = append(path, strconv.Itoa(last))
		case last%2 == 0:
			return append(path, value.Content[last].Value, AtKey), nil
		default:
			path = append(path, value.Content[last-1].Value)
		}
		value = value.Content[last]
	}
}
