package usage

import (
	"embed"
	"fmt"
	"strings"
	"text/template"

	"github.com/alecthomas/kong"
)

// shells holds the scripts. Each finds the command among the words before the cursor. Then it completes a value of the
// flag before the cursor, or arguments of the command.
//
//go:embed shells/*.tmpl
var shells embed.FS

// Completion returns a script that completes command lines in a shell: bash, zsh or fish.
func Completion(shell string, program *kong.Node) (string, error) {
	root := commandOf(program, nil)
	functions := template.FuncMap{"join": strings.Join, "quoted": quoted, "described": described, "fish": fishQuoted}
	script, err := template.New(shell+".tmpl").Funcs(functions).ParseFS(shells, "shells/"+shell+".tmpl")
	if err != nil {
		return "", fmt.Errorf("completion of %s: %w", shell, err)
	}
	var b strings.Builder
	if err := script.Execute(&b, root.all()); err != nil {
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
