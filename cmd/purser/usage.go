package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/alecthomas/kong"

	"purser/cmd/purser/internal/usage"
)

// completionCommand prints a script that completes command lines.
type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"Shell: bash, zsh or fish."`
}

// Help returns the end of the command's help.
func (*completionCommand) Help() string {
	return `Examples:

  source <(purser completion bash)                                  # in ~/.bashrc
  purser completion zsh > "${fpath[1]}/_purser"
  purser completion fish > ~/.config/fish/completions/purser.fish`
}

// Run prints the script for the shell.
func (c *completionCommand) Run(around *surroundings, parser *kong.Kong) error {
	text, err := usage.Completion(c.Shell, parser.Model.Node)
	if err != nil {
		return err
	}
	return write(around, text)
}

// manCommand writes the manual pages.
type manCommand struct {
	Dir string `arg:"" help:"Folder to write the pages to: purser.1, purser-push.1 and so on." complete:"file"`
}

// Help returns the end of the command's help.
func (*manCommand) Help() string {
	return `Examples:

  purser man /usr/local/share/man/man1`
}

// Run writes the manual pages to the folder.
func (c *manCommand) Run(parser *kong.Kong) error {
	if err := os.MkdirAll(c.Dir, 0o755); err != nil { //nolint:gosec // everybody may read manuals
		return fmt.Errorf("write the manual: %w", err)
	}
	for name, text := range usage.Manual(parser.Model.Node, versionText()) {
		if err := os.WriteFile(filepath.Join(c.Dir, name), []byte(text), 0o644); err != nil { //nolint:gosec // the same
			return fmt.Errorf("write the manual: %w", err)
		}
	}
	return nil
}
