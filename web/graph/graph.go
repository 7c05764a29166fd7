package graph

import (
	"slices"
	"strings"

	"purser/internal/client"
)

// Neighbour is a document that depends on another one, or that the other one depends on.
type Neighbour struct {
	client.Node

	Kinds []string
}

// Identity returns the document's identity.
func (n Neighbour) Identity() client.Identity { return IdentityOf(n.Node) }

// Node is a document of a graph in a list.
type Node struct {
	client.Node

	Degree int // how many dependencies begin or end there
}

// Identity returns the document's identity.
func (n Node) Identity() client.Identity { return IdentityOf(n.Node) }

// Focus returns the document's name in the syntax of the parameter focus.
func (n Node) Focus() string { return FocusName(n.Identity()) }

// IdentityOf returns the identity of a node's document.
func IdentityOf(n client.Node) client.Identity {
	return client.Identity{Schema: n.Schema, Layer: n.Layer, Name: n.Name, Bucket: n.Bucket}
}

// FocusName returns a document's name in the syntax of the parameter focus.
func FocusName(id client.Identity) string {
	if id.Layer == "" {
		return id.Schema + "/" + id.Name
	}
	return id.Schema + "/" + id.Name + "/" + id.Layer
}

// Neighbours returns the documents on which a document depends, and those that depend on it.
func Neighbours(of client.Graph, id client.Identity) (dependencies, dependents []Neighbour) {
	here := -1
	for _, n := range of.Nodes {
		if n.Schema == id.Schema && n.Name == id.Name && n.Layer == id.Layer {
			here = n.ID
		}
	}
	dependencies = linked(of, here, func(e client.Edge) (int, int) { return e.From, e.To })
	dependents = linked(of, here, func(e client.Edge) (int, int) { return e.To, e.From })
	return dependencies, dependents
}

// linked returns the nodes at the other ends of a node's edges; ends determines their direction.
func linked(of client.Graph, here int, ends func(client.Edge) (from, to int)) (all []Neighbour) {
	nodes, at := map[int]client.Node{}, map[int]int{}
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
			all = append(all, Neighbour{Node: nodes[to]})
		}
		all[i].Kinds = append(all[i].Kinds, e.Kind)
	}
	return all
}

// maxListed is the maximum number of documents in a list.
const maxListed = 200

// List returns the documents whose names contain a text, sorted by descending number of dependencies, and how many
// others a list has no room for.
func List(of client.Graph, filter string) (all []Node, hidden int) {
	degree := map[int]int{}
	for _, e := range of.Edges {
		degree[e.From]++
		degree[e.To]++
	}
	for _, n := range of.Nodes {
		if strings.Contains(strings.ToLower(n.Schema+"/"+n.Name), strings.ToLower(filter)) {
			all = append(all, Node{n, degree[n.ID]})
		}
	}
	slices.SortStableFunc(all, func(a, b Node) int { return b.Degree - a.Degree })
	hidden = max(len(all)-maxListed, 0)
	return all[:len(all)-hidden], hidden
}
