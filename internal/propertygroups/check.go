package propertygroups

import (
	"fmt"
	"strconv"

	"purser/internal/budget"
)

const (
	maxViolations = 100
	// stepTime is what a step of a check takes, in the budget's steps: looking up a key, or going on to another item.
	stepTime = 40
	// wordTime is what a violation takes besides: its message.
	wordTime = 10_000
)

// Violation is one way in which an object does not keep a rule (spec/property-groups.md §4). Its slices are not to be
// changed.
type Violation struct {
	Instance []string // from the object that was given to the object or item judged: keys and indices; never nil
	Keyword  []string // from the schema object: "properties_groups_schema", "0", or "property_groups", "2", "either"
	Message  string
	More     int // of the last one, which says nothing else: so many violations are not told
}

// Check judges an object, as encoding/json decodes it with UseNumber, and returns what violates the groups in declared
// order. There are at most 100 violations, and then one that counts the others. What it takes is counted while it is
// done; the error is the meter's, as it came.
func (g *Groups) Check(meter *budget.Meter, object map[string]any, versions Versions) ([]Violation, error) {
	c := &check{meter: meter, object: object, versions: versions}
	c.run(g)
	if c.isStopped() {
		return nil, c.err
	}
	if c.more > 0 {
		said := fmt.Sprintf("The property groups are violated in %d more ways.", c.more)
		c.found = append(c.found, Violation{[]string{}, g.rules[0].keyword[:1:1], said, c.more})
	}
	return c.found, nil
}

// check is one check of an object.
type check struct {
	meter       *budget.Meter
	err         error // of the meter
	object      map[string]any
	versions    Versions
	here, items memo   // of the object itself, and of the item being judged
	way         []step // to the value being judged
	found       []Violation
	more        int // violations beyond those found
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
		c.err = c.meter.Spend(steps * stepTime)
	}
}

// isStopped reports whether the check has taken more than it may; what it says then does not count.
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

// judge judges a rule at a value that the first n parts of the rule's common prefix lead to, or for each item of the
// first list further along it (spec/property-groups.md §2, "Where it is judged").
func (c *check) judge(r *rule, value any, n int) {
	before := len(c.way)
	list, skip := c.findList(r.group.common, value, n)
	if list != nil {
		c.judgeItems(r, list, skip)
	}
	if c.way = c.way[:before]; list == nil {
		c.judgeOnce(r, place{value: value, skip: n, memo: &c.here})
	}
}

// findList follows a path from its part n on to the first list with items, which `skip` parts lead to.
func (c *check) findList(path []string, value any, n int) (list []any, skip int) {
	for skip = n; ; skip++ {
		c.spend(1)
		if list, ok := value.([]any); ok && len(list) > 0 {
			return list, skip
		}
		object, ok := value.(map[string]any)
		if !ok || skip == len(path) {
			return nil, 0
		}
		c.spend(keySteps(path[skip]))
		if value, ok = object[path[skip]]; !ok {
			return nil, 0
		}
		c.way = append(c.way, step{key: path[skip]})
	}
}

func (c *check) judgeItems(r *rule, list []any, skip int) {
	c.way = append(c.way, step{isItem: true})
	for i, item := range list {
		if c.isStopped() {
			break
		}
		c.way[len(c.way)-1].index = i
		c.judge(r, item, skip)
	}
}

func (c *check) judgeOnce(r *rule, p place) {
	if len(c.way) > 0 {
		p.memo = &c.items
		p.memo.next()
	}
	if !c.holds(r.group, p) {
		c.report(r, func() string { return c.violation(r.group, p) })
	}
}

// report adds a violation at the value being judged, or counts it if there are too many.
func (c *check) report(r *rule, word func() string) {
	if len(c.found) == maxViolations {
		c.more++
		return
	}
	c.spend(wordTime/stepTime + len(c.way))
	instance := make([]string, len(c.way))
	for i, s := range c.way {
		if instance[i] = s.key; s.isItem {
			instance[i] = strconv.Itoa(s.index)
		}
	}
	message := word()
	if r.named {
		message = "Properties group '" + cut(r.name, maxName) + "': " + message
	}
	c.found = append(c.found, Violation{instance, r.keyword, message, 0})
}
