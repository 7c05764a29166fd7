// Command purser checks documents in local files, pushes them to a server and reads them from it. It needs no database.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"reflect"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"purser/cmd/purser/internal/folder"
	"purser/internal/client"
)

// version is set by the build (see the Makefile).
var version = "development"

const description = `Purser keeps the configuration documents of a site, validates them, and answers whether they may
be deployed. This command checks documents, pushes them to a server and reads them from it.

Documents are in buckets, each of which is pushed as a whole. Each change makes a revision, which has the documents of
all buckets. The first steps: purser login URL, purser push BUCKET FOLDER, purser status.

Where does a value come from? "purser explain SCHEMA/NAME" says for each value of a rendered document which document
wrote it, and what changed it since:

  url: ipmi://admin:not-a-real-password@10.0.0.11  [1], merged at ., PASSWORD replaced by [3] .

Exit codes: 0 success; 1 there are findings, the status is not the expected one, or a change is refused; 2 the command
failed.`

// commands defines the command line.
type commands struct {
	Check      checkCommand      `cmd:"" group:"files" help:"Check files as a server would."`
	Lsp        lspCommand        `cmd:"" group:"files" help:"Serve an editor: findings, descriptions and completion while you type (LSP on standard input and output)."`
	Push       pushCommand       `cmd:"" group:"change" help:"Push documents to a bucket, or folders of documents to several."`
	Rollback   rollbackCommand   `cmd:"" group:"change" help:"Make a new revision with the documents of an earlier one."`
	Tag        tagCommand        `cmd:"" group:"change" help:"Set, delete or list the tags of revisions."`
	Work       workCommand       `cmd:"" group:"change" help:"Be a validator: claim work, run a command for it, and post its exit code."`
	Sites      sitesCommand      `cmd:"" group:"change" help:"List, make, change, archive and delete the sites of a server."`
	Fleet      fleetCommand      `cmd:"" group:"change" help:"Copy documents of one site to many, and see first what each says."`
	Results    resultsCommand    `cmd:"" group:"change" help:"Post and list results of validations."`
	Approve    approveCommand    `cmd:"" group:"change" help:"Approve a revision: post a success of a validation in your name."`
	Reject     rejectCommand     `cmd:"" group:"change" help:"Reject a revision: post a failure of a validation in your name."`
	Waive      waiveCommand      `cmd:"" group:"change" help:"Let a revision pass although a validation is not a success, until a time."`
	Waivers    waiversCommand    `cmd:"" group:"change" help:"List and end waivers."`
	Prune      pruneCommand      `cmd:"" group:"change" help:"Delete old revisions."`
	Pull       pullCommand       `cmd:"" group:"read" help:"Write the documents of a revision to files."`
	Status     statusCommand     `cmd:"" group:"read" help:"Show whether a revision may be deployed, or wait until it may."`
	Claims     claimsCommand     `cmd:"" group:"read" help:"List the results that revisions lack, and who works on them."`
	Findings   findingsCommand   `cmd:"" group:"read" help:"List the problems of a revision."`
	Log        logCommand        `cmd:"" group:"read" help:"List revisions, or the changes of a document."`
	Show       showCommand       `cmd:"" group:"read" help:"Print documents as submitted."`
	Render     renderCommand     `cmd:"" group:"read" help:"Print rendered documents: after layering and substitution."`
	Verify     verifyCommand     `cmd:"" group:"read" help:"Verify an attestation, without a server, or that the history of a site is what was stored."`
	Explain    explainCommand    `cmd:"" group:"read" help:"Show where each value of a rendered document comes from."`
	Diff       diffCommand       `cmd:"" group:"read" help:"Print how the documents of two revisions differ."`
	Graph      graphCommand      `cmd:"" group:"read" help:"Print how documents depend on each other."`
	Buckets    bucketsCommand    `cmd:"" group:"read" help:"List the buckets."`
	Puppet     puppetCommand     `cmd:"" group:"read" help:"Override compiled Puppet catalogs."`
	Events     eventsCommand     `cmd:"" group:"read" help:"Print past events, and follow new ones."`
	Help       helpCommand       `cmd:"" group:"more" help:"Print the help of a command, or list the commands."`
	Login      loginCommand      `cmd:"" group:"more" help:"Log in to a server: store it, with a token if it needs one."`
	Logout     logoutCommand     `cmd:"" group:"more" help:"Delete the token that login has stored."`
	Config     configCommand     `cmd:"" group:"more" help:"List, choose, add and remove servers in the configuration file."`
	Whoami     whoamiCommand     `cmd:"" group:"more" help:"Print your identity and rights on the server."`
	Token      tokenCommand      `cmd:"" group:"more" help:"Print the token, for other programs."`
	Completion completionCommand `cmd:"" group:"more" help:"Print a script that completes command lines."`
	Man        manCommand        `cmd:"" group:"more" help:"Write the manual pages."`
	Version    versionCommand    `cmd:"" group:"more"   help:"Print the version."`

	ShowVersion kong.VersionFlag `help:"Print the version and exit." name:"version"`
}

