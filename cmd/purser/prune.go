package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"purser/internal/client"
	"purser/internal/words"
)

// pruneCommand deletes old revisions.
type pruneCommand struct {
	remote
	output

	Keep   int  `help:"How many of the newest revisions to keep; those with a tag are kept, too." required:""`
	DryRun bool `help:"Show what would be deleted, and delete nothing." short:"n"`
	Yes    bool `help:"Do not ask." short:"y"`
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
		if err := c.confirm(ctx, around, server); err != nil {
			return err
		}
	}
	pruned, text, err := prune(ctx, server, c.Keep, c.DryRun)
	if err != nil {
		return err
	}
	return c.print(around, shown{text, rangesOf(pruned), func(w io.Writer) { pruneText(w, pruned) }})
}

// confirm previews the prune, and asks for confirmation.
func (c *pruneCommand) confirm(ctx context.Context, around *surroundings, server *client.Client) error {
	pruned, _, err := prune(ctx, server, c.Keep, true)
	if err != nil || pruned.Revisions.Count == 0 {
		return err
	}
	revisions := words.Count(pruned.Revisions.Count, "revision")
	if !around.asks {
		return no(fmt.Sprintf("this would delete %s; add --yes to delete them", revisions))
	}
	pruneText(around.stderr, pruned)
	return ask(around, "Delete "+revisions+"?")
}

func pruneText(w io.Writer, pruned client.Pruned) {
	did := "Deleted"
	if pruned.DryRun {
		did = "Would delete"
	}
	remain := "remain"
	if pruned.Kept == 1 {
		remain = "remains"
	}
	fmt.Fprintf(w, "%s %s, %s, %d bytes; %s %s\n", did, words.Count(pruned.Revisions.Count, "revision"),
		words.Count(pruned.Documents, "document version"), pruned.Bytes, words.Count(pruned.Kept, "revision"), remain)
	for _, extent := range rangesOf(pruned) {
		fmt.Fprintf(w, "  %s\n", extent)
	}
}

// rangesOf returns the revisions that a prune deletes, as numbers and ranges: 3 or 5-17.
func rangesOf(pruned client.Pruned) []string {
	var ranges []string
	for _, r := range pruned.Revisions.Ranges {
		text := strconv.FormatInt(r.First, 10)
		if r.Last > r.First {
			text += "-" + strconv.FormatInt(r.Last, 10)
		}
		ranges = append(ranges, text)
	}
	return ranges
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
