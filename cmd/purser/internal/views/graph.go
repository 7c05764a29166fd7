package views

import (
	"fmt"
	"slices"
	"strings"

	"purser/internal/wire"
	"purser/internal/words"
)

// Graph returns a graph as text: below each document, the documents that it depends on.
func Graph(text []byte) (string, error) {
	graph, err := decode[wire.Graph](text)
	if err != nil {
		return "", err
	}
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
	return b.String(), nil
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
