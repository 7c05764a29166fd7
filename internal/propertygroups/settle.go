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

const (
	isOpen    = -1      // the height of a group in open
	maxWeight = 1 << 40 // where weights stop growing
)

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
	g.height, g.common, g.weight = height, commonPrefix(g.operands), weightOf(g.operands)
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

func weightOf(operands []operand) int {
	weight := 0
	for _, o := range operands {
		weight += o.weight()
		if o.group != nil {
			weight += o.group.weight
		}
		weight = min(weight, maxWeight)
	}
	return weight
}

// weight is how many steps an operand takes for each value, without the group that it refers to.
func (o operand) weight() int {
	if o.group != nil {
		return 1
	}
	return 2 + keySteps(slices.MaxFunc(o.path, func(a, b string) int { return len(a) - len(b) }))
}

// weigh adds up what the rules cost. None costs more than all groups together, because the truth of those that are
// referred to again and again is remembered.
func (g *Groups) weigh() {
	all := 0
	for _, r := range g.rules {
		for _, o := range r.group.operands {
			all += o.weight()
			if o.group != nil && !r.named {
				all += o.group.weight
			}
		}
	}
	for _, r := range g.rules {
		once := min(all, r.group.weight)
		if r.isEnforced() {
			g.weight += 2*once + 2 // once to find the truth, and once for the words
			for _, part := range r.group.common {
				g.weight += keySteps(part)
			}
		}
		if r.limit != nil {
			g.weight += once + r.limit.weight()
		}
	}
}
