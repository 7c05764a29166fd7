package propertygroups

import (
	"fmt"
	"slices"
	"strings"
)

// maxLines bounds the cross lines of one property.
const maxLines = 20

// crossLines returns the cross lines of all properties, in the order in which rules first mention them.
func (g *Groups) crossLines() []CrossLines {
	x := &crossLineBuilder{left: maxDescription, index: make(map[string]int)}
	for _, r := range g.rules {
		if r.isEnforced() {
			x.operands(r.group)
		}
		if r.support != nil {
			line := "Only with " + r.support.clause() + "."
			for i := range r.group.operands {
				x.add(r.group.operands[i], line, false)
			}
		}
	}
	return x.found
}

// crossLineBuilder collects cross lines up to a number of bytes.
type crossLineBuilder struct {
	left  int            // bytes
	index map[string]int // of found, by joined path
	found []CrossLines
}

// operands adds a line to each operand of a rule about its relation to the others.
func (x *crossLineBuilder) operands(g *group) {
	for i, o := range g.operands {
		if x.left < 0 {
			return
		}
		others := g.operands
		if g.operator != or {
			others = slices.Concat(cutOperands(g.operands[:i]), cutOperands(g.operands[i+1:]))
		}
		text := relation(g.operator, i == 0, len(g.operands) == 1)
		if text == "" {
			continue
		}
		if g.operator == dependsOn && i > 0 {
			others = g.operands[:1]
		}
		if len(others) > 0 && len(g.operands) > 1 {
			text += ": " + listed(others, nil)
		}
		x.left -= 16                         // even if the line exists already
		x.add(o, text+".", g.operator != or) // or lists the operand itself, too
	}
}

// cutOperands limits operands to as many as can fit into a text, since each needs at least a byte.
func cutOperands(operands []operand) []operand { return operands[:min(len(operands), maxList)] }

// relation returns the words for an operand's relation to the others.
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

// add adds a line to the operand's path or, if it is a group, to all paths of the group. With asPart, these lines begin
// with the name of the group.
func (x *crossLineBuilder) add(o operand, line string, asPart bool) {
	if o.group == nil {
		x.line(o.path, line)
		return
	}
	if asPart {
		t := new(text)
		t.operand(o)
		line = fmt.Sprintf("In %s, %s%s", t, strings.ToLower(line[:1]), line[1:])
	}
	for path := range o.group.paths(func() { x.left-- }) {
		if x.line(path, line); x.left < 0 {
			return
		}
	}
}

func (x *crossLineBuilder) line(path []string, line string) {
	key := strings.Join(path, "\x00")
	i, ok := x.index[key]
	if !ok {
		i = len(x.found)
		x.index[key] = i
		x.found = append(x.found, CrossLines{Path: path})
	}
	lines := &x.found[i].Lines
	if x.left -= 1 + len(key); len(*lines) < maxLines && !slices.Contains(*lines, line) {
		*lines = append(*lines, line)
		x.left -= len(line)
	}
}
