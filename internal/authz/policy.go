package authz

import (
	"slices"
	"strings"

	"purser/internal/authn"
)

// Policy is a set of rules, those of a policy file and the defaults of the others. It never changes.
type Policy struct {
	rules map[string]*rule
	order []*rule // the registered ones as they are listed, then helpers by name
}

// rule is a rule of a policy.
type rule struct {
	name        string
	description string
	expression  check
	references  []*ruleCheck // of the expression
	registered  bool
	place       place // in the file; zero if the rule is not in it
	index       int   // in the policy's order
}

// Default is the policy of a server without a policy file.
func Default() *Policy {
	policy, err := Parse(nil)
	if err != nil {
		panic("access: the default rules: " + err.Error())
	}
	return policy
}

// Allows tells whether a caller passes a rule. Nobody passes one that is not registered.
func (p *Policy) Allows(name string, caller authn.Caller) bool {
	asked, ok := p.rules[name]
	return ok && asked.registered && p.ask(caller).follows(asked)
}

// Passed lists the registered rules that a caller passes, in the order of Rules; empty and not nil if there are none.
func (p *Policy) Passed(caller authn.Caller) []string {
	passed, q := []string{}, p.ask(caller)
	for _, r := range p.order {
		if r.registered && q.follows(r) {
			passed = append(passed, r.name)
		}
	}
	return passed
}

// Rules lists the rules in force: the registered ones in a fixed order, then the helpers of the file by name.
func (p *Policy) Rules() []Rule {
	rules := make([]Rule, len(p.order))
	for i, r := range p.order {
		rules[i] = Rule{r.name, r.description, r.expression.String()}
	}
	return rules
}

// question is one caller's; it evaluates each rule at most once, because rules may refer to others many times.
type question struct {
	caller   authn.Caller
	roles    []string // in lower case
	verdicts []verdict
}

type verdict uint8

const (
	unknown verdict = iota
	denied
	allowed
)

func (p *Policy) ask(caller authn.Caller) *question {
	q := &question{caller: caller, roles: make([]string, len(caller.Roles)), verdicts: make([]verdict, len(p.order))}
	for i, role := range caller.Roles {
		q.roles[i] = strings.ToLower(role)
	}
	return q
}

// follows gives a rule's verdict.
func (q *question) follows(r *rule) bool {
	if q.verdicts[r.index] == unknown {
		q.verdicts[r.index] = denied
		if r.expression.passes(q) {
			q.verdicts[r.index] = allowed
		}
	}
	return q.verdicts[r.index] == allowed
}

// sorted puts rules into the order in which a policy lists them.
func sorted(rules map[string]*rule) []*rule {
	order := make([]*rule, 0, len(rules))
	for _, known := range registered {
		order = append(order, rules[known.Name])
	}
	var helpers []*rule
	for _, r := range rules {
		if !r.registered {
			helpers = append(helpers, r)
		}
	}
	slices.SortFunc(helpers, func(a, b *rule) int { return strings.Compare(a.name, b.name) })
	order = append(order, helpers...)
	for i, r := range order {
		r.index = i
	}
	return order
}
