package main

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"

	"purser/cmd/purser/internal/folder"
	"purser/internal/client"
	"purser/internal/wire"
	"purser/internal/words"
)

// pullCommand writes the documents of a revision to files.
type pullCommand struct {
	remote
	output
	consent

	Dir      string `arg:"" help:"Folder to write to, which gets a folder for each bucket." complete:"file"`
	Revision string `arg:"" default:"latest" help:"Revision: 17, latest (default), tag:NAME, or latest~1, the one before latest." values:"revisions"`
	Replace  bool   `help:"Replace and delete what earlier pulls have written to the folder. Nothing else is touched."`
	Secrets  bool   `help:"Write encrypted documents as they were pushed, with their secrets, instead of with references."`
}

// Run writes the documents of the revision to the folder.
func (c *pullCommand) Run(ctx context.Context, around *surroundings, server *client.Client) error {
	about, err := revisionOf(ctx, server, c.Revision)
	if err != nil {
		return err
	}
	query := url.Values{"form": {"submitted"}}
	if c.Secrets {
		query.Set("cleartext-secrets", "true")
	}
	submitted, err := server.Do(ctx, client.Request{
		Path: []string{"revisions", strconv.FormatInt(about.ID, 10), "documents"}, Query: query, Accept: client.Text,
	})
	if err != nil {
		return err
	}
	incomplete, err := mayNotSeeEncrypted(ctx, server)
	if err != nil {
		return err
	}
	if incomplete {
		fmt.Fprintln(around.stderr, "purser: warning: you may not see encrypted documents; they were left out, and files of "+
			"such documents are kept")
	}
	c.Dir = filepath.Clean(c.Dir)
	plan, err := folder.PlanPull(ctx, c.Dir, submitted.Body, folder.Allowed{Replace: c.Replace, Encrypted: !incomplete})
	if err != nil {
		return err
	}
	for _, why := range slices.Sorted(maps.Keys(plan.Canonical)) {
		fmt.Fprintf(around.stderr, "purser: notice: %s in canonical form: %s\n",
			words.Count(plan.Canonical[why], "document"), words.Line(why))
	}
	if err := c.write(around, plan); err != nil {
		return err
	}
	return c.print(around, pulledAnswer(about, plan.Written, c.Dir))
}

// write writes the files, once the user has confirmed which are deleted.
func (c *pullCommand) write(around *surroundings, plan folder.Pull) error {
	if len(plan.Kept) > 0 {
		fmt.Fprintln(around.stderr, "purser: warning: kept, because they have changed since they were pulled; push refuses "+
			"documents that are in two files: "+folder.Listed(plan.Kept))
	}
	if gone := len(plan.Deleted); gone > 0 {
		list := "  would delete  " + folder.Listed(plan.Deleted) + "\n"
		if err := c.confirm(around, "delete "+words.Count(gone, "file"), list); err != nil {
			return err
		}
	}
	unrecorded, err := plan.Write()
	if unrecorded != nil {
		fmt.Fprintf(around.stderr, "purser: warning: --replace will not replace or delete these files, because it could not "+
			"be recorded that they were written: %v\n", unrecorded)
	}
	return err
}

// mayNotSeeEncrypted reports whether the caller may not list encrypted documents.
func mayNotSeeEncrypted(ctx context.Context, server *client.Client) (bool, error) {
	var caller wire.Caller
	_, err := server.Get(ctx, &caller, nil, "whoami")
	return !slices.Contains(caller.Rules, "deckhand:list_encrypted_documents"), err
}

// pulledAnswer returns the result of writing the documents of a revision to files in a folder.
func pulledAnswer(revision wire.Revision, files []string, dir string) answer {
	return answer{
		json:  marshal(map[string]any{"revision": revision.ID, "stamp": revision.Stamp, "files": files}),
		names: []string{strconv.FormatInt(revision.ID, 10)},
		text:  fmt.Sprintf("Revision %d: %s in %s\n", revision.ID, words.Count(len(files), "file"), dir),
	}
}
