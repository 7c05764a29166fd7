package propertygroups

import "slices"

// Versions are the versions of client plugins, by plugin. Messages do not quote those that are secret: see
// validations.ClientVersions.
type Versions = map[string]string

// Groups are the property groups of one schema object, from both keywords.
type Groups struct {
	rules  []*rule // in declared order
	shared int     // number of groups that are referred to more than once
}

// rule is one entry of a keyword. It is enforced, or a term that another group refers to.
type rule struct {
	keyword []string // path from the schema object: "property_groups", "2", "either"
	name    string
	named   bool
	group   *group
	support *support // nil if all client versions support it
	each    int      // parts of the group's common prefix up to the last declared list
}

// isTerm reports whether other groups refer to the rule's group, so that it is not enforced itself.
func (r *rule) isTerm() bool { return r.group.references > 0 }

// isEnforced reports whether the rule's operator must hold.
func (r *rule) isEnforced() bool { return r.group.operator != noOperator && !r.isTerm() }

// group is an operator with its operands.
type group struct {
	name       string // "" for expressions
	operator   operator
	operands   []operand
	references int      // by other groups
	memo       int      // index in memo; negative if the group is evaluated only once
	height     int      // groups on the longest path down, including itself; 0 until analyzed
	common     []string // common prefix of all paths below, each without its last part
}

// operand is a group if group is set, else a path.
type operand struct {
	path  []string
	group *group
}

type operator uint8

const (
	noOperator operator = iota // a group that only restricts client versions
	and
	or
	xor
	dependsOn
)

// NamesVersions reports whether checks may depend on client versions.
func (g *Groups) NamesVersions() bool {
	return slices.ContainsFunc(g.rules, func(r *rule) bool { return r.support != nil })
}
