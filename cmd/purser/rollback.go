package main

import (
	"context"

	"purser/internal/client"
)

// rollbackCommand creates a new revision with the documents of an earlier one.
type rollbackCommand struct {
	remote
	output
	deletionLimit

	Revision string `arg:"" help:"Revision whose documents to take: 17, tag:NAME, or latest~1, the one before latest; 0 for no documents." values:"revisions"`
	Message  string `help:"Why the change is made; the revision keeps it." placeholder:"TEXT" short:"m"`

	dryRun
}

// Validate refuses a detailed exit code of anything but a dry run.
func (c *rollbackCommand) Validate() error { return c.validDetail() }

// Run makes a new revision with the documents of an earlier one. On a terminal it asks first.
func (c *rollbackCommand) Run(ctx context.Context, around *surroundings, server *client.Client) error {
	revision, err := server.Resolve(ctx, c.Revision)
	if err != nil {
		return err
	}
	send := func(ctx context.Context, change client.Change) (client.Written, error) {
		return server.Rollback(ctx, revision, change)
	}
	change := client.Change{Message: c.Message, DryRun: c.DryRun}
	if around.asks && c.asks() && !c.DryRun { // also if nothing is deleted
		change, c.Yes, err = confirmed(ctx, around, change, send, rollbackQuestion(revision, around.colors))
		if err != nil {
			return err
		}
	}
	written, err := c.apply(ctx, around, change, send, true)
	switch {
	case err != nil:
		return err
	case c.DryRun:
		preview, err := written.Preview()
		if err != nil {
			return err
		}
		return c.printPreview(around, c.output, preview, rollbackPreview(revision, written, preview, around.colors))
	}
	return c.print(around, rolledBackAnswer(written, around.colors))
}
