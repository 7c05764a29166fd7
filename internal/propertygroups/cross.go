package propertygroups

import (
	"fmt"
	"slices"
	"strings"
)

// maxLines is how many cross lines one property may have.
const maxLines = 20

// crossLines tells each property what the rules say of it, properties in the order in which they are first mentioned.
func (g *Groups) crossLines() []CrossLines {
	x := &crosser{left: maxDescription, at: make(map[string]int)}
	for _, r := range g.rules {
		if r.isEnforced() {
			x.operands(r.group)
		}
		if r.limit != nil {
			line := "Only with " + r.limit.clause() + "."
			for i := range r.group.operands {
				x.add(r.group.operands[i], line, false)
			}
		}
	}
	return x.found
}

// crosser collects cross lines until there are enough.
type crosser struct {
	left  int            // bytes
	at    map[string]int // position in found by joined path
	found []CrossLines
}

// operands says of each operand of a rule what it has to do with the others.
func (x *crosser) operands(g *group) {
	for i, o := range g.operands {
		if x.left < 0 {
			return
		}
		others := g.operands
		if g.operator != or {
			others = slices.Concat(few(g.operands[:i]), few(g.operands[i+1:]))
		}
		what := relation(g.operator, i == 0, len(g.operands) == 1)
		if what == "" {
			continue
		}
		if g.operator == dependsOn && i > 0 {
			others = g.operands[:1]
		}
		if len(others) > 0 && len(g.operands) > 1 {
			what += ": " + listed(others, nil)
		}
		x.left -= 16                         // even if the line is there already
		x.add(o, what+".", g.operator != or) // which names the operand itself among the others
	}
}

// few is no fewer operands than there is room for: each takes a byte at least.
func few(operands []operand) []operand { return operands[:min(len(operands), maxList)] }

// relation is what an operand has to do with the others.
func relation(op operator, isFirst, isAlone bool) string {
	switch {
	case isAlone:
		return "Required"
	case op == and:
		return "Required together with"
	case op == or:
		return "At least one of"
	case op == xor:
		return "Exclusive with"
	case op == dependsOn && isFirst:
		return "Needs"
	case op == dependsOn:
		return "Needed by"
	}
	return ""
}

// add gives a line to an operand's path, or to all paths below; then it says first what they are part of, if asked to.
func (x *crosser) add(o operand, line string, asPart bool) {
	if o.group == nil {
		x.line(o.path, line)
		return
	}
	if asPart {
		t := new(text)
		t.operand(o)
		line = fmt.Sprintf("In %s, %s%s", t, strings.ToLower(line[:1]), line[1:])
	}
	w := pathWalk{visit: func(path []string) bool {
		x.line(path, line)
		return x.left >= 0
	}, step: func() { x.left-- }}
	w.walk(o.group)
}

func (x *crosser) line(path []string, line string) {
	key := strings.Join(path, "\x00")
	i, ok := x.at[key]
	if !ok {
		i = len(x.found)
		x.at[key] = i
		x.found = append(x.found, CrossLines{Path: path})
	}
	lines := &x.found[i].Lines
	if x.left -= 1 + len(key); len(*lines) < maxLines && !slices.Contains(*lines, line) {
		*lines = append(*lines, line)
		x.left -= len(line)
	}
}
