package main

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"

	"purser/cmd/purser/internal/folder"
	"purser/cmd/purser/internal/views"
	"purser/internal/client"
)

// pullCommand writes the documents of a revision to files.
type pullCommand struct {
	remote
	output

	Dir      string `arg:"" help:"Folder to write to, which gets a folder for each bucket." complete:"file"`
	Revision string `arg:"" default:"latest" help:"Revision: 17, latest, tag:NAME, latest~1."`
	Replace  bool   `help:"Replace the documents in the folder: those that the revision does not have are deleted."`
}

// Help returns the end of the command's help.
func (*pullCommand) Help() string {
	return `Each bucket becomes a folder, with a file for each document. purser push --changeset takes the folder back
unchanged.

  purser pull site/                    # the newest revision
  purser pull site/ tag:good --replace # replacing the files that are there`
}

// Run writes the documents of the revision to the folder.
func (c *pullCommand) Run(ctx context.Context, around *surroundings) error {
	server, err := c.connect(ctx, around)
	if err != nil {
		return err
	}
	c.Dir = filepath.Clean(c.Dir)
	if target, err := filepath.EvalSymlinks(c.Dir); err == nil {
		c.Dir = target
	}
	old, err := folder.Existing(c.Dir, c.Replace)
	if err != nil {
		return err
	}
	revision, err := server.Resolve(ctx, c.Revision)
	if err != nil {
		return err
	}
	var about client.Revision
	if _, err := server.Get(ctx, &about, nil, "revisions", revision); err != nil {
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
		old = slices.DeleteFunc(old, folder.MayBeEncrypted)
	}
	names, err := folder.Write(c.Dir, documents, old)
	if err != nil {
		return err
	}
	return c.print(around, views.Pulled(about, names, c.Dir))
}

// mayNotSeeEncrypted reports whether the caller may not list encrypted documents.
func mayNotSeeEncrypted(ctx context.Context, server *client.Client) (bool, error) {
	var caller client.Caller
	_, err := server.Get(ctx, &caller, nil, "whoami")
	return !slices.Contains(caller.Rules, "deckhand:list_encrypted_documents"), err
}
