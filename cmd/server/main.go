// Command server serves Purser's HTTP API: a store of configuration documents that validates them and keeps their
// revisions.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"purser/internal/words"
)

// version is set by the build (see the Makefile).
var version = "development"

const description = `Purser stores the configuration documents of a site: every change becomes an immutable revision in
Postgres, validated on arrival, and one request answers whether a revision may be deployed.

Every flag can also be set in the environment, as PURSER_ and the flag's name: PURSER_LISTEN, PURSER_DATABASE_URL.`

// commands defines the command line.
type commands struct {
	Serve   serveCommand     `cmd:"" default:"withargs" help:"Serve the API (the default command)."`
	Secrets secretsCommand   `cmd:"" help:"Create and rotate encryption keys."`
	Keys    keysCommand      `cmd:"" help:"Create and rotate the keys that sign verdicts."`
	Migrate migrateCommand   `cmd:"" help:"Migrate the database to this version of Purser, then exit."`
	Site    siteCommand      `cmd:"" help:"Move a site to another database, or back it up."`
	Token   tokenCommand     `cmd:"" help:"Create tokens for --auth=tokens."`
	Version kong.VersionFlag `help:"Print the version and exit." env:"-"`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// exit is panicked with by kong's Exit function instead of ending the process. run recovers it, so that it can be
// tested.
type exit int

// run runs the program and returns its exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (code int) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case exit:
			code = int(p)
		default:
			panic(p) // a bug: the runtime prints the stack and exits with 2
		}
	}()
	parser, err := kong.New(&commands{},
		kong.Name("purser-server"), kong.Description(description), kong.DefaultEnvars("PURSER"),
		kong.Vars{"version": version, "statedir": defaultStateDir()},
		kong.Writers(stdout, stderr), kong.Exit(func(code int) { panic(exit(code)) }),
		kong.BindTo(ctx, (*context.Context)(nil)), kong.BindTo(stderr, (*io.Writer)(nil)),
		kong.Bind(output{stdout}), kong.Bind(input{os.Stdin}))
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "purser-server:", words.Printable(err.Error()))
		return 1
	}
	command, err := parser.Parse(args)
	if err != nil {
		text := strings.ReplaceAll(err.Error(), `,""`, "") // the value of a flag that is not given
		for _, name := range removedFlags {
			if strings.HasPrefix(text, "unknown flag --"+name) {
				text = "--" + name + " was removed: what it set follows from --memory; leave it out"
			}
		}
		where := fmt.Sprintf("'%s --help' for its flags", commandOf(err))
		if strings.HasPrefix(text, "unexpected argument ") { // meant as a command
			where = "'purser-server --help' for the commands"
		}
		_, _ = fmt.Fprintf(stderr, "purser-server: %s\nRun %s.\n", words.Printable(text), where)
		return 2
	}
	if err := command.Run(); err != nil && !errors.Is(err, context.Canceled) {
		_, _ = fmt.Fprintln(stderr, "purser-server:", words.Printable(err.Error()))
		return 1
	}
	return 0
}

// removedFlags are the flags of earlier versions for what now follows from --memory.
var removedFlags = []string{"cache-size", "large-memory"}

// commandOf returns the command, as typed, that an error of kong's Parse is about.
func commandOf(err error) string {
	command := "serve" // the default
	if failed, ok := errors.AsType[*kong.ParseError](err); ok {
		for _, step := range failed.Context.Path {
			if step.Command != nil {
				command = step.Command.Path()
			}
		}
	}
	return "purser-server " + command
}
