package main

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"purser/internal/client"
	"purser/internal/wire"
	"purser/internal/words"
)

// graphCommand prints the dependencies between the documents of a revision.
type graphCommand struct {
	remoteRevision

	Format string `aliases:"output" default:"" enum:",text,table,name,svg,dot,json,yaml" formerly:"f" help:"Format: text or table, name, svg, dot, json or yaml; default: text on a terminal, svg elsewhere." placeholder:"FORM" short:"o"`
	Focus  string `help:"Only documents with this name and their neighbours: those that they depend on, and those that depend on them." placeholder:"NAME" values:"names"`
	Depth  int    `default:"2" help:"With --focus: how many steps to go; 1 for direct neighbours only."`
}

// Run prints the graph.
func (c *graphCommand) Run(ctx context.Context, around *surroundings, server opened) error {
	format := textForTable(c.Format)
	switch {
	case format == "" && around.width > 0:
		format = "text"
	case format == "":
		format = "svg"
	}
	query := url.Values{}
	if c.Focus != "" {
		query = url.Values{"focus": {c.Focus}, "depth": {strconv.Itoa(c.Depth)}}
	}
	answer, err := server.Do(ctx, client.Request{
		Path: []string{"revisions", server.revision, "graph"}, Query: query,
		Accept: map[string]string{"svg": client.SVG, "dot": client.Graphviz, "yaml": client.YAML}[format],
	})
	if err != nil {
		return err
	}
	switch format {
	case "text", "name":
	case "json", "yaml":
		return write(around, words.PrintableJSON(string(answer.Body)))
	default:
		return write(around, string(answer.Body))
	}
	var graph wire.Graph
	if err := answer.Decode(&graph); err != nil {
		return err
	}
	return output{format}.print(around, graphAnswer(graph))
}

// graphAnswer returns a graph for people, and the names of its documents.
func graphAnswer(graph wire.Graph) answer {
	var names []string
	for _, node := range graph.Nodes {
		if node.Missing == "" {
			names = append(names, node.Schema+"/"+string(node.Name))
		}
	}
	return answer{names: names, text: graphText(graph)}
}

// graphText returns a graph as text: below each document, the documents that it depends on.
func graphText(graph wire.Graph) string {
	var b strings.Builder
	needs := map[int][]wire.Edge{}
	for _, edge := range graph.Edges {
		needs[edge.From] = append(needs[edge.From], edge)
	}
	nodes := map[int]wire.Node{}
	for _, node := range graph.Nodes {
		nodes[node.ID] = node
	}
	for _, node := range graph.Nodes {
		if node.Missing != "" {
			continue // printed below the documents that depend on it
		}
		fmt.Fprintln(&b, words.Line(nodeText(node)))
		edges := needs[node.ID]
		slices.SortStableFunc(edges, func(a, b wire.Edge) int { return strings.Compare(a.Kind, b.Kind) })
		for _, edge := range edges {
			cyclic := ""
			if edge.Cyclic {
				cyclic = "  (cycle)"
			}
			fmt.Fprintln(&b, words.Line(fmt.Sprintf("  %-12s %s%s", edge.Kind, nodeText(nodes[edge.To]), cyclic)))
		}
	}
	for _, problem := range graph.Problems {
		fmt.Fprintln(&b, words.Line("problem: "+problem.Message))
	}
	return b.String()
}

func nodeText(node wire.Node) string {
	id := node.Identity()
	id.Name = dash(id.Name)
	text := id.String()
	if node.Missing != "" {
		text += "  (" + string(node.Missing) + " missing)"
	}
	if node.Abstract {
		text += "  (abstract)"
	}
	return text
}
