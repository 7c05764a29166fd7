// Package cycles finds cycles in directed graphs.
package cycles

import (
	"slices"

	"purser/internal/budget"
)

// Graph is a directed graph. It lists, for each node, the nodes to which edges lead.
type Graph [][]int32

// Find returns the number of groups of nodes that can reach each other, and a shortest cycle through the lowest node of
// each of the first groups, most of them. Edges from a node to itself are no cycles. It takes time and memory in
// proportion to the graph, which it counts in the budget, and does not recurse. The only errors are those of meter,
// returned unwrapped.
func (g Graph) Find(meter *budget.Meter, most int) (found [][]int32, groups int, err error) {
	components, err := g.Components(meter)
	if err != nil {
		return nil, 0, err
	}
	for _, component := range components[:min(most, len(components))] {
		path, err := g.cycle(meter, component)
		if err != nil {
			return nil, 0, err
		}
		found = append(found, path)
	}
	return found, len(components), nil
}

// Components returns the strongly connected components of more than one node. Its costs and errors are as in Find.
func (g Graph) Components(meter *budget.Meter) (components [][]int32, err error) {
	err = g.Each(meter, func(component []int32) error {
		if len(component) > 1 {
			components = append(components, slices.Clone(component))
		}
		return nil
	})
	return components, err
}

// Each calls do for each strongly connected component, after those to which its edges lead. It is Tarjan's algorithm
// with an explicit stack. Its costs are as in Find; its errors are those of meter and of do, unwrapped. do may
// sort the component, but not keep it.
func (g Graph) Each(meter *budget.Meter, do func(component []int32) error) error {
	const stepsEach, bytesEach = 40, 24
	n := len(g)
	if err := meter.Hold(n * bytesEach); err != nil {
		return err
	}
	s := search{graph: g, number: make([]int32, n), low: make([]int32, n), place: make([]int32, n), open: make([]bool, n)}
	for root := range s.number {
		if s.number[root] == unseen {
			s.enter(int32(root))
		}
		for len(s.path) > 0 {
			if err := meter.Spend(stepsEach); err != nil {
				return err
			}
			if err := s.step(do); err != nil {
				return err
			}
		}
	}
	return nil
}

// search is the state of Each.
type search struct {
	graph       Graph
	number, low []int32 // of each node: the order in which it was reached, and the lowest that it can reach
	place       []int32 // of each node: the position of the next edge to follow
	open        []bool  // whether a node is on the stack
	stack, path []int32
	count       int32
}

const unseen = 0

// enter pushes a node that is reached for the first time.
func (s *search) enter(v int32) {
	s.count++
	s.number[v], s.low[v], s.open[v] = s.count, s.count, true
	s.stack, s.path = append(s.stack, v), append(s.path, v)
}

// step follows the next edge of the last node of path, or removes the node if it has no more.
func (s *search) step(do func(component []int32) error) error {
	v := s.path[len(s.path)-1]
	if int(s.place[v]) < len(s.graph[v]) {
		to := s.graph[v][s.place[v]]
		s.place[v]++
		switch {
		case s.number[to] == unseen:
			s.enter(to)
		case s.open[to]:
			s.low[v] = min(s.low[v], s.number[to])
		}
		return nil
	}
	s.path = s.path[:len(s.path)-1]
	if len(s.path) > 0 {
		parent := s.path[len(s.path)-1]
		s.low[parent] = min(s.low[parent], s.low[v])
	}
	if s.low[v] == s.number[v] {
		return do(s.close(v))
	}
	return nil
}

// close removes the component of a node from the stack, and returns it.
func (s *search) close(v int32) []int32 {
	at := len(s.stack) - 1
	for s.stack[at] != v {
		at--
	}
	component := s.stack[at:]
	for _, member := range component {
		s.open[member] = false
	}
	s.stack = s.stack[:at]
	return component
}

// cycle returns a shortest cycle through the component's lowest node.
func (g Graph) cycle(meter *budget.Meter, component []int32) ([]int32, error) {
	const stepsEach, bytesEach = 100, 100
	if err := meter.Hold(len(component) * bytesEach); err != nil {
		return nil, err
	}
	start, inside := component[0], make(map[int32]bool, len(component))
	for _, node := range component {
		start, inside[node] = min(start, node), true
	}
	from := make(map[int32]int32, len(component))
	queue := []int32{start}
	for len(queue) > 0 {
		v := queue[0]
		queue = queue[1:]
		if err := meter.Spend(stepsEach * (1 + len(g[v]))); err != nil {
			return nil, err
		}
		for _, w := range g[v] {
			if w == start {
				path := []int32{v}
				for v != start {
					v = from[v]
					path = append(path, v)
				}
				slices.Reverse(path)
				return path, nil
			}
			if _, seen := from[w]; inside[w] && !seen {
				from[w] = v
				queue = append(queue, w)
			}
		}
	}
	return []int32{start}, nil
}
