package main

import (
	"cmp"
	"context"
	"net/url"
	"strconv"

	"purser/internal/client"
	"purser/internal/words"
)

// diffCommand prints the differences between the documents of two revisions.
type diffCommand struct {
	remote

	Before   string `arg:"" help:"Revision: 17, latest, tag:NAME, latest~1; 0 for no documents."`
	After    string `arg:"" default:"latest" help:"Revision."`
	Rendered bool   `help:"Compare rendered documents instead of submitted ones."`
	Format   string `default:"unified" enum:"unified,side,json-patch" help:"Format: unified, side (by side) or json-patch." placeholder:"FORM" short:"f"`
	Width    int    `help:"Width of --format side, in characters; default: that of the terminal, or 160."`
}

// Run prints the differences between the two revisions.
func (c *diffCommand) Run(ctx context.Context, around *surroundings, server *client.Client) error {
	before, after, err := server.Numbers(ctx, c.Before, c.After)
	if err != nil {
		return err
	}
	text, err := c.text(ctx, server, before, after)
	if err != nil {
		return err
	}
	switch c.Format {
	case "json-patch":
		text = words.PrintableJSON(text)
	case "side":
		text = sideBySide(text, cmp.Or(c.Width, around.width, 160), around.colors)
	default:
		text = unifiedText(text, around.colors)
	}
	return write(around, text)
}

// text returns the differences as a unified diff, or as JSON patches.
func (c *diffCommand) text(ctx context.Context, server *client.Client, before, after string) (string, error) {
	request := client.Request{
		Path:  []string{"revisions", before, "deepdiff", after},
		Query: url.Values{"format": {"unified"}, "rendered": {strconv.FormatBool(c.Rendered)}}, Accept: client.Text,
	}
	if c.Format == "json-patch" {
		request.Query["format"], request.Accept = []string{"json-patch"}, client.Patch
	}
	answer, err := server.Do(ctx, request)
	return string(answer.Body), err
}
