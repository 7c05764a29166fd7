package authz

import (
	"fmt"
	"slices"
	"strings"
)

// check is a part of an expression. As text it is in the form that a policy file has it in; reading that gives a check
// with the same verdicts.
type check interface {
	fmt.Stringer
	passes(q *question) bool
}

// All checks that there are.
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
		written string // with its quotes
		text    string
		value   template
	}
	notCheck struct{ check }
	andCheck []check
	orCheck  []check
)

func (always) passes(*question) bool         { return true }
func (never) passes(*question) bool          { return false }
func (c *ruleCheck) passes(q *question) bool { return q.follows(c.rule) }
func (c notCheck) passes(q *question) bool   { return !c.check.passes(q) }

func (c roleCheck) passes(q *question) bool {
	name, ok := c.name.fill(q.caller)
	return ok && slices.Contains(q.roles, strings.ToLower(name))
}

func (c credentialCheck) passes(q *question) bool {
	value, ok := c.value.fill(q.caller)
	if c.key == "roles" {
		return ok && slices.Contains(q.caller.Roles, value)
	}
	return ok && value == credential(q.caller, c.key)
}

func (c literalCheck) passes(q *question) bool {
	value, ok := c.value.fill(q.caller)
	return ok && value == c.text
}

func (c andCheck) passes(q *question) bool {
	return !slices.ContainsFunc(c, func(part check) bool { return !part.passes(q) })
}

func (c orCheck) passes(q *question) bool {
	return slices.ContainsFunc(c, func(part check) bool { return part.passes(q) })
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

// operand writes a part so that "not" and "and" take it as a whole.
func operand(c check) string {
	switch c.(type) {
	case andCheck, orCheck:
		return "(" + c.String() + ")"
	}
	return c.String()
}
