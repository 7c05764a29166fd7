package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"purser/cmd/purser/internal/views"
	"purser/internal/client"
	"purser/internal/words"
)

// pruneCommand deletes old revisions.
type pruneCommand struct {
	remote
	output
	consent

	Keep   int  `help:"How many of the newest revisions to keep; those with a tag are kept, too." required:""`
	DryRun bool `help:"Show what would be deleted, and delete nothing." short:"n"`
}

// Validate refuses to keep nothing.
func (c *pruneCommand) Validate() error {
	if c.Keep < 1 {
		return fmt.Errorf("--keep must be at least 1, not %d: the newest revision always stays", c.Keep)
	}
	return nil
}

// Help returns the end of the command's help.
func (*pruneCommand) Help() string {
	return `Deleted revisions cannot be restored. On a terminal it asks first; elsewhere it needs --yes.

  purser prune --keep 100 --dry-run
  purser prune --keep 100 --yes`
}

// Run deletes old revisions once the user has confirmed it.
func (c *pruneCommand) Run(ctx context.Context, around *surroundings) error {
	server, err := c.connect(ctx, around)
	if err != nil {
		return err
	}
	if !c.DryRun && !c.Yes {
		if err := c.confirmPreview(ctx, around, server); err != nil {
			return err
		}
	}
	pruned, text, err := prune(ctx, server, c.Keep, c.DryRun)
	if err != nil {
		return err
	}
	return c.print(around, views.Pruned(text, pruned))
}

// confirmPreview shows what the prune would delete, and asks for confirmation.
func (c *pruneCommand) confirmPreview(ctx context.Context, around *surroundings, server *client.Client) error {
	pruned, text, err := prune(ctx, server, c.Keep, true)
	if err != nil || pruned.Revisions.Count == 0 {
		return err
	}
	return c.confirm(around, "delete "+words.Count(pruned.Revisions.Count, "revision"), views.Pruned(text, pruned).Text)
}

// prune deletes revisions or, in a dry run, returns those that it would delete.
func prune(ctx context.Context, server *client.Client, keep int, dryRun bool) (client.Pruned, []byte, error) {
	var pruned client.Pruned
	text, err := server.Send(ctx, client.Request{
		Method: http.MethodPost, Path: []string{"revisions", "prune"},
		Query: url.Values{"keep": {strconv.Itoa(keep)}, "dry-run": {strconv.FormatBool(dryRun)}},
	}, &pruned)
	return pruned, text, err
}