// Validate refuses empty arguments and flags, since the variables that they come from may be unset: the command would
// do something else than what was meant. Messages, data of tags, roles and clusters may be empty.
func (commands) Validate(ctx *kong.Context) error {
	for _, given := range ctx.Path {
		switch {
		case given.Positional != nil && isEmptyText(given.Positional.Target):
			return fmt.Errorf("%s must not be empty", given.Positional.Summary())
		case given.Flag != nil && !given.Resolved && isEmptyText(given.Flag.Target) &&
			!slices.Contains([]string{"message", "data", "role", "cluster"}, given.Flag.Name):
			return fmt.Errorf("--%s must not be empty: give it a value, or leave it out", given.Flag.Name)
		}
	}
	return nil
}

// isEmptyText reports whether a value is an empty text, an empty list, or a list that holds an empty text.
func isEmptyText(value reflect.Value) bool {
	texts, isList := reflect.TypeAssert[[]string](value)
	return isList && (len(texts) == 0 || slices.Contains(texts, "")) || value.Kind() == reflect.String && value.IsZero()
}

// groups returns the headings of the list of commands, in order.
func groups() []kong.Group {
	return []kong.Group{
		{Key: "files", Title: "Check documents:"},
		{Key: "change", Title: "Change a site:"},
		{Key: "read", Title: "Read a site:"},
		{Key: "more", Title: "More:"},
		{Key: "connection", Title: "Connection:"},
	}
}

// surroundings are the standard streams of a command and their properties.
type surroundings struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	asks           bool // questions can be asked on a terminal
	width          int  // of the terminal on stdout, in characters; 0 if it is not a terminal
	colors         bool // texts on stdout are coloured
	live           bool // stderr is a terminal, which can show progress
}

// no is the error of a command that succeeded, and whose answer is no. The exit code is 1, and the text, if any, is
// printed. The exit code of other errors is 2.
type no string

func (n no) Error() string { return string(n) }

const (
	exitNo     = 1 // there are findings, the status is not the expected one, or a change was refused
	exitFailed = 2 // the command failed
	exitChange = 2 // with --detailed-exit-code, there would be a change; if the command failed, it is then exitNo
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ended := context.AfterFunc(ctx, func() {
		again := make(chan os.Signal, 1)
		signal.Notify(again, os.Interrupt, syscall.SIGTERM)
		interrupt(os.Args, again, os.Exit)
	})
	code := run(ctx, os.Args[1:], surroundings{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		asks: isTerminal(os.Stdin) && isTerminal(os.Stderr), width: widthOf(os.Stdout),
		colors: hasColors(os.Stdout), live: isTerminal(os.Stderr),
	})
	ended() // before stop, which also ends ctx
	stop()
	os.Exit(code)
}

// interrupt ends the process a second after a signal: a command that reads a pipe or a terminal does not notice that. A
// push to a fleet ends first, unless there is another signal, and a renewal of a token, which the timeouts of its
// requests bound: the old one may be spent.
func interrupt(args []string, again <-chan os.Signal, end func(code int)) {
	ended := make(chan struct{})
	go func() {
		time.Sleep(time.Second)
		fleetPushes.Lock()
		defer fleetPushes.Unlock()
		close(ended)
	}()
	select {
	case <-again:
	case <-ended:
	}
	renewals.Lock()
	defer renewals.Unlock()
	if isDetailed(args) {
		end(exitNo)
		return
	}
	end(exitFailed)
}

// exit is panicked with by kong's Exit function instead of ending the process. run recovers it, so that it can be
// tested.
type exit int

// run runs the program and returns its exit code.
func run(ctx context.Context, args []string, around surroundings) (code int) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case exit:
			code = int(p)
		default:
			panic(p) // a bug: the runtime prints the stack and exits with 2
		}
	}()
	around = around.shown()
	parser, err := newParser(ctx, &around)
	if err != nil {
		_, _ = fmt.Fprintln(around.stderr, "purser:", err)
		return exitFailed
	}
	if len(args) > 0 && args[0] == completeValues {
		completed(ctx, &around, args[1:], parser.Model.Node)
		return 0
	}
	command, err := parse(parser, args, around.stderr)
	if err == nil {
		err = command.Run()
	}
	code = codeOf(err, around.stderr)
	if code == exitFailed && isDetailed(args) && !errors.Is(err, errWouldChange) {
		return exitNo
	}
	return code
}

