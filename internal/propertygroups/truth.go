package propertygroups

import "purser/internal/document"

// place is a value that a rule is evaluated at.
type place struct {
	value any
	skip  int // parts of the rule's paths that lead to the value
	memo  *memo
}

// memo caches the truth values of groups that are referred to more than once, at one place at a time.
type memo struct {
	size int
	at   int   // number of the current place
	held []int // by group: twice the number of the place where it was last evaluated, plus one if it was true
}

// next moves to the next place, which clears the memo.
func (m *memo) next() { m.at++ }

func (m *memo) recall(g *group) (held, ok bool) {
	if g.memo < 0 || m.held == nil || m.held[g.memo]>>1 != m.at {
		return false, false
	}
	return m.held[g.memo]&1 == 1, true
}

func (m *memo) remember(g *group, held bool) {
	if g.memo < 0 {
		return
	}
	if m.held == nil {
		m.held = make([]int, m.size)
	}
	if m.held[g.memo] = m.at << 1; held {
		m.held[g.memo]++
	}
}

// truth evaluates an operand.
func (c *check) truth(o operand, p place) bool {
	c.spend(1)
	if o.group == nil {
		return c.specified(p.value, o.path[p.skip:])
	}
	held, ok := p.memo.recall(o.group)
	if !ok && !c.isStopped() {
		held = c.holds(o.group, p)
		p.memo.remember(o.group, held)
	}
	return held
}

// holds reports whether a group's operator holds.
func (c *check) holds(g *group, p place) bool {
	switch g.operator {
	case and:
		return c.atLeast(len(g.operands), g.operands, p)
	case or:
		return c.atLeast(1, g.operands, p)
	case xor:
		return c.count(g.operands, p, 2) == 1
	case dependsOn:
		rest := g.operands[1:]
		return !c.truth(g.operands[0], p) || c.atLeast(len(rest), rest, p)
	case noOperator:
	}
	return true
}

// atLeast reports whether at least n operands are true, where n is one or all.
func (c *check) atLeast(n int, operands []operand, p place) bool {
	for _, o := range operands {
		if truth := c.truth(o, p); truth == (n == 1) {
			return truth
		}
	}
	return n > 1
}

// count counts true operands up to limit.
func (c *check) count(operands []operand, p place, limit int) (n int) {
	for _, o := range operands {
		if c.truth(o, p) {
			if n++; n == limit {
				break
			}
		}
	}
	return n
}

// specified reports whether a path leads from a value to one that is not null, through any item of lists.
func (c *check) specified(value any, path []string) bool {
	c.spend(1)
	if len(path) == 0 {
		return value != nil
	}
	switch v := value.(type) {
	case document.Mapping:
		child, ok := c.lookup(v, path[0])
		return ok && c.specified(child, path[1:])
	case []any:
		for _, item := range v {
			if c.isStopped() {
				break
			}
			if c.specified(item, path) {
				return true
			}
		}
	}
	return false
}

// lookup returns a member of an object. It charges for the cost beyond one step: long keys, and building an index of
// objects that are slow to search.
func (c *check) lookup(object document.Mapping, key string) (any, bool) {
	const few, keyBytes = 16, 512
	c.spend(len(key) / keyBytes)
	if len(object) <= few {
		return object.Lookup(key)
	}
	index := c.indexes[&object[0]]
	if index == nil {
		c.spend(len(object))
		index = make(map[string]any, len(object))
		for _, member := range object {
			index[member.Key] = member.Value
		}
		if c.indexes == nil {
			c.indexes = map[*document.Member]map[string]any{}
		}
		c.indexes[&object[0]] = index
	}
	value, ok := index[key]
	return value, ok
}
