package puppet

import (
	"fmt"
	"slices"
	"strings"

	"purser/internal/budget"
	"purser/internal/document"
)

// graph is the dependency graph of resources. Resource i has two nodes, 2i for its beginning and 2i+1 for its end, so
// that the resources that a class contains come between the two.
type graph struct {
	next [][]int32
}

func begin(i int) int32 { return int32(2 * i) }   //nolint:gosec // there are fewer resources
func end(i int) int32   { return int32(2*i + 1) } //nolint:gosec // as above

func (g *graph) add(from, to int32) { g.next[from] = append(g.next[from], to) }

// dependencies returns the dependency graph of the changed resources and the catalog's edges.
func (w *work) dependencies(catalog *Catalog) (*graph, error) {
	const stepsEach, bytesEach = 400, 200
	if err := w.meter.Hold(len(w.resources) * bytesEach); err != nil {
		return nil, err
	}
	g := &graph{make([][]int32, 2*len(w.resources))}
	for i, r := range w.resources {
		g.add(begin(i), end(i))
		for _, p := range r.parameters {
			if !isRelationship(p.Key) {
				continue
			}
			if err := w.relate(g, i, p); err != nil {
				return nil, err
			}
		}
		if err := w.meter.Spend(stepsEach + len(r.parameters)*10); err != nil {
			return nil, err
		}
	}
	edges, _ := catalog.root.At("edges").([]any)
	for _, item := range edges {
		if err := w.meter.Spend(stepsEach); err != nil {
			return nil, err
		}
		edge, _ := item.(document.Mapping)
		container, ok := w.resolve(edge.At("source"))
		inner, ok2 := w.resolve(edge.At("target"))
		if ok && ok2 {
			g.add(begin(container), begin(inner))
			g.add(end(inner), end(container))
		}
	}
	return g, nil
}

// relate adds the dependencies that one relationship of resource i expresses.
func (w *work) relate(g *graph, i int, p document.Member) error {
	const stepsEach, bytesEach = 500, 16
	targets := flatten(p.Value)
	w.meter.Charge(len(targets) * stepsEach)
	if err := w.meter.Hold(len(targets) * bytesEach); err != nil {
		return err
	}
	for _, item := range targets {
		target, ok := w.resolve(item)
		switch {
		case !ok:
		case isBackwards(p.Key):
			g.add(end(target), begin(i))
		default:
			g.add(end(i), begin(target))
		}
	}
	return nil
}

// resolve returns the position of the resource that a reference names.
func (w *work) resolve(reference any) (i int, ok bool) {
	text, _ := reference.(string)
	ref, ok := ParseRef(text)
	if !ok {
		return 0, false
	}
	return w.index.find(ref)
}

// describeCycles returns a message about the cycles in Puppet's words, or "" if there are none.
func (g *graph) describeCycles(meter *budget.Meter, resources []resource) (string, error) {
	const maxShown = 10
	components, err := g.components(meter)
	if err != nil || len(components) == 0 {
		return "", err
	}
	text := fmt.Sprintf("Found %d dependency cycles: ", len(components))
	if len(components) == 1 {
		text = "Found 1 dependency cycle: "
	}
	var shown []string
	for i, component := range components {
		if i == maxShown {
			shown = append(shown, "…")
			break
		}
		path, err := g.cycle(meter, component)
		if err != nil {
			return "", err
		}
		shown = append(shown, "("+formatCycle(path, resources)+")")
	}
	return text + strings.Join(shown, ", "), nil
}

// formatCycle formats a cycle of nodes as resources with arrows between them.
func formatCycle(path []int32, resources []resource) string {
	const maxShown = 50
	var names []string
	last := int32(-1)
	for _, node := range path {
		if node/2 == last {
			continue
		}
		if last = node / 2; len(names) == maxShown {
			names = append(names, "…")
		}
		if len(names) <= maxShown {
			names = append(names, resources[last].String())
		}
	}
	if n := len(names); n == 1 || names[n-1] != names[0] {
		names = append(names, names[0])
	}
	return strings.Join(names, " => ")
}

// components returns the strongly connected components of more than one node. It is Tarjan's algorithm with an explicit
// stack.
func (g *graph) components(meter *budget.Meter) ([][]int32, error) {
	const stepsEach, bytesEach = 40, 24
	n := len(g.next)
	if err := meter.Hold(n * bytesEach); err != nil {
		return nil, err
	}
	s := search{graph: g, number: make([]int32, n), low: make([]int32, n), place: make([]int32, n), open: make([]bool, n)}
	for root := range s.number {
		if s.number[root] == unseen {
			s.enter(int32(root))
		}
		for len(s.path) > 0 {
			if err := meter.Spend(stepsEach); err != nil {
				return nil, err
			}
			s.step()
		}
	}
	return s.found, nil
}

// search is the state of components.
type search struct {
	*graph

	number, low []int32 // of each node: the order in which it was reached, and the lowest that it can reach
	place       []int32 // of each node: the position of the next edge to follow
	open        []bool  // whether a node is on the stack
	stack, path []int32
	count       int32
	found       [][]int32
}

const unseen = 0

// enter pushes a node that is reached for the first time.
func (s *search) enter(v int32) {
	s.count++
	s.number[v], s.low[v], s.open[v] = s.count, s.count, true
	s.stack, s.path = append(s.stack, v), append(s.path, v)
}

// step follows the next edge of the last node of path, or removes the node if it has no more.
func (s *search) step() {
	v := s.path[len(s.path)-1]
	if int(s.place[v]) < len(s.next[v]) {
		to := s.next[v][s.place[v]]
		s.place[v]++
		switch {
		case s.number[to] == unseen:
			s.enter(to)
		case s.open[to]:
			s.low[v] = min(s.low[v], s.number[to])
		}
		return
	}
	s.path = s.path[:len(s.path)-1]
	if len(s.path) > 0 {
		parent := s.path[len(s.path)-1]
		s.low[parent] = min(s.low[parent], s.low[v])
	}
	if s.low[v] == s.number[v] {
		s.close(v)
	}
}

// close removes the component of a node from the stack.
func (s *search) close(v int32) {
	at := len(s.stack) - 1
	for s.stack[at] != v {
		at--
	}
	for _, member := range s.stack[at:] {
		s.open[member] = false
	}
	if len(s.stack)-at > 1 {
		s.found = append(s.found, slices.Clone(s.stack[at:]))
	}
	s.stack = s.stack[:at]
}

// cycle returns a shortest cycle through the component's lowest node.
func (g *graph) cycle(meter *budget.Meter, component []int32) ([]int32, error) {
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
		if err := meter.Spend(stepsEach * (1 + len(g.next[v]))); err != nil {
			return nil, err
		}
		for _, w := range g.next[v] {
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
