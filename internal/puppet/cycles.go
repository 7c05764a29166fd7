package puppet

import (
	"fmt"
	"strings"

	"purser/internal/budget"
	"purser/internal/cycles"
	"purser/internal/document"
)

// graph is the dependency graph of resources. Resource i has two nodes, 2i for its beginning and 2i+1 for its end, so
// that the resources that a class contains come between the two.
type graph struct{ next cycles.Graph }

func begin(i int) int32 { return int32(2 * i) }   //nolint:gosec // there are fewer resources
func end(i int) int32   { return int32(2*i + 1) } //nolint:gosec // as above

func (g *graph) add(from, to int32) { g.next[from] = append(g.next[from], to) }

// dependencies returns the dependency graph of the changed resources and the catalog's edges.
func (w *work) dependencies(catalog *Catalog) (*graph, error) {
	const stepsEach, bytesEach = 400, 200
	if err := w.meter.Hold(len(w.resources) * bytesEach); err != nil {
		return nil, err
	}
	g := &graph{make(cycles.Graph, 2*len(w.resources))}
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
	paths, count, err := g.next.Find(meter, maxShown)
	if err != nil || count == 0 {
		return "", err
	}
	text := fmt.Sprintf("Found %d dependency cycles: ", count)
	if count == 1 {
		text = "Found 1 dependency cycle: "
	}
	var shown []string
	for _, path := range paths {
		shown = append(shown, "("+formatCycle(path, resources)+")")
	}
	if count > maxShown {
		shown = append(shown, "…")
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
