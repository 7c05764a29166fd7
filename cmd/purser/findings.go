package main

import (
	"context"
	"net/url"
	"strconv"

	"purser/cmd/purser/internal/views"
	"purser/internal/wire"
)

// findingsCommand lists the findings of a revision.
type findingsCommand struct {
	remoteRevision
	output

	Validation string `help:"Only those of this validation."`
	Document   string `help:"Only those of documents of this name."`
	Level      string `default:"" enum:",error,warning,info" help:"Only those of this level: error, warning or info."`
	Limit      int    `default:"1000" help:"Maximum number."`
}

// Help returns the end of the command's help.
func (*findingsCommand) Help() string {
	return `Examples:

  purser findings               # of the newest revision, the worst first
  purser findings 17 --level error`
}

// Run prints the findings of the revision.
func (c *findingsCommand) Run(ctx context.Context, around *surroundings, server opened) error {
	query := url.Values{"limit": {strconv.Itoa(c.Limit)}}
	for name, value := range map[string]string{"validation": c.Validation, "document": c.Document, "level": c.Level} {
		if value != "" {
			query.Set(name, value)
		}
	}
	var found wire.Findings
	text, err := server.Get(ctx, &found, query, "revisions", server.revision, "findings")
	if err != nil {
		return err
	}
	return c.print(around, views.Findings(text, found))
}
