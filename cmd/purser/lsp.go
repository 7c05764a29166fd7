package main

import (
	"context"
	"time"

	"purser/cmd/purser/internal/lsp"
)

// lspCommand serves an editor.
type lspCommand struct {
	Paths []string `arg:"" optional:"" name:"path" help:"Files and folders to check, relative to the folder that the editor has opened (default: all of it)."`
}

// Run serves the editor on the standard streams.
func (c *lspCommand) Run(ctx context.Context, around *surroundings) error {
	boundMemory()
	return lsp.Serve(ctx, around.stdin, below(around.stdout), lsp.Options{
		Paths: c.Paths, Folder: ".", Version: versionText(), Log: around.stderr, After: time.After,
	})
}
