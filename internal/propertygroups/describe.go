package propertygroups

import "fmt"

// Description is the groups of one schema object in words, for its documentation (spec/property-groups.md §6). It is
// plain text without any markup.
type Description struct {
	Rules      []Sentence // what is enforced, in declared order: "at least one of: a, b."
	Terms      []Sentence // groups that others refer to, in declared order: "a and b", as a part of a sentence
	Properties []CrossLines
	Omitted    int // rules and terms that are not described, because it would be too long
}

// Sentence is about one group. Name is empty if the group has none.
type Sentence struct{ Name, Text string }

// CrossLines are the lines to show at a property, in declared order: "Exclusive with: b, (c and d)." The first part of
// the path is a member of the schema object; lists on the way have no part. The path is not to be changed.
type CrossLines struct {
	Path  []string
	Lines []string
}

// maxDescription is how many bytes the sentences of a description may have, and again how many the cross lines.
const maxDescription = 256 << 10

// Describe puts the groups into words.
func (g *Groups) Describe() Description {
	var d Description
	size := 0
	for _, r := range g.rules {
		if size > maxDescription {
			d.Omitted++
			continue
		}
		s := Sentence{cut(r.name, maxName), r.sentence()}
		if size += len(s.Text); r.isTerm() {
			d.Terms = append(d.Terms, s)
		} else {
			d.Rules = append(d.Rules, s)
		}
	}
	d.Properties = g.crossLines()
	return d
}

func (r *rule) sentence() string {
	switch {
	case r.isTerm() && r.limit != nil:
		return fmt.Sprintf("%s (%s)", r.group.phrase(), r.limit.clause())
	case r.isTerm():
		return r.group.phrase()
	case !r.isEnforced() && r.limit.since:
		return fmt.Sprintf("%s: %s.", listed(r.group.operands, nil), r.limit.clause())
	case !r.isEnforced():
		return fmt.Sprintf("%s: only with %s.", listed(r.group.operands, nil), r.limit.clause())
	}
	said := r.group.demand()
	if r.each > 0 {
		said += " Judged for each item of " + dotted(r.group.common[:r.each]) + "."
	}
	if r.limit != nil {
		said += " Only with " + r.limit.clause() + "."
	}
	return said
}

// demand is what a group that is enforced asks for.
func (g *group) demand() string {
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

// phrase is a group as others speak of it.
func (g *group) phrase() string {
	t := new(text)
	t.group(g)
	return t.String()
}

// clause names the versions: "client plugin keystone 1.2 or 2.0".
func (l *limit) clause() string {
	said := fmt.Sprintf("client plugin %s %s", cut(l.plugin, maxName), l.listed(" or "))
	if l.since {
		said += " or newer"
	}
	return said
}
