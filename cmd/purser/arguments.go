package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// parse parses a command line, and prints a notice about each short form in it that will be removed.
func parse(parser *kong.Kong, args []string, stderr io.Writer) (*kong.Context, error) {
	ctx, err := parser.Parse(afterDash(withHelp(args, parser.Model.Node)))
	if err != nil {
		return nil, mistaken(err, parser.Model)
	}
	for _, given := range ctx.Path {
		if given.Flag != nil && isFormer(given.Flag) {
			_, _ = fmt.Fprintf(stderr, "purser: -%c no longer stands for --%[2]s after this release: write %[3]s\n",
				given.Flag.Short, given.Flag.Name, strings.Join(formsOf(presentOf(given.Flag, ctx.Flags())), " or "))
		}
	}
	return ctx, nil
}

// withHelp returns arguments that ask for help, if the given ones name no command or one that only has
// subcommands, none of which is the default.
func withHelp(args []string, node *kong.Node) []string {
	for _, arg := range args {
		i := slices.IndexFunc(node.Children, func(child *kong.Node) bool { return child.Name == arg })
		if i < 0 {
			return args
		}
		node = node.Children[i]
	}
	if len(node.Children) == 0 || node.DefaultCmd != nil {
		return args
	}
	return append(slices.Clone(args), "--help")
}

// afterDash replaces the documents after -- in the arguments of purser diff by values of its flag --document: kong
// would take the first of them for the revision that need not be given.
func afterDash(args []string) []string {
	i := slices.Index(args, "--")
	if i < 0 || args[0] != "diff" {
		return args
	}
	given := slices.Clone(args[:i])
	for _, document := range args[i+1:] {
		given = append(given, "--document="+document)
	}
	return given
}

// addFormer adds a hidden flag for each that had another short form: the tag formerly names it. Both have one value.
func addFormer(node *kong.Node) {
	for _, f := range node.Flags {
		if short := f.Tag.Get("formerly"); short != "" {
			former := *f
			former.Short, former.Hidden, former.Xor = rune(short[0]), true, nil
			node.Flags = append(node.Flags, &former)
		}
	}
}

func isFormer(f *kong.Flag) bool { return f.Hidden && f.Tag.Has("formerly") }

// presentOf returns the flag that addFormer has made a former form of.
func presentOf(former *kong.Flag, flags []*kong.Flag) *kong.Flag {
	i := slices.IndexFunc(flags, func(f *kong.Flag) bool { return f.Value == former.Value && f != former })
	return flags[i]
}

// mistaken describes a mistake in a command line, and says where help is.
func mistaken(err error, model *kong.Application) error {
	command := commandOf(err)
	return errors.New(mistakeOf(err, command, model) + "\nRun '" + command + " --help' for its flags.")
}

// meant has the commands that people mean by words of other programs, some with a flag.
var meant = map[string]string{
	"apply": "push", "create": "push", "put": "push", "upload": "push", "edit": "push", "replace": "push",
	"plan": "push --dry-run",
	"get":  "show", "cat": "show", "view": "show", "describe": "explain", "template": "render", "build": "render",
	"validate": "check", "lint": "check", "test": "check",
	"list": "log", "ls": "log", "history": "log", "revisions": "log",
	"undo": "rollback", "revert": "rollback", "wait": "status --wait", "watch": "events --follow",
	"clone": "pull", "download": "pull", "export": "pull", "fetch": "pull",
	"auth": "login", "context": "config", "contexts": "config", "servers": "config", "tags": "tag", "label": "tag",
	"validations": "results list", "documents": "show", "dag": "graph",
}

// helpCommand prints the help of a command, or the list of commands.
type helpCommand struct {
	Command []string `arg:"" help:"Command, such as push or results post; without one, the commands are listed." optional:"" values:"commands"`
}

// Run prints the help.
func (c *helpCommand) Run(parser *kong.Kong) error {
	_, err := parser.Parse(append(slices.Clone(c.Command), "--help")) // it ends in an exit if there is such a command
	return mistaken(err, parser.Model)
}
