package main

import (
	"context"
	"fmt"

	"purser/cmd/purser/internal/views"
	"purser/internal/client"
)

// rollbackCommand creates a new revision with the documents of an earlier one.
type rollbackCommand struct {
	remote
	output

	Revision string `arg:"" help:"Revision: 17, tag:NAME, latest~1; 0 for no documents."`
	Message  string `help:"Why; the new revision keeps it." short:"m"`
	DryRun   bool   `help:"Preview the change, and change nothing." short:"n"`
	Yes      bool   `help:"Do not ask." short:"y"`
}

// Help returns the end of the command's help.
func (*rollbackCommand) Help() string {
	return `Examples:

  purser rollback tag:good -m "rack 99 does not exist"
  purser rollback latest~1 --dry-run`
}

// Run makes a new revision with the documents of an earlier one. On a terminal it asks first.
func (c *rollbackCommand) Run(ctx context.Context, around *surroundings) error {
	server, err := c.connect(ctx, around)
	if err != nil {
		return err
	}
	revision, err := server.Resolve(ctx, c.Revision)
	if err != nil {
		return err
	}
	change := client.Change{Message: c.Message, MaxDeleted: -1, DryRun: c.DryRun}
	if c.DryRun {
		return c.foretell(ctx, around, server, revision, change)
	}
	if around.asks && !c.Yes {
		if change.IfMatch, err = c.confirm(ctx, around, server, revision); err != nil {
			return err
		}
	}
	written, err := server.Rollback(ctx, revision, change)
	if err != nil {
		return err
	}
	return c.print(around, views.RolledBack(written))
}

// foretell prints a preview of the rollback. It returns an error that makes the exit code 1 if the verdict would be a
// failure that no posted result can change.
func (c *rollbackCommand) foretell(ctx context.Context, around *surroundings, server *client.Client, revision string,
	change client.Change,
) error {
	would, err := server.Rollback(ctx, revision, change)
	if err != nil {
		return err
	}
	preview, err := would.Preview()
	if err != nil {
		return err
	}
	err = c.print(around, views.RollbackPreview(revision, would, preview))
	if err == nil && preview.Fails() {
		return no("")
	}
	return err
}

// confirm previews the rollback and asks for confirmation. It returns the ETag of the present revision, so that the
// rollback makes exactly the previewed change.
func (c *rollbackCommand) confirm(ctx context.Context, around *surroundings, server *client.Client, revision string) (
	string, error,
) {
	would, err := server.Rollback(ctx, revision, client.Change{MaxDeleted: -1, DryRun: true})
	if err != nil {
		return "", err
	}
	preview, err := would.Preview()
	if err != nil {
		return "", err
	}
	fmt.Fprint(around.stderr, views.RollbackPreview(revision, would, preview).Text)
	if !preview.Changed {
		return would.ETag, nil
	}
	return would.ETag, ask(around, "Roll back to revision "+revision+"?")
}
