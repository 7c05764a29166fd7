package main

import (
	"context"
	"fmt"

	"purser/internal/client"
	"purser/internal/wire"
	"purser/internal/words"
)

// pruneCommand deletes old revisions.
type pruneCommand struct {
	remote
	output
	consent

	Keep   int  `help:"How many of the newest revisions to keep; those with a tag are kept, too." placeholder:"N" required:""`
	DryRun bool `help:"Show what would be deleted, and delete nothing." formerly:"n"`
}

// Validate refuses to keep nothing.
func (c *pruneCommand) Validate() error {
	if c.Keep < 1 {
		return fmt.Errorf("--keep must be at least 1, not %d: the newest revision always stays", c.Keep)
	}
	return nil
}

// Run deletes old revisions once the user has confirmed it.
func (c *pruneCommand) Run(ctx context.Context, around *surroundings, server *client.Client) (err error) {
	change := client.Change{DryRun: c.DryRun, MaxDeleted: -1}
	if !c.DryRun && !c.Yes {
		if change.IfMatch, err = c.confirmPreview(ctx, around, server); err != nil {
			return err
		}
	}
	written, pruned, err := c.prune(ctx, server, change)
	if err != nil {
		return err
	}
	return c.print(around, prunedAnswer(written.Body, pruned))
}

// confirmPreview shows what the prune would delete, and asks for confirmation. The prune is then made with the
// condition that it returns: no newer revision has made others old.
func (c *pruneCommand) confirmPreview(ctx context.Context, around *surroundings, server *client.Client) (
	condition string, err error,
) {
	would, pruned, err := c.prune(ctx, server, client.Change{DryRun: true, MaxDeleted: -1})
	if err != nil || pruned.Revisions.Count == 0 {
		return would.ETag, err
	}
	number, list := words.Count(pruned.Revisions.Count, "revision"), prunedAnswer(would.Body, pruned).text
	return would.ETag, c.confirm(around, "delete "+number, list)
}

// prune deletes revisions or, in a dry run, returns those that it would delete.
func (c *pruneCommand) prune(ctx context.Context, server *client.Client, change client.Change) (
	written client.Written, pruned wire.Pruned, err error,
) {
	if written, err = server.Prune(ctx, c.Keep, change); err == nil {
		err = written.Decode(&pruned)
	}
	return written, pruned, err
}
