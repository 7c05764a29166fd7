package propertygroups

import (
	"slices"
	"strings"
)

// settler finds out what depends on all that is below a group.
type settler struct {
	parser *parser
	open   []*group // from the rule's group down to where it is
}

const isOpen = -1 // the height of a group in open

// settle refuses a group that leads to itself, or too deep.
func (s *settler) settle(g *group) error {
	if g.height > 0 {
		return nil
	}
	if g.height == isOpen {
		return s.cycle(g)
	}
	g.height = isOpen
	s.open = append(s.open, g)
	height := 1
	for _, o := range g.operands {
		if o.group == nil {
			continue
		}
		if len(s.open) <= maxNesting { // else it is refused below, without going deeper
			if err := s.settle(o.group); err != nil {
				return err
			}
		}
		height = max(height, 1+o.group.height)
	}
	if len(s.open) > maxNesting || height > maxNesting {
		return s.parser.refuse("Groups should refer to one another at most %d deep.", maxNesting)
	}
	s.open = s.open[:len(s.open)-1]
	g.height, g.common = height, commonPrefix(g.operands)
	return nil
}

func (s *settler) cycle(g *group) error {
	var names []string
	for _, member := range s.open[slices.Index(s.open, g):] {
		names = append(names, member.name)
	}
	for _, r := range s.parser.groups.rules {
		if r.group == g {
			s.parser.at = r.keyword
		}
	}
	way := strings.Join(append(names, g.name), " -> ")
	return s.parser.refuse("Group '%s' refers to itself: %s.", cut(g.name, maxName), way)
}

// commonPrefix is what all paths below the operands have in common, each without its last part.
func commonPrefix(operands []operand) []string {
	var common []string
	for i, o := range operands {
		var next []string
		if o.group != nil {
			next = o.group.common
		} else {
			next = o.path[:len(o.path)-1]
		}
		if i == 0 {
			common = next
		}
		n := 0
		for n < min(len(common), len(next)) && common[n] == next[n] {
			n++
		}
		common = common[:n]
	}
	return common
}
