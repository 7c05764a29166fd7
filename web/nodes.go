package web

import (
	"slices"
	"strings"

	"purser/internal/wire"
)

// neighbour is a document that depends on another one, or that the other one depends on.
type neighbour struct {
	wire.Node

	Kinds []string
}

// graphNode is a document of a graph in a list.
type graphNode struct {
	wire.Node

	Degree int // how many dependencies begin or end there
}

// Focus returns the document's name in the syntax of the parameter focus.
func (n graphNode) Focus() string { return focusName(n.Identity()) }

// focusName returns a document's name in the syntax of the parameter focus.
func focusName(id wire.Identity) string {
	if id.Layer == "" {
		return id.Schema + "/" + id.Name
	}
	return id.Schema + "/" + id.Name + "/" + string(id.Layer)
}

// neighboursOf returns the documents on which a document depends, and those that depend on it.
func neighboursOf(of wire.Graph, id wire.Identity) (dependencies, dependents []neighbour) {
	here := -1
	for _, n := range of.Nodes {
		if n.Identity().Plain() == id.Plain() {
			here = n.ID
		}
	}
	dependencies = linked(of, here, func(e wire.Edge) (int, int) { return e.From, e.To })
	dependents = linked(of, here, func(e wire.Edge) (int, int) { return e.To, e.From })
	return dependencies, dependents
}

// linked returns the nodes at the other ends of a node's edges; ends determines their direction.
func linked(of wire.Graph, here int, ends func(wire.Edge) (from, to int)) (all []neighbour) {
	nodes, at := map[int]wire.Node{}, map[int]int{}
	for _, n := range of.Nodes {
		nodes[n.ID] = n
	}
	for _, e := range of.Edges {
		from, to := ends(e)
		if from != here {
			continue
		}
		i, known := at[to]
		if !known {
			i, at[to] = len(all), len(all)
			all = append(all, neighbour{Node: nodes[to]})
		}
		all[i].Kinds = append(all[i].Kinds, e.Kind)
	}
	return all
}

// maxListed is the maximum number of documents in a list.
const maxListed = 200

// listNodes returns the documents whose names contain a text, sorted by descending number of dependencies, and how many
// others a list has no room for.
func listNodes(of wire.Graph, filter string) (all []graphNode, hidden int) {
	degree := map[int]int{}
	for _, e := range of.Edges {
		degree[e.From]++
		degree[e.To]++
	}
	for _, n := range of.Nodes {
		if strings.Contains(strings.ToLower(n.Schema+"/"+string(n.Name)), strings.ToLower(filter)) {
			all = append(all, graphNode{n, degree[n.ID]})
		}
	}
	slices.SortStableFunc(all, func(a, b graphNode) int { return b.Degree - a.Degree })
	hidden = max(len(all)-maxListed, 0)
	return all[:len(all)-hidden], hidden
}
