package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// node is a command for completions and manual pages. It is read from the definitions that also parse command lines.
type node struct {
	Path     []string // the words after purser; empty for purser itself
	Help     string
	Detail   string
	Usage    string
	Commands []node // subcommands
	Flags    []flag
	Args     []argument
}

// flag is a flag of a command.
type flag struct {
	Name, Short, Help, Placeholder string

	Env     []string
	Values  []string // the allowed values; nil for any
	IsBool  bool
	IsPath  bool
	Initial string // the default; "" if there is none
	rank    int    // flags of lower rank come first
}

// argument is an argument of a command.
type argument struct {
	Name, Help string
	Values     []string
	IsPath     bool
}

// treeOf returns a command and its subcommands.
func treeOf(of *kong.Node, path []string) node {
	n := node{Path: path, Help: of.Help, Detail: of.Detail, Usage: of.Summary()}
	for _, command := range of.Children {
		if command.Type == kong.CommandNode && !command.Hidden {
			n.Commands = append(n.Commands, treeOf(command, append(slices.Clone(path), command.Name)))
		}
	}
	for _, f := range of.Flags {
		if f.Hidden {
			continue
		}
		short := ""
		if f.Short != 0 {
			short = string(f.Short)
		}
		n.Flags = append(n.Flags, flag{
			Name: f.Name, Short: short, Help: f.Help, Placeholder: placeholderOf(f),
			Env: f.Envs, rank: rankOf(f),
			Values: valuesOf(f.Value), IsBool: f.IsBool(), IsPath: isPath(f.Value), Initial: f.Default,
		})
	}
	slices.SortStableFunc(n.Flags, func(a, b flag) int { return cmp.Compare(a.rank, b.rank) })
	for _, p := range of.Positional {
		n.Args = append(n.Args, argument{p.Summary(), p.Help, valuesOf(p), isPath(p)})
	}
	return n
}

// rankOf returns a rank that puts a command's own flags before those that all commands share.
func rankOf(f *kong.Flag) int {
	if f.Group != nil && f.Group.Key == "connection" {
		return 1
	}
	return 0
}

// valuesOf returns the allowed values of a flag or argument, nil for any.
func valuesOf(v *kong.Value) []string {
	if v.Enum == "" {
		return nil
	}
	return slices.DeleteFunc(v.EnumSlice(), func(value string) bool { return value == "" })
}

// isPath reports whether a flag or argument is the path of a file or folder. Its type says so, or else the tag
// complete:"file", where "-" means standard input or the path is shown as given.
func isPath(v *kong.Value) bool {
	switch v.Tag.Type {
	case "path", "existingfile", "existingdir":
		return true
	}
	return v.Tag.Has("complete")
}

// Line returns the words of a command after purser, each preceded by a space.
func (n *node) Line() string {
	if len(n.Path) == 0 {
		return ""
	}
	return " " + strings.Join(n.Path, " ")
}

// Last returns the last word of a command.
func (n *node) Last() string { return n.Path[len(n.Path)-1] }

// TakesFiles reports whether a command takes files as arguments.
func (n *node) TakesFiles() bool {
	return slices.ContainsFunc(n.Args, func(a argument) bool { return a.IsPath })
}

// Choices returns the known possible values of a command's arguments.
func (n *node) Choices() (values []string) {
	for _, a := range n.Args {
		values = append(values, a.Values...)
	}
	return values
}

// Words returns the subcommands and flags of a command.
func (n *node) Words() (words []string) {
	for i := range n.Commands {
		words = append(words, n.Commands[i].Last())
	}
	for _, f := range n.Flags {
		words = append(words, f.Forms()...)
	}
	return words
}

// Forms returns all forms in which a flag can be typed.
func (f flag) Forms() []string {
	if f.Short == "" {
		return []string{"--" + f.Name}
	}
	return []string{"--" + f.Name, "-" + f.Short}
}

// all returns a command and all commands below it.
func (n *node) all() []*node {
	list := []*node{n}
	for i := range n.Commands {
		list = append(list, n.Commands[i].all()...)
	}
	return list
}

// placeholderOf returns the placeholder for the value of a flag in --help.
func placeholderOf(f *kong.Flag) string {
	text := cmp.Or(f.PlaceHolder, strings.ToUpper(f.Name))
	if f.IsSlice() && f.Tag.Sep != -1 {
		text += ",..."
	}
	return text
}
