package propertygroups

// place is where a rule is judged: a value that the first parts of its paths lead to, and what is remembered of it.
type place struct {
	value any
	skip  int
	memo  *memo
}

// memo remembers the truth of groups that are referred to more than once, at one place after another.
type memo struct {
	size int
	at   int   // which place this is
	held []int // by group: twice the place at which it was last judged, and one more if it held
}

// next forgets everything.
func (m *memo) next() { m.at++ }

func (m *memo) recall(g *group) (held, known bool) {
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

// truth is that of an operand (spec/property-groups.md §2).
func (c *check) truth(o operand, p place) bool {
	c.spend(1)
	if o.group == nil {
		return c.specified(p.value, o.path[p.skip:])
	}
	held, known := p.memo.recall(o.group)
	if !known && !c.isStopped() {
		held = c.holds(o.group, p)
		p.memo.remember(o.group, held)
	}
	return held
}

// holds tells whether a group's operator does.
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

// atLeast tells whether n operands are true; n is one or all.
func (c *check) atLeast(n int, operands []operand, p place) bool {
	for _, o := range operands {
		if truth := c.truth(o, p); truth == (n == 1) {
			return truth
		}
	}
	return n > 1
}

// count counts true operands, but none after enough of them.
func (c *check) count(operands []operand, p place, enough int) (n int) {
	for _, o := range operands {
		if c.truth(o, p) {
			if n++; n == enough {
				break
			}
		}
	}
	return n
}

// specified tells whether a path leads from a value to one that is not null, through any item of a list.
func (c *check) specified(value any, path []string) bool {
	c.spend(1)
	if len(path) == 0 {
		return value != nil
	}
	switch v := value.(type) {
	case map[string]any:
		c.spend(keySteps(path[0]))
		child, ok := v[path[0]]
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

// keySteps is how many steps more than one it takes to look up a key: it is read to its end.
func keySteps(key string) int { return len(key) / 512 }
