package propertygroups

import (
	"fmt"

	"purser/internal/words"
)

// Description describes the groups of one schema object, for its documentation, as plain text without markup.
type Description struct {
	Rules      []Sentence // enforced rules, in declared order: "at least one of: a, b."
	Referenced []Sentence // groups that others refer to, in declared order: "a and b"
	Properties []CrossLines
	Omitted    int // rules and referenced groups that are left out because the description would be too long
}

// Sentence describes one group. Name is "" if the group has none.
type Sentence struct{ Name, Text string }

// CrossLines are the lines to show with a property, in declared order: "Exclusive with: b, (c and d)." The first part
// of the path is a member of the schema object; indices of lists are not part of it. The path must not be changed.
type CrossLines struct {
	Path  []string
	Lines []string
}

// maxDescription bounds the sentences of a description, and its cross lines, in bytes.
const maxDescription = 256 << 10

// Describe returns a description of the groups.
func (g *Groups) Describe() Description {
	var d Description
	size := 0
	for _, r := range g.rules {
		if size > maxDescription {
			d.Omitted++
			continue
		}
		s := Sentence{words.FirstBytes(r.name, maxName), r.sentence()}
		if size += len(s.Text); r.isTerm() {
			d.Referenced = append(d.Referenced, s)
		} else {
			d.Rules = append(d.Rules, s)
		}
	}
	d.Properties = g.crossLines()
	return d
}

func (r *rule) sentence() string {
	switch {
	case r.isTerm() && r.support != nil:
		return fmt.Sprintf("%s (%s)", r.group.phrase(), r.support.clause())
	case r.isTerm():
		return r.group.phrase()
	case !r.isEnforced() && r.support.since:
		return fmt.Sprintf("%s: %s.", listed(r.group.operands, nil), r.support.clause())
	case !r.isEnforced():
		return fmt.Sprintf("%s: only with %s.", listed(r.group.operands, nil), r.support.clause())
	}
	text := r.group.requirement()
	if r.each > 0 {
		text += " Judged for each item of " + dotted(r.group.common[:r.each]) + "."
	}
	if r.support != nil {
		text += " Only with " + r.support.clause() + "."
	}
	return text
}

// requirement describes the requirement of an enforced group.
func (g *group) requirement() string {
	switch g.operator {
	case and:
		return fmt.Sprintf("all of: %s.", listed(g.operands, nil))
	case or:
		return fmt.Sprintf("at least one of: %s.", listed(g.operands, nil))
	case xor:
		return fmt.Sprintf("exactly one of: %s.", listed(g.operands, nil))
	case dependsOn, noOperator:
	}
	t := new(text)
	t.operands(g.operands, nil, " needs ", " and ")
	return t.String() + "."
}

// phrase describes a group as an operand of others.
func (g *group) phrase() string {
	t := new(text)
	t.group(g)
	return t.String()
}

// clause describes the versions: "client plugin keystone 1.2 or 2.0".
func (l *support) clause() string {
	text := fmt.Sprintf("client plugin %s %s", words.FirstBytes(l.plugin, maxName), l.listed(" or "))
	if l.since {
		text += " or newer"
	}
	return text
}
