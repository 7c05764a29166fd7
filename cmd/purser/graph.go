package main

import (
	"context"
	"net/url"
	"strconv"

	"purser/cmd/purser/internal/views"
	"purser/internal/client"
	"purser/internal/words"
)

// graphCommand prints the dependencies between the documents of a revision.
type graphCommand struct {
	remoteRevision

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
func (c *graphCommand) Run(ctx context.Context, around *surroundings, server opened) error {
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
		Path: []string{"revisions", server.revision, "graph"}, Query: query,
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
		return write(around, string(answer.Body))
	}
	text, err := views.Graph(answer.Body)
	if err != nil {
		return err
	}
	return write(around, text)
}
