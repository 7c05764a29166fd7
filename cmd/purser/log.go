package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"purser/cmd/purser/internal/views"
	"purser/internal/client"
)

// logCommand lists revisions, or the changes of a document.
type logCommand struct {
	remote
	output

	Document *documentName `help:"The changes of this document, with their differences: SCHEMA/NAME." placeholder:"SCHEMA/NAME"`
	Layer    string        `help:"Layer of the document, if it has one."`
	Tag      []string      `help:"Only revisions with this tag." sep:"none"`
	Limit    int           `default:"20" help:"Maximum number, newest first." short:"n"`
}

// Help returns the end of the command's help.
func (*logCommand) Help() string {
	return `Examples:

  purser log -n 5                                            # the five newest revisions
  purser log --document acme/Host/v1/cmp-1 --layer site      # who changed a document, when and how`
}

// Run prints the newest revisions, or the changes of a document.
func (c *logCommand) Run(ctx context.Context, around *surroundings, server *client.Client) error {
	if c.Document != nil {
		return c.history(ctx, around, server)
	}
	query := url.Values{"sort": {"id"}, "order": {"desc"}}
	if len(c.Tag) > 0 {
		query["tag"] = c.Tag
	}
	items, _, err := server.List(ctx, c.Limit, query, "revisions")
	if err != nil {
		return err
	}
	revisions, err := views.Revisions(items)
	if err != nil {
		return err
	}
	return c.print(around, revisions)
}

// history prints the changes of a document.
func (c *logCommand) history(ctx context.Context, around *surroundings, server *client.Client) error {
	path := append([]string{"documents"}, strings.Split(c.Document.Schema, "/")...)
	items, _, err := server.List(ctx, c.Limit, nil, append(path, cmp.Or(c.Layer, "-"), c.Document.Name, "history")...)
	if refused, ok := errors.AsType[*client.Error](err); ok && refused.Status == http.StatusNotFound && c.Layer == "" {
		return fmt.Errorf("%w\nIf it has a layer, add --layer", err)
	}
	if err != nil {
		return err
	}
	history, err := views.History(items, around.colors)
	if err != nil {
		return err
	}
	return c.print(around, history)
}
