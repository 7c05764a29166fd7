package authz

import (
	"slices"
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

// Decide decides whether a rule allows a caller something about a target. A rule that is not registered allows
// no caller.
func (p *Policy) Decide(name string, caller authn.Caller, target Target) Verdict {
	asked, ok := p.rules[name]
	if !ok || !asked.registered {
		return Refused
	}
	return p.evaluate(caller, target).verdict(asked)
}

// Passed returns the names of the registered rules that allow a caller, in the order of Rules, and of those that depend
// on what the target lacks. The former is never nil.
func (p *Policy) Passed(caller authn.Caller, target Target) (passed, depending []string) {
	passed, e := []string{}, p.evaluate(caller, target)
	for _, r := range p.order {
		if !r.registered {
			continue
		}
		switch e.verdict(r) {
		case Allowed:
			passed = append(passed, r.name)
		case Depends:
			depending = append(depending, r.name)
		case Refused:
		}
	}
	return passed, depending
}

// Holders returns the names of the built-in roles each of which is enough to pass a rule, whatever else is known of the
// caller and of what is asked for.
func (p *Policy) Holders(name string, target Target) (holders []string) {
	for _, role := range Roles() {
		if p.Decide(name, authn.Caller{Roles: []string{role.Name}}, target) == Allowed {
			holders = append(holders, role.Name)
		}
	}
	return holders
}

// Attributes returns the attributes of a target that a rule, or one that it refers to, looks at, without duplicates.
func (p *Policy) Attributes(name string) (attributes []string) {
	seen := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		of, ok := p.rules[name]
		if !ok || seen[name] {
			return
		}
		seen[name] = true
		attributes = of.expression.attributes(attributes)
		for _, reference := range of.references {
			visit(reference)
		}
	}
	visit(name)
	slices.Sort(attributes)
	return slices.Compact(attributes)
}

// Rules returns the rules in force: the registered ones in a fixed order, then the file's other rules by name.
func (p *Policy) Rules() []Rule {
	rules := make([]Rule, len(p.order))
	for i, r := range p.order {
		rules[i] = Rule{r.name, r.description, r.expression.String()}
	}
	return rules
}

// evaluation evaluates rules for one caller and target. It evaluates each rule at most once, however many rules refer
// to it.
type evaluation struct {
	*Policy

	caller   authn.Caller
	target   Target
	roles    []string // in lower case
	verdicts map[*rule]Verdict
}

func (p *Policy) evaluate(caller authn.Caller, target Target) *evaluation {
	e := &evaluation{
		Policy: p, caller: caller, target: target, roles: make([]string, len(caller.Roles)), verdicts: map[*rule]Verdict{},
	}
	for i, role := range caller.Roles {
		e.roles[i] = strings.ToLower(role)
	}
	return e
}

// verdict decides whether a rule allows the caller.
func (e *evaluation) verdict(r *rule) Verdict {
	verdict, known := e.verdicts[r]
	if !known {
		verdict = r.expression.verdict(e)
		e.verdicts[r] = verdict
	}
	return verdict
}
