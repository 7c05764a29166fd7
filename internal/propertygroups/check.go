package propertygroups

import (
	"fmt"
	"strconv"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/validations/jsonschema"
	"purser/internal/words"
)

const (
	maxViolations = 100
	// Costs in the budget's steps.
	stepCost    = 50     // a step of a check: looking up a key, or the next item
	messageCost = 10_000 // the message of a violation
)

// Check implements jsonschema.Keyword: it checks an object and returns the violations of rules in declared order, at
// most 100, and then one that counts the others. A violation's keyword is the path from the schema object to the rule:
// "property_groups", "2", "either". The error is the meter's, unwrapped.
func (g *Groups) Check(meter *budget.Meter, object document.Mapping, versions Versions) (
	[]jsonschema.Violation, error,
) {
	c := &check{meter: meter, object: object, versions: versions}
	c.run(g)
	if c.isStopped() {
		return nil, c.err
	}
	if c.more > 0 {
		message := fmt.Sprintf("The property groups are violated in %d more ways.", c.more)
		if c.more == 1 {
			message = "The property groups are violated in 1 more way."
		}
		c.found = append(c.found, jsonschema.Violation{
			Instance: []string{}, Keyword: g.rules[0].keyword[:1:1], Message: message, More: c.more,
		})
	}
	return c.found, nil
}

// check is one check of an object.
type check struct {
	meter       *budget.Meter
	err         error // of the meter
	object      document.Mapping
	versions    Versions
	here, items memo   // of the object itself, and of the current item
	path        []step // to the current value
	found       []jsonschema.Violation
	more        int                                 // violations that are not in found
	indexes     map[*document.Member]map[string]any // of large objects, by their first member
}

// step is a key or, below a list, an index.
type step struct {
	key    string
	index  int
	isItem bool
}

// spend counts steps.
func (c *check) spend(steps int) {
	if c.err == nil {
		c.err = c.meter.Spend(steps * stepCost)
	}
}

// isStopped reports whether the budget is exceeded. The results so far are invalid then.
func (c *check) isStopped() bool { return c.err != nil }

func (c *check) run(g *Groups) {
	c.here.size, c.items.size = g.shared, g.shared
	c.here.next()
	for _, r := range g.rules {
		if c.supports(r) && r.isEnforced() {
			c.judge(r, c.object, 0)
		}
		if c.isStopped() {
			return
		}
	}
}

// judge evaluates a rule at the value at the first n parts of the rule's common prefix or, if there is a list further
// along the prefix, at each of its items.
func (c *check) judge(r *rule, value any, n int) {
	before := len(c.path)
	list, skip := c.findList(r.group.common, value, n)
	if list != nil {
		c.judgeItems(r, list, skip)
	}
	if c.path = c.path[:before]; list == nil {
		c.judgeOnce(r, place{value: value, skip: n, memo: &c.here})
	}
}

// findList follows a path from its part n to the first list that is not empty. It returns the list and the number of
// parts that lead to it.
func (c *check) findList(path []string, value any, n int) (list []any, skip int) {
	for skip = n; ; skip++ {
		c.spend(1)
		if list, ok := value.([]any); ok && len(list) > 0 {
			return list, skip
		}
		object, ok := value.(document.Mapping)
		if !ok || skip == len(path) {
			return nil, 0
		}
		if value, ok = c.lookup(object, path[skip]); !ok {
			return nil, 0
		}
		c.path = append(c.path, step{key: path[skip]})
	}
}

func (c *check) judgeItems(r *rule, list []any, skip int) {
	c.path = append(c.path, step{isItem: true})
	for i, item := range list {
		if c.isStopped() {
			break
		}
		c.path[len(c.path)-1].index = i
		c.judge(r, item, skip)
	}
}

func (c *check) judgeOnce(r *rule, p place) {
	if len(c.path) > 0 {
		p.memo = &c.items
		p.memo.next()
	}
	if !c.holds(r.group, p) {
		c.report(r, func() string { return c.violation(r.group, p) })
	}
}

// report adds a violation at the current value, or counts it if there are too many.
func (c *check) report(r *rule, text func() string) {
	if len(c.found) == maxViolations {
		c.more++
		return
	}
	c.spend(messageCost/stepCost + len(c.path))
	instance := make([]string, len(c.path))
	for i, s := range c.path {
		if instance[i] = s.key; s.isItem {
			instance[i] = strconv.Itoa(s.index)
		}
	}
	message := text()
	if r.named {
		message = "Properties group '" + words.FirstBytes(r.name, maxName) + "': " + message
	}
	c.found = append(c.found, jsonschema.Violation{Instance: instance, Keyword: r.keyword, Message: message})
}
