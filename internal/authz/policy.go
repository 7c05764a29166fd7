package authz

import (
	"strings"

	"purser/internal/authn"
)

// Policy is a set of rules: those of a policy file, and the defaults of the others. It is immutable.
type Policy struct {
	rules map[string]*rule
	order []*rule // in the order of Rules

	replaced []Role // built-in roles that have only the rights that the file gives them
}

// rule is a rule of a policy.
type rule struct {
	name        string
	description string
	expression  *check
	references  []string // the rules in expression, each once
	registered  bool
	location    location // in the file; zero for a default
}

// Default returns the policy of a server without a policy file.
func Default(defaults Defaults) *Policy {
	policy, err := Parse(nil, defaults)
	if err != nil {
		panic("authz: the default rules: " + err.Error())
	}
	return policy
}

// Allows reports whether a rule allows a caller. A rule that is not registered allows no caller.
func (p *Policy) Allows(name string, caller authn.Caller) bool {
	asked, ok := p.rules[name]
	return ok && asked.registered && p.evaluate(caller).allows(asked)
}

// Passed returns the names of the registered rules that allow a caller, in the order of Rules. It is never nil.
func (p *Policy) Passed(caller authn.Caller) []string {
	passed, e := []string{}, p.evaluate(caller)
	for _, r := range p.order {
		if r.registered && e.allows(r) {
			passed = append(passed, r.name)
		}
	}
	return passed
}

// Holders returns the names of the built-in roles each of which is enough to pass a rule, whatever else is known of the
// caller.
func (p *Policy) Holders(name string) (holders []string) {
	for _, role := range Roles() {
		if p.Allows(name, authn.Caller{Roles: []string{role.Name}}) {
			holders = append(holders, role.Name)
		}
	}
	return holders
}

// Rules returns the rules in force: the registered ones in a fixed order, then the file's other rules by name.
func (p *Policy) Rules() []Rule {
	rules := make([]Rule, len(p.order))
	for i, r := range p.order {
		rules[i] = Rule{r.name, r.description, r.expression.String()}
	}
	return rules
}

// evaluation evaluates rules for one caller. It evaluates each rule at most once, however many rules refer to it.
type evaluation struct {
	*Policy

	caller  authn.Caller
	roles   []string // in lower case
	allowed map[*rule]bool
}

func (p *Policy) evaluate(caller authn.Caller) *evaluation {
	e := &evaluation{Policy: p, caller: caller, roles: make([]string, len(caller.Roles)), allowed: map[*rule]bool{}}
	for i, role := range caller.Roles {
		e.roles[i] = strings.ToLower(role)
	}
	return e
}

// allows reports whether a rule allows the caller.
func (e *evaluation) allows(r *rule) bool {
	allowed, known := e.allowed[r]
	if !known {
		allowed = r.expression.passes(e)
		e.allowed[r] = allowed
	}
	return allowed
}
