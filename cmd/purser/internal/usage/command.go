package usage

import (
	"cmp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// command is a command as templates and manual pages show it.
type command struct {
	Path     []string // the words after purser; empty for purser itself
	Help     string
	Detail   string
	Usage    string
	Commands []command // subcommands
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

// commandOf returns a command and its subcommands. The path has the words after purser.
func commandOf(of *kong.Node, path []string) command {
	c := command{Path: path, Help: of.Help, Detail: of.Detail, Usage: of.Summary()}
	for _, child := range of.Children {
		if child.Type == kong.CommandNode && !child.Hidden {
			c.Commands = append(c.Commands, commandOf(child, append(slices.Clone(path), child.Name)))
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
		c.Flags = append(c.Flags, flag{
			Name: f.Name, Short: short, Help: f.Help, Placeholder: placeholderOf(f),
			Env: f.Envs, rank: rankOf(f),
			Values: valuesOf(f.Value), IsBool: f.IsBool(), IsPath: isPath(f.Value), Initial: f.Default,
		})
	}
	slices.SortStableFunc(c.Flags, func(a, b flag) int { return cmp.Compare(a.rank, b.rank) })
	for _, p := range of.Positional {
		c.Args = append(c.Args, argument{p.Summary(), p.Help, valuesOf(p), isPath(p)})
	}
	return c
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
func (c *command) Line() string {
	if len(c.Path) == 0 {
		return ""
	}
	return " " + strings.Join(c.Path, " ")
}

// Last returns the last word of a command.
func (c *command) Last() string { return c.Path[len(c.Path)-1] }

// TakesFiles reports whether a command takes files as arguments.
func (c *command) TakesFiles() bool {
	return slices.ContainsFunc(c.Args, func(a argument) bool { return a.IsPath })
}

// Choices returns the known possible values of a command's arguments.
func (c *command) Choices() (values []string) {
	for _, a := range c.Args {
		values = append(values, a.Values...)
	}
	return values
}

// Words returns the subcommands and flags of a command.
func (c *command) Words() (words []string) {
	for i := range c.Commands {
		words = append(words, c.Commands[i].Last())
	}
	for _, f := range c.Flags {
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
func (c *command) all() []*command {
	list := []*command{c}
	for i := range c.Commands {
		list = append(list, c.Commands[i].all()...)
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
