package main

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"purser/internal/client"
	"purser/internal/words"
)

// graphCommand prints the dependencies between the documents of a revision.
type graphCommand struct {
	remote
	at

	Format string `default:"" enum:",text,svg,dot,json,yaml" help:"Format: text, svg, dot, json or yaml; default: text on a terminal, svg elsewhere." placeholder:"FORM" short:"f"`
	Focus  string `help:"Only the surroundings of documents with this name." placeholder:"NAME"`
	Depth  int    `default:"2" help:"Maximum distance from the focus."`
}

// Help returns the end of the command's help.
func (*graphCommand) Help() string {
	return `Examples:

  purser graph --focus api                 # as text
  purser graph 17 > graph.svg`
}

// Run prints the graph.
func (c *graphCommand) Run(ctx context.Context, around *surroundings) error {
	in := &reading{remote: c.remote, at: c.at}
	server, revision, err := in.open(ctx, around)
	if err != nil {
		return err
	}
	format := c.Format
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
		Path: []string{"revisions", revision, "graph"}, Query: query,
		Accept: map[string]string{"svg": client.SVG, "dot": client.Graphviz, "yaml": client.YAML}[format],
	})
	if err != nil {
		return err
	}
	switch format {
	case "text":
	case "json", "yaml":
		return write(around, words.PrintableJSON(string(answer.Body)))
	default:
		return write(around, words.Printable(string(answer.Body)))
	}
	var graph client.Graph
	if err := decode(answer.Body, &graph); err != nil {
		return err
	}
	var b strings.Builder
	graphText(&b, graph)
	return write(around, b.String())
}

// graphText prints a graph as text: below each document, the documents that it depends on.
func graphText(w io.Writer, graph client.Graph) {
	needs := map[int][]client.Edge{}
	for _, edge := range graph.Edges {
		needs[edge.From] = append(needs[edge.From], edge)
	}
	nodes := map[int]client.Node{}
	for _, node := range graph.Nodes {
		nodes[node.ID] = node
	}
	for _, node := range graph.Nodes {
		if node.Missing != "" {
			continue // printed below the documents that depend on it
		}
		fmt.Fprintln(w, words.Line(nodeText(node)))
		edges := needs[node.ID]
		slices.SortStableFunc(edges, func(a, b client.Edge) int { return strings.Compare(a.Kind, b.Kind) })
		for _, edge := range edges {
			cyclic := ""
			if edge.Cyclic {
				cyclic = "  (cycle)"
			}
			fmt.Fprintln(w, words.Line(fmt.Sprintf("  %-12s %s%s", edge.Kind, nodeText(nodes[edge.To]), cyclic)))
		}
	}
	for _, problem := range graph.Problems {
		fmt.Fprintln(w, words.Line("problem: "+problem.Message))
	}
}

func nodeText(node client.Node) string {
	text := client.Identity{Schema: node.Schema, Layer: node.Layer, Name: dash(node.Name)}.String()
	if node.Missing != "" {
		text += "  (" + node.Missing + " missing)"
	}
	if node.Abstract {
		text += "  (abstract)"
	}
	return text
}
