package main

import (
	"embed"
	"fmt"
	"strings"
	"text/template"

	"github.com/alecthomas/kong"
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
	root := treeOf(parser.Model.Node, nil)
	text, err := completion(c.Shell, root.all())
	if err != nil {
		return err
	}
	return write(around, text)
}

// shells holds the scripts. Each finds the command among the words before the cursor. Then it completes a value of the
// flag before the cursor, or arguments of the command.
//
//go:embed shells/*.tmpl
var shells embed.FS

// completion returns the script of a shell for these commands.
func completion(shell string, commands []*node) (string, error) {
	functions := template.FuncMap{"join": strings.Join, "quoted": quoted, "described": described, "fish": fishQuoted}
	script, err := template.New(shell+".tmpl").Funcs(functions).ParseFS(shells, "shells/"+shell+".tmpl")
	if err != nil {
		return "", fmt.Errorf("completion of %s: %w", shell, err)
	}
	var b strings.Builder
	if err := script.Execute(&b, commands); err != nil {
		return "", fmt.Errorf("completion of %s: %w", shell, err)
	}
	return b.String(), nil
}

// quoted quotes text for bash and zsh.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// described returns a word with its description, quoted, for zsh.
func described(word, description string) string {
	return quoted(strings.ReplaceAll(word, ":", `\:`) + ":" + description)
}

// fishQuoted quotes text for fish.
func fishQuoted(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'"
}
