// Command mpl-check checks application packages of Murano without running them.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"purser/internal/murano"
	"purser/internal/words"
)

// version is set by the build (see the Makefile).
var version = "development"

// The exit codes.
const (
	ok       = 0 // no errors, with --strict no warnings either
	found    = 1 // there are
	unusable = 2 // no package, or an invalid command line
	failed   = 3 // inside
)

const description = `mpl-check checks application packages of Murano without running them: a folder, a zip archive, or
one YAML file of a package.

It exits with 0 if there are no errors (with --strict: and no warnings), 1 if there are, 2 if there is no package or the
command line is wrong, and 3 if it fails.`

// options is the command line.
type options struct {
	Package string `arg:"" optional:"" help:"The package, or with --discover a folder of packages."`

	Ignore    []string `short:"i" placeholder:"CODE,..." help:"Leave out these codes, with prefix or without."`
	Select    []string `short:"s" placeholder:"CODE,..." help:"Report only these codes, with prefix or without."`
	Scope     []string `short:"l" placeholder:"NAME,..." help:"Only manifest, class, ui, package, or those of plugins."`
	Strict    bool     `help:"Take warnings for errors in the exit code."`
	Discover  bool     `aliases:"discovery" help:"Check all packages in the folders below."`
	Nested    bool     `help:"Check the archives at the top of the package as packages, too."`
	Format    string   `enum:"text,json,yaml,sarif,junit,markdown" default:"text" help:"How to write (${enum})."`
	Output    string   `placeholder:"FILE" help:"Where to write, instead of the standard output."`
	ListCodes bool     `help:"List what is reported, and exit."`
	PluginDir string   `placeholder:"DIRECTORY" help:"Run the programs in this folder as validators, too."`

	Version kong.VersionFlag `help:"Print the version and exit."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// exit is the exit code that kong asks for. run recovers it, so that it can be tested.
type exit int

// run runs the program and returns its exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (code int) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case exit:
			code = int(p)
		default:
			_, _ = fmt.Fprintln(stderr, "mpl-check: a bug:", p)
			code = failed
		}
	}()
	var o options
	parser, err := kong.New(&o, kong.Name("mpl-check"), kong.Description(description), kong.Vars{"version": version},
		kong.Writers(stdout, stderr), kong.Exit(func(code int) { panic(exit(code)) }))
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "mpl-check:", err)
		return failed
	}
	if _, err = parser.Parse(args); err == nil {
		code, err = o.run(ctx, stdout)
	} else {
		err = usage("%w; mpl-check --help lists the options", err)
	}
	if err == nil {
		return code
	}
	_, _ = fmt.Fprintln(stderr, "mpl-check:", words.Printable(err.Error()))
	if _, isUsage := errors.AsType[*usageError](err); isUsage {
		return unusable
	}
	if _, isUnreadable := errors.AsType[*murano.Unreadable](err); isUnreadable {
		return unusable
	}
	return failed
}

// usageError is an error of the command line.
type usageError struct{ error }

func usage(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// run runs the checks that the options select, and returns the exit code.
func (o *options) run(ctx context.Context, stdout io.Writer) (int, error) {
	validators := murano.Builtin()
	if o.PluginDir != "" {
		plugins, err := loadPlugins(ctx, o.PluginDir)
		if err != nil {
			return 0, usage("%w", err)
		}
		validators = append(validators, plugins...)
	}
	codes := murano.CodesOf(validators)
	if err := o.check(validators, codes); err != nil {
		return 0, err
	}
	if o.ListCodes {
		return ok, o.write(stdout, func(w io.Writer) error { return murano.WriteCodes(w, o.Format, codes) })
	}
	results, err := murano.RunPath(ctx, o.Package, murano.Options{
		Validators: validators, Scope: o.Scope, Select: o.Select, Ignore: o.Ignore, Discover: o.Discover, Nested: o.Nested,
	})
	if err != nil {
		return 0, fmt.Errorf("cannot check %q: %w", o.Package, err)
	}
	if len(results) == 0 {
		return 0, usage("nothing was checked: there is no package below %s: each is a folder with a %s", o.Package,
			murano.ManifestName)
	}
	err = o.write(stdout, func(w io.Writer) error { return murano.Write(w, o.Format, results, codes) })
	for _, result := range results {
		if len(result.Report.Errors()) > 0 || o.Strict && len(result.Report.Issues) > 0 {
			return found, err
		}
	}
	return ok, err
}

// check checks the values of the options.
func (o *options) check(validators []murano.Validator, codes []murano.Code) error {
	switch {
	case o.Package == "" && !o.ListCodes:
		return usage("name a package; mpl-check --help lists the options")
	case o.ListCodes && (o.Format == "sarif" || o.Format == "junit"):
		return usage("codes are listed as text, markdown, json or yaml")
	case !o.ListCodes && o.Format == "markdown":
		return usage("only codes are listed as markdown (--list-codes)")
	}
	for flag, list := range map[string][]string{"--select": o.Select, "--ignore": o.Ignore, "--scope": o.Scope} {
		if list != nil && len(list) == 0 {
			return usage("%s must not be empty: give it a value, or leave it out", flag)
		}
	}
	for _, list := range [][]string{o.Select, o.Ignore} {
		for i, code := range list {
			list[i] = strings.TrimSpace(code)
			if !slices.ContainsFunc(codes, func(c murano.Code) bool { return c.Is(list[i]) }) {
				return usage("there is no code %q; --list-codes lists them", list[i])
			}
		}
	}
	var names []string
	for _, v := range validators {
		names = append(names, v.Name)
	}
	for i, name := range o.Scope {
		o.Scope[i] = strings.TrimSpace(name)
		if !slices.Contains(names, o.Scope[i]) {
			return usage("there is no validator %q; there are %s", o.Scope[i], strings.Join(names, ", "))
		}
	}
	return nil
}

// write writes to the file of --output, or to the standard output.
func (o *options) write(stdout io.Writer, write func(io.Writer) error) error {
	if o.Output == "" {
		return write(stdout)
	}
	file, err := os.Create(o.Output)
	if err != nil {
		return usage("%w", err)
	}
	if err := write(file); err != nil {
		_ = file.Close()
		return err
	}
	if err := file.Close(); err != nil {
		return fmt.Errorf("write the output: %w", err)
	}
	return nil
}
