package main

import (
	"context"
	"fmt"
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
	Replace  bool   `help:"Replace the documents in the folder: files of those that the revision does not have are deleted."`
}

// Run writes the documents of the revision to the folder.
func (c *pullCommand) Run(ctx context.Context, around *surroundings, server *client.Client) error {
	about, err := revisionOf(ctx, server, c.Revision)
	if err != nil {
		return err
	}
	id := strconv.FormatInt(about.ID, 10)
	text, err := server.Get(ctx, nil, url.Values{}, "revisions", id, "documents")
	if err != nil {
		return err
	}
	documents, err := folder.Parse(text)
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
	plan, err := folder.PlanPull(ctx, c.Dir, documents, folder.Allowed{Replace: c.Replace, Encrypted: !incomplete})
	if err != nil {
		return err
	}
	if err := c.write(around, plan); err != nil {
		return err
	}
	return c.print(around, pulledAnswer(about, plan.Written, c.Dir))
}

// write writes the files, once the user has confirmed which are deleted, or overwritten although they hold documents
// that the revision lacks.
func (c *pullCommand) write(around *surroundings, plan folder.Pull) error {
	if len(plan.Kept) > 0 {
		fmt.Fprintln(around.stderr, "purser: warning: kept, because they do not hold documents only, or cannot be read; "+
			"push refuses documents that are in two files: "+folder.Listed(plan.Kept))
	}
	list := ""
	if len(plan.Deleted) > 0 {
		list += "  would delete  " + folder.Listed(plan.Deleted) + "\n"
	}
	if len(plan.Lost) > 0 {
		list += "  would overwrite, with documents that the revision lacks  " + folder.Listed(plan.Lost) + "\n"
	}
	if gone := len(plan.Deleted) + len(plan.Lost); gone > 0 {
		if err := c.confirm(around, "delete "+words.Count(gone, "file"), list); err != nil {
			return err
		}
	}
	return plan.Write()
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
		text:  fmt.Sprintf("Revision %d: %s in %s\n", revision.ID, words.Count(len(files), "document"), dir),
	}
}
