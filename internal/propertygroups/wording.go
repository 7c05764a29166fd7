package propertygroups

import (
	"fmt"

	"purser/internal/words"
)

// violation returns the message about a group that does not hold at a place.
func (c *check) violation(g *group, p place) string {
	isTrue := func(o operand) bool { return c.truth(o, p) }
	isFalse := func(o operand) bool { return !c.truth(o, p) }
	switch g.operator {
	case and:
		return fmt.Sprintf("All of the following properties must be specified: %s. Missing: %s.",
			listed(g.operands, nil), listed(g.operands, isFalse))
	case dependsOn:
		return fmt.Sprintf("%s cannot be specified without %s.",
			listed(g.operands[:1], nil), listed(g.operands[1:], isFalse))
	case xor:
		if several := listed(g.operands, isTrue); several != "" {
			return fmt.Sprintf("Cannot define the following properties at the same time: %s.", several)
		}
	case or, noOperator:
	}
	return fmt.Sprintf("At least one of the following properties must be specified: %s.", listed(g.operands, nil))
}

// secretVersion replaces client versions that come from a secret.
const secretVersion = "(hidden, because it comes from an encrypted document)"

// violation returns the message about a property that the client does not support. Its version may be unknown.
func (l *support) violation(path []string, version string, isKnown bool) string {
	plugin, supported := words.FirstBytes(l.plugin, maxName), "supported versions: "
	if l.since {
		supported = "supported since version "
	}
	supported += l.listed(", ")
	if !isKnown {
		return fmt.Sprintf("Property %s depends on the version of client plugin %s, which is not known; %s.",
			dotted(path), plugin, supported)
	}
	return fmt.Sprintf("Property %s is not supported by client plugin %s version %s; %s.",
		dotted(path), plugin, version, supported)
}
