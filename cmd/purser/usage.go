package main

import (
	"cmp"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
	"unicode/utf8"

	"github.com/alecthomas/kong"
)

// completionCommand prints a script that completes command lines.
type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"Shell: bash, zsh or fish."`
}

// Run prints the script for the shell.
func (c *completionCommand) Run(around *surroundings, parser *kong.Kong) error {
	text, err := usageText(c.Shell, commandsFrom(parser.Model.Node))
	if err != nil {
		return err
	}
	return write(around, text)
}

// manCommand writes the manual pages.
type manCommand struct {
	Dir string `arg:"" help:"Folder to write the pages to: purser.1, purser-push.1 and so on." complete:"file"`
}

// Run writes the manual pages to the folder.
func (c *manCommand) Run(parser *kong.Kong) error {
	if err := os.MkdirAll(c.Dir, 0o755); err != nil { //nolint:gosec // everybody may read manuals
		return fmt.Errorf("write the manual: %w", err)
	}
	for _, node := range commandsFrom(parser.Model.Node) {
		page := manualOf(node)
		text, err := usageText("man", page)
		if err != nil {
			return err
		}
		name := filepath.Join(c.Dir, page.Title+".1")
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil { //nolint:gosec // the same
			return fmt.Errorf("write the manual: %w", err)
		}
	}
	return nil
}

// usageFiles has a template of a completion script for each shell, and one of a manual page, in the format of man(7).
// A script finds the command among the words before the cursor. Then it completes a value of the flag before the
// cursor, or arguments of the command. What changes, such as the names of buckets, it asks purser complete-values for.
//
//go:embed usage/*.tmpl
var usageFiles embed.FS

// details has the end of each command's help, below a line with the command's name.
//
//go:embed usage/details.txt
var details string

// detailOf returns the end of a command's help, "" if it has none.
func detailOf(command *kong.Node) string {
	_, rest, _ := strings.Cut("\n"+details, "\n=="+lineOf(command)+"\n")
	text, _, _ := strings.Cut(rest, "\n\n== ")
	return strings.TrimSuffix(text, "\n")
}

// usageText executes a template. Its data are the definitions that also parse command lines, so that a new flag is
// completed and documented without further work. All texts are quoted for the shell or for man(7).
func usageText(name string, data any) (string, error) {
	functions := template.FuncMap{
		"children": shownCommands, "flags": shownFlags, "line": lineOf, "forms": formsOf, "values": valuesOf,
		"choices": choicesOf, "default": defaultOf, "words": wordsOf, "takesFiles": takesFiles, "takesValues": takesValues,
		"quoted": quoted, "described": described, "fish": fishQuoted, "roff": roff,
		"join": strings.Join, "split": strings.Split, "trim": strings.TrimSpace, "upper": strings.ToUpper,
	}
	file, err := template.New(name+".tmpl").Funcs(functions).ParseFS(usageFiles, "usage/"+name+".tmpl")
	if err != nil {
		return "", fmt.Errorf("read the template %s: %w", name, err)
	}
	var b strings.Builder
	if err := file.Execute(&b, data); err != nil {
		return "", fmt.Errorf("fill in the template %s: %w", name, err)
	}
	return b.String(), nil
}

// manual is the content of a manual page. Paragraphs that begin with a blank are examples.
type manual struct {
	*kong.Node

	Title, Version, Name, Synopsis, Help string

	Paragraphs []string
}

func manualOf(node *kong.Node) manual {
	help, detail := node.Help, node.Detail
	if node.Parent == nil {
		help, detail = "Keep the configuration documents of sites as revisions.", node.Help
	}
	return manual{
		Node: node, Title: strings.ReplaceAll(node.FullPath(), " ", "-"), Version: versionText(),
		Name:     strings.TrimSuffix(strings.ToLower(help[:1])+help[1:], "."),
		Synopsis: "purser " + strings.TrimSpace(node.Summary()), Help: help,
		Paragraphs: slices.DeleteFunc(strings.Split(detail, "\n\n"), isBlank),
	}
}

func isBlank(text string) bool { return strings.TrimSpace(text) == "" }

// commandsFrom returns a command and those below it.
func commandsFrom(node *kong.Node) []*kong.Node {
	all := []*kong.Node{node}
	for _, child := range shownCommands(node) {
		all = append(all, commandsFrom(child)...)
	}
	return all
}

// shownCommands returns the subcommands of a command that are not hidden.
func shownCommands(node *kong.Node) []*kong.Node {
	return slices.DeleteFunc(slices.Clone(node.Children), func(child *kong.Node) bool { return child.Hidden })
}

// shownFlags returns the flags of a command that are not hidden, those that all commands share last.
func shownFlags(node *kong.Node) []*kong.Flag {
	flags := slices.DeleteFunc(slices.Clone(node.Flags), func(f *kong.Flag) bool { return f.Hidden })
	slices.SortStableFunc(flags, func(a, b *kong.Flag) int { return cmp.Compare(groupOf(a), groupOf(b)) })
	return flags
}

func groupOf(f *kong.Flag) string {
	if f.Group == nil {
		return ""
	}
	return f.Group.Key
}

// lineOf returns the words of a command after purser, each preceded by a space.
func lineOf(node *kong.Node) string { return strings.TrimSuffix(" "+node.Path(), " ") }

// formsOf returns all forms in which a flag can be typed.
func formsOf(f *kong.Flag) []string {
	if f.Short == 0 {
		return []string{"--" + f.Name}
	}
	return []string{"--" + f.Name, "-" + string(f.Short)}
}

// defaultOf returns the default of a flag, "" if it has none: a negative number stands for no number, and some helps
// say what is done without the flag.
func defaultOf(f *kong.Flag) string {
	if f.IsBool() || strings.HasPrefix(f.Default, "-") || strings.Contains(f.Help, "default:") {
		return ""
	}
	return f.Default
}

// valuesOf returns the allowed values of a flag or argument, none for any. The tag choices names those that are
// checked later, because a file may give the value.
func valuesOf(v *kong.Value) []string {
	if v.Tag.Has("choices") {
		return strings.Split(v.Tag.Get("choices"), ",")
	}
	return slices.DeleteFunc(v.EnumSlice(), func(value string) bool { return value == "" })
}

// choicesOf returns the allowed values of a command's arguments.
func choicesOf(node *kong.Node) (values []string) {
	for _, argument := range node.Positional {
		values = append(values, valuesOf(argument)...)
	}
	return values
}

// wordsOf returns the subcommands and flags of a command.
func wordsOf(node *kong.Node) (words []string) {
	for _, child := range shownCommands(node) {
		words = append(words, child.Name)
	}
	for _, f := range shownFlags(node) {
		words = append(words, formsOf(f)...)
	}
	return words
}

// takesFiles reports whether a command takes files as arguments: the tag complete says so, as it does for flags.
func takesFiles(node *kong.Node) bool {
	return slices.ContainsFunc(node.Positional, func(v *kong.Value) bool { return v.Tag.Has("complete") })
}

// takesValues reports whether an argument of a command has values that complete-values knows: the tag values says so,
// as it does for flags.
func takesValues(node *kong.Node) bool {
	return slices.ContainsFunc(node.Positional, func(v *kong.Value) bool { return v.Tag.Has("values") })
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

// roff escapes text for man(7).
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "~", `\(ti`, "^", `\(ha`, "'", `\(aq`, "`", `\(ga`).Replace(text)
	if strings.HasPrefix(text, ".") {
		text = `\&` + text
	}
	var b strings.Builder
	for _, r := range strings.ReplaceAll(text, "\n.", "\n\\&.") {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\[u%04X]`, r)
		}
	}
	return b.String()
}