func newParser(ctx context.Context, around *surroundings) (*kong.Kong, error) {
	parser, err := kong.New(&commands{},
		kong.Name("purser"), kong.Description(description), kong.ExplicitGroups(groups()),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}), kong.Vars{"version": versionText()},
		kong.Writers(around.stdout, around.stderr), kong.Exit(func(code int) { panic(exit(code)) }),
		kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(around))
	if err != nil {
		return nil, fmt.Errorf("read the definitions of the commands: %w", err)
	}
	parser.Model.HelpFlag.Help = "Print this help and exit."
	for _, command := range commandsFrom(parser.Model.Node)[1:] {
		command.Detail = detailOf(command)
		addFormer(command)
	}
	return parser, nil
}

// errInterrupted is the error of a command that a signal ended.
var errInterrupted = errors.New("interrupted")

// codeOf prints the error of a command and returns the exit code.
func codeOf(err error, stderr io.Writer) int {
	if err == nil {
		return 0
	}
	if errors.Is(err, context.Canceled) {
		err = errInterrupted
	}
	if err.Error() != "" {
		_, _ = fmt.Fprintln(stderr, "purser:", err)
	}
	if errors.Is(err, errWouldChange) {
		return exitChange
	}
	if _, ok := errors.AsType[no](err); ok {
		return exitNo
	}
	if _, ok := errors.AsType[folder.Invalid](err); ok {
		return exitNo
	}
	if refused, ok := errors.AsType[*client.Error](err); ok && refused.Refusal() {
		return exitNo
	}
	return exitFailed
}

// commandOf returns the command, as typed, that an error of kong's Parse is about.
func commandOf(err error) string {
	command := "purser"
	if failed, ok := errors.AsType[*kong.ParseError](err); ok {
		for _, step := range failed.Context.Path {
			if step.Command != nil {
				command = "purser " + step.Command.Path()
			}
		}
	}
	return command
}

var (
	noValue      = regexp.MustCompile(`"",|,""`) // among the values of a flag that need not be given
	missing      = regexp.MustCompile(`^expected "(<.*>)"$`)
	unexpected   = regexp.MustCompile(`^unexpected argument (\S+?)(,|$)`)
	oneOfSeveral = regexp.MustCompile(`, did you mean one of (.*)\?$`)
	unknownFlags = regexp.MustCompile(`^unknown flag --?([\w-]+)`)
)

// mistakeOf describes a mistake in a command line: it replaces kong's terms in an error by those of the help.
func mistakeOf(err error, command string, model *kong.Application) string {
	text := noValue.ReplaceAllString(err.Error(), "")
	text = withoutRepeats(missing.ReplaceAllString(text, "$1 is missing"))
	if word := unexpected.FindStringSubmatch(text); word != nil && command == "purser" && meant[word[1]] != "" {
		return fmt.Sprintf("unexpected argument %s, did you mean %q?", word[1], meant[word[1]])
	}
	said := unknownFlags.FindStringSubmatch(text)
	if said == nil || command != "purser" {
		return text
	}
	for _, leaf := range model.Leaves(true) {
		for _, f := range leaf.Flags {
			if f.Name == said[1] || f.Short != 0 && string(f.Short) == said[1] {
				flag := strings.TrimPrefix(said[0], "unknown flag ")
				return fmt.Sprintf("%s stands before the command, and flags follow it: purser COMMAND %[1]s", flag)
			}
		}
	}
	return text
}

// withoutRepeats names each proposal in an error of kong once: a flag with a former short form is two flags to kong.
func withoutRepeats(text string) string {
	found := oneOfSeveral.FindStringSubmatch(text)
	if found == nil {
		return text
	}
	names := slices.Compact(slices.Sorted(strings.SplitSeq(found[1], ", ")))
	proposal := ", did you mean one of " + strings.Join(names, ", ")
	if len(names) == 1 {
		proposal = ", did you mean " + names[0]
	}
	return strings.TrimSuffix(text, found[0]) + proposal + "?"
}

// versionCommand prints the version.
type versionCommand struct{}

// Run prints the version.
func (versionCommand) Run(around *surroundings) error {
	return write(around, versionText())
}

// versionText returns the version that the build has set, or else that of the module, as set by go install.
func versionText() string {
	if info, ok := debug.ReadBuildInfo(); ok && version == "development" && info.Main.Version != "" {
		return info.Main.Version
	}
	return version
}
