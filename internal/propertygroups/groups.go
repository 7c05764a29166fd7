package propertygroups

// Versions are the versions of client plugins, by plugin (spec/property-groups.md §2, "Versions").
type Versions map[string]string

// Groups are the property groups of one schema object, both keywords' (spec/property-groups.md §1).
type Groups struct {
	rules  []*rule // in declared order
	shared int     // how many groups are referred to more than once
}

// rule is one entry of a keyword: what is enforced, or a term that another group refers to.
type rule struct {
	keyword []string // from the schema object: "property_groups", "2", "either"
	name    string
	named   bool
	group   *group
	limit   *limit // nil if it holds with any version
	each    int    // parts of the group's common prefix up to the last one that the schema declares a list
}

// isTerm tells whether only other groups give the rule's operator a meaning.
func (r *rule) isTerm() bool { return r.group.references > 0 }

// isEnforced tells whether the rule's operator must hold.
func (r *rule) isEnforced() bool { return r.group.operator != noOperator && !r.isTerm() }

// group is an operator over operands.
type group struct {
	name       string // of a named group
	operator   operator
	operands   []operand
	references int      // by other groups
	memo       int      // where its truth is remembered; negative if it is asked for once only
	height     int      // groups on the longest way down, itself included; 0 until it is settled
	common     []string // what all paths below have in common, each without its last part
}

// operand is a path, or a group if there is one.
type operand struct {
	path  []string
	group *group
}

type operator uint8

const (
	noOperator operator = iota // of a group that only limits versions
	and
	or
	xor
	dependsOn
)

// NamesVersions tells whether the outcome of a check may depend on client versions.
func (g *Groups) NamesVersions() bool {
	for _, r := range g.rules {
		if r.limit != nil {
			return true
		}
	}
	return false
}
