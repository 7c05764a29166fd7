package authz

import (
	"fmt"
	"slices"
	"strings"
)

// check is an expression or a part of one. Parsing its String gives an equivalent check.
type check interface {
	fmt.Stringer
	passes(e *evaluation) bool
}

// The kinds of checks.
type (
	always    struct{}
	never     struct{}
	roleCheck struct{ name template }
	ruleCheck struct {
		name string
		rule *rule // set by link
	}
	credentialCheck struct {
		key   string
		value template
	}
	literalCheck struct {
		written string // including quotes
		text    string
		value   template
	}
	notCheck struct{ check }
	andCheck []check
	orCheck  []check
)

func (always) passes(*evaluation) bool         { return true }
func (never) passes(*evaluation) bool          { return false }
func (c *ruleCheck) passes(e *evaluation) bool { return e.allows(c.rule) }
func (c notCheck) passes(e *evaluation) bool   { return !c.check.passes(e) }

func (c roleCheck) passes(e *evaluation) bool {
	return slices.Contains(e.roles, strings.ToLower(c.name.fill(e.caller)))
}

func (c credentialCheck) passes(e *evaluation) bool {
	value := c.value.fill(e.caller)
	switch c.key {
	case rolesKey:
		return slices.Contains(e.caller.Roles, value)
	case serviceRolesKey:
		return false
	}
	return value == attributeOf(credentials, c.key).value(e.caller)
}

func (c literalCheck) passes(e *evaluation) bool {
	return c.value.fill(e.caller) == c.text
}

func (c andCheck) passes(e *evaluation) bool {
	return !slices.ContainsFunc(c, func(part check) bool { return !part.passes(e) })
}

func (c orCheck) passes(e *evaluation) bool {
	return slices.ContainsFunc(c, func(part check) bool { return part.passes(e) })
}

func (always) String() string            { return "@" }
func (never) String() string             { return "!" }
func (c roleCheck) String() string       { return "role:" + c.name.written }
func (c *ruleCheck) String() string      { return "rule:" + c.name }
func (c credentialCheck) String() string { return c.key + ":" + c.value.written }
func (c literalCheck) String() string    { return c.written + ":" + c.value.written }
func (c notCheck) String() string        { return "not " + operand(c.check) }
func (c andCheck) String() string        { return joined(c, " and ", operand) }

func (c orCheck) String() string {
	return joined(c, " or ", func(part check) string {
		if _, isAnd := part.(andCheck); isAnd {
			return part.String() // "and" binds tighter
		}
		return operand(part)
	})
}

func joined(parts []check, operator string, write func(check) string) string {
	texts := make([]string, len(parts))
	for i, part := range parts {
		texts[i] = write(part)
	}
	return strings.Join(texts, operator)
}

// operand formats an operand of "not" or "and", in parentheses if necessary.
func operand(c check) string {
	switch c.(type) {
	case andCheck, orCheck:
		return "(" + c.String() + ")"
	}
	return c.String()
}
