package jsonschema

import "slices"

// cost is what evaluating schemas against one value can cost at most. The figures are floats because they grow beyond
// any integer and an infinity compares as it should.
type cost struct {
	visits  float64 // schemas evaluated
	own     float64 // keywords and values within them that are gone through
	members float64 // what each member or item of the value is looked at for
	bytes   float64 // steps for each byte of the value or its keys
	deep    float64 // steps for each value in it, at any depth
}

// Nanoseconds, roughly, that one unit of each takes.
const (
	visitTime  = 1000
	ownTime    = 50
	memberTime = 100
	byteTime   = 5
	deepTime   = 60
	maxTime    = 1e9
)

func (c *cost) add(d cost, times float64) {
	c.visits += d.visits * times
	c.own += d.own * times
	c.members += d.members * times
	c.bytes += d.bytes * times
	c.deep += d.deep * times
}

func (c *cost) max(d cost) {
	c.visits = max(c.visits, d.visits)
	c.own = max(c.own, d.own)
	c.members = max(c.members, d.members)
	c.bytes = max(c.bytes, d.bytes)
	c.deep = max(c.deep, d.deep)
}

// cost is what evaluating n alone costs.
func (n *node) cost() cost {
	c := cost{visits: 1, own: float64(len(n.edges)), members: 1, bytes: 1}
	for _, keyword := range []string{"enum", "required", "type", "dependencies"} {
		if v := n.raw.member(keyword); v != nil {
			c.own += float64(v.size())
		}
	}
	for _, keyword := range n.added {
		c.deep += float64(keyword.Weight())
	}
	if n.pattern != nil {
		c.bytes += float64(n.pattern.size)
	}
	for i := range n.edges {
		if p := n.edges[i].pattern; p != nil {
			c.members++
			c.bytes += float64(p.size)
		}
	}
	return c
}

func (v *value) size() int {
	n := 1
	for _, item := range v.items {
		n += item.size()
	}
	return n
}

// costs are the cost at each depth of the data.
type costs [maxDepth + 1]cost

// time is how long checking data of that weight takes at most, in about nanoseconds.
func (c *costs) time(w *weight) float64 {
	total, below := 0.0, 0.0
	for depth := w.depth; depth >= 0; depth-- {
		at := &c[depth]
		if below += float64(w.values[depth]); w.values[depth] > 1 { // the check of a single value bounds itself
			total += below * at.deep * deepTime
		}
		total += float64(w.values[depth])*(at.visits*visitTime+at.own*ownTime) +
			float64(w.values[depth+1])*at.members*memberTime + float64(w.bytes[depth])*at.bytes*byteTime
	}
	return total
}

// state is which schemas meet at one value of the data, and how many times each: at a value that two schemas of a
// state lead to, those they lead to meet.
type state struct {
	entry    []meeting
	cost     cost
	expanded bool
	next     []int // the states that a member or an item of the value can be in, once expanded
}

// meeting is a schema and how many times it is evaluated at a value.
type meeting struct {
	node  *node
	times float64
}

// meter finds the states of a schema and what they cost.
type meter struct {
	states []state
	known  map[string]int
	effort int
}

// maxEffort bounds the meter's own work.
const maxEffort = 500_000

// weigh returns what the schema costs at each depth, or refuses it. Growth is seen by walking the states level by
// level: a schema that recurses once per property meets itself once at every depth, one that recurses twice into the
// same property doubles there.
func (g *graph) weigh(options Options) *costs {
	m := meter{known: make(map[string]int)}
	all := new(costs)
	level := []int{m.state([]meeting{{g.nodes[0], 1}})}
	total := 0.0
	for depth := 0; depth <= maxDepth && len(level) > 0; depth++ {
		var after []int
		for _, id := range level {
			all[depth].max(m.states[id].cost)
		}
		if total += all[depth].visits; total > float64(options.Visits) {
			g.refuseCost(g.nodes[0], options)
			return nil
		}
		for _, id := range level {
			after = append(after, m.after(id)...)
		}
		if m.effort += len(after); m.effort > maxEffort {
			g.findings = append(g.findings, Finding{
				Message:  "its combinators and references are too intricate for their cost to be known: simplify them",
				Instance: []string{}, SchemaPath: ".",
			})
			return nil
		}
		slices.Sort(after)
		level = slices.Compact(after)
	}
	return all
}
