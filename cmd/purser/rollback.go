package main

import (
	"context"
	"strconv"

	"purser/internal/client"
	"purser/internal/wire"
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
	if newest, text, ok := newestRevision(ctx, server, revision); ok && !c.DryRun {
		id := strconv.FormatInt(newest.ID, 10)
		return c.print(around, answer{text, []string{id}, "Nothing changed: revision " + id + " is the newest.\n"})
	}
	send := func(ctx context.Context, change client.Change) (client.Written, error) {
		return server.Rollback(ctx, revision, change)
	}
	change := client.Change{Message: c.Message, DryRun: c.DryRun, Rendered: c.Rendered}
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

// newestRevision returns the newest revision, also as JSON, if that is the one with a name. ok is false if it is not,
// or if the caller may not read revisions; the server then answers.
func newestRevision(ctx context.Context, server *client.Client, name string) (
	newest wire.Revision, text []byte, ok bool,
) {
	number, err := server.Number(ctx, name)
	if err == nil {
		text, err = server.Get(ctx, &newest, nil, "revisions", "latest")
	}
	return newest, text, err == nil && number == strconv.FormatInt(newest.ID, 10)
}
