package propertygroups

import (
	"slices"
	"strings"

	"purser/internal/words"
)

// analyzer computes the height and the common prefix of groups, bottom up, and finds cycles.
type analyzer struct {
	parser *parser
	path   []*group // from the rule's group down to the current one
}

const inProgress = -1 // the height of a group in path

// analyze analyzes a group and those below it. It refuses cycles and groups that are nested too deeply.
func (s *analyzer) analyze(g *group) error {
	if g.height > 0 {
		return nil
	}
	if g.height == inProgress {
		return s.cycle(g)
	}
	g.height = inProgress
	s.path = append(s.path, g)
	height := 1
	for _, o := range g.operands {
		if o.group == nil {
			continue
		}
		if len(s.path) <= maxNesting { // otherwise it is refused below
			if err := s.analyze(o.group); err != nil {
				return err
			}
		}
		height = max(height, 1+o.group.height)
	}
	if len(s.path) > maxNesting || height > maxNesting {
		return s.parser.refuse("Groups should refer to one another at most %d deep.", maxNesting)
	}
	s.path = s.path[:len(s.path)-1]
	g.height, g.common = height, commonPrefix(g.operands)
	return nil
}

func (s *analyzer) cycle(g *group) error {
	var names []string
	for _, member := range s.path[slices.Index(s.path, g):] {
		names = append(names, member.name)
	}
	for _, r := range s.parser.groups.rules {
		if r.group == g {
			s.parser.at = r.keyword
		}
	}
	cycle := strings.Join(append(names, g.name), " -> ")
	return s.parser.refuse("Group '%s' refers to itself: %s.", words.FirstBytes(g.name, maxName), cycle)
}

// commonPrefix returns the common prefix of all paths below operands, each without its last part.
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
