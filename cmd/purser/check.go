package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"purser/cmd/purser/internal/folder"
	"purser/internal/check"
	"purser/internal/queries"
	"purser/internal/words"
)

// checkCommand checks files as a server would.
type checkCommand struct {
	Paths []string `arg:"" optional:"" complete:"file" name:"path" help:"Files, folders with *.yaml, *.yml and *.json, or - for the standard input (default: the working directory)."`

	Format   string   `aliases:"output" choices:"text,table,name,json,yaml,sarif,junit,github,gitlab" formerly:"f" short:"o" help:"Output format: text or table (default), name (the documents with findings), json, yaml, sarif, junit, github or gitlab." placeholder:"FORMAT"`
	FailOn   string   `choices:"error,warning,info" help:"The lowest level of a finding that makes the exit code 1: error (default), warning or info." placeholder:"LEVEL"`
	Select   []string `help:"Report only the findings of these rules." placeholder:"RULE" values:"rules"`
	Ignore   []string `help:"Leave out the findings of these rules." placeholder:"RULE" values:"rules"`
	Baseline string   `help:"File of known findings, which are left out." placeholder:"FILE" complete:"file"`
	Schemas  []string `help:"Files or folders with further DataSchemas." placeholder:"PATH" complete:"file"`
	Exclude  []string `help:"Skip files and folders with these names, such as *.tmpl.yaml, or with these paths below the checked folder, such as charts/old." placeholder:"PATTERN"`
	BucketBy string   `choices:"none,folder,file" help:"How documents are grouped into buckets, in reports and with --render: none (default; all are in one), folder or file." placeholder:"none|folder|file"`
	Render   string   `help:"Also write the rendered documents if there are no errors: to files in a folder, or to standard output (-)." placeholder:"FOLDER|-" complete:"file"`
	Config   string   `help:"Read options from this file rather than from .purser.yaml in the first folder that has one." placeholder:"FILE" complete:"file"`

	ClientVersion map[string]string `help:"Version of a client plugin, for property groups, as the server's flag of this name; may be repeated." placeholder:"PLUGIN=VERSION" mapsep:"none"`
	AssertFormats bool              `help:"Check formats in DataSchemas, as the server's flag of this name."`

	AllowEmpty    bool `help:"Exit with 0 if there are no documents, for hooks that run before there are any."`
	Murano        bool `help:"The paths are packages of Murano, or folders of packages: check them as mpl-check does. Only the flags --format, --fail-on, --select, --ignore and --allow-empty apply."`
	WriteBaseline bool `help:"Write the findings to the file of --baseline, and exit with 0."`
	Watch         bool `help:"Check again whenever files change, until interrupted."`
	ListRules     bool `help:"Print the rules and exit."`
}

// Run checks the files and prints the findings.
func (c *checkCommand) Run(ctx context.Context, around *surroundings) error {
	if c.ListRules {
		return c.listRules(around)
	}
	if len(c.Paths) == 0 {
		c.Paths = []string{"."}
	}
	if c.Murano {
		return c.checkPackages(ctx, around)
	}
	if err := c.configure(ctx); err != nil {
		return err
	}
	boundMemory()
	progress := newProgress(around.stderr)
	checker := check.New(check.Options{
		BucketBy: c.BucketBy, ClientVersions: c.ClientVersion, AssertFormats: c.AssertFormats, Progress: progress.show,
	})
	reader := &check.Reader{Stdin: around.stdin, Exclude: c.Exclude}
	if c.Watch {
		return c.watch(ctx, around, checker, reader, progress)
	}
	in, err := c.read(reader)
	if err != nil {
		return err
	}
	return c.check(ctx, around, checker, in, progress)
}

// listRules prints the rules, in two columns unless another format is asked for.
func (c *checkCommand) listRules(around *surroundings) error {
	format := textForTable(cmp.Or(c.Format, "text"))
	if err := oneOf("--format", format, []string{"text", "name", "json", "yaml"}); err != nil {
		return err
	}
	var b strings.Builder
	var names []string
	rules := []map[string]string{}
	for _, rule := range check.Rules() {
		fmt.Fprintf(&b, "%-24s%s. %s\n", rule.ID, rule.Short, rule.Help)
		names = append(names, rule.ID)
		rules = append(rules, map[string]string{"rule": rule.ID, "short": rule.Short, "help": rule.Help})
	}
	return output{format}.print(around, answer{marshal(rules), names, b.String()})
}

// configure sets options that the command line does not, and checks the flags.
func (c *checkCommand) configure(ctx context.Context) error {
	config, err := check.FindConfig(ctx, c.Paths)
	if c.Config != "" {
		config, err = check.ReadConfig(ctx, c.Config)
	}
	if err != nil {
		return err
	}
	c.Format = textForTable(cmp.Or(c.Format, config.Format, "text"))
	c.FailOn = cmp.Or(c.FailOn, config.FailOn, queries.LevelError.String())
	c.BucketBy = cmp.Or(c.BucketBy, config.BucketBy, check.None)
	c.Baseline = cmp.Or(c.Baseline, config.Baseline)
	c.AssertFormats = c.AssertFormats || config.AssertFormats
	c.Schemas = append(c.Schemas, config.Schemas...)
	c.Exclude = append(c.Exclude, config.Exclude...)
	c.Ignore = append(c.Ignore, config.Ignore...)
	if len(c.Select) == 0 {
		c.Select = config.Select
	}
	versions := maps.Clone(config.ClientVersions)
	if versions == nil {
		versions = map[string]string{}
	}
	maps.Copy(versions, c.ClientVersion)
	c.ClientVersion = versions
	return errors.Join(
		oneOf("--format", c.Format, check.Formats()),
		oneOf("--fail-on", c.FailOn, []string{"error", "warning", "info"}),
		oneOf("--bucket-by", c.BucketBy, check.Groupings()),
		check.KnowsRules(slices.Concat(c.Select, c.Ignore)), check.ParsePatterns(c.Exclude), c.checkBaseline())
}

var errNoBaseline = errors.New("--write-baseline needs --baseline FILE, which it writes")

func (c *checkCommand) checkBaseline() error {
	if c.WriteBaseline && c.Baseline == "" {
		return errNoBaseline
	}
	return nil
}

// textForTable returns the format text for table, its name in commands that print the answers of a server.
func textForTable(format string) string {
	if format == "table" {
		return "text"
	}
	return format
}

func oneOf(flag, value string, values []string) error {
	if slices.Contains(values, value) {
		return nil
	}
	return fmt.Errorf("%s: %q is none of %s", flag, value, strings.Join(values, ", "))
}

// boundMemory limits the memory of a check to 512 MiB, and collects garbage less often below that. GOMEMLIMIT and GOGC
// in the environment take precedence.
func boundMemory() {
	const most, percent = 400 << 20, 400
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(most)
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}

// input is the files of the paths, and those that were excluded.
type input struct {
	files    []check.File
	excluded []string
}

// read reads the files. Those with schemas come last, so that DataSchemas in the paths take precedence.
func (c *checkCommand) read(reader *check.Reader) (input, error) {
	files, excluded, err := reader.Read(c.Paths, false)
	if err != nil {
		return input{}, err
	}
	schemas, _, err := reader.Read(c.Schemas, true)
	return input{append(files, schemas...), excluded}, err
}

// noDocuments is the error of a check that has found no document.
type noDocuments string

func (n noDocuments) Error() string { return string(n) }

// foundNone returns the error that says where no document was found.
func (c *checkCommand) foundNone(skipped, excluded []string) noDocuments {
	paths := strings.Join(c.Paths, ", ")
	if paths == "-" {
		paths = "the standard input"
	}
	text := "nothing was checked: there is no document in " + paths
	skipped = slices.DeleteFunc(skipped, func(name string) bool { return slices.Contains(c.Paths, name) })
	if len(skipped) > 0 {
		text += "; without documents: " + folder.Listed(skipped)
	}
	if len(excluded) > 0 {
		text += "; excluded: " + folder.Listed(excluded)
	}
	return noDocuments(text + "\nName the files that hold documents, or their folders, where *.yaml, *.yml and *.json " +
		"are read; with --allow-empty, the exit code is 0 if there are none")
}

// check checks files and prints the report.
func (c *checkCommand) check(ctx context.Context, around *surroundings, checker *check.Checker, in input,
	progress *progress,
) error {
	report, err := checker.Check(ctx, in.files)
	if progress.clear(); err != nil {
		return err
	}
	report = report.Choose(c.Select, c.Ignore)
	switch {
	case c.AllowEmpty:
	case report.Documents == 0 && len(report.Findings) == 0:
		return c.foundNone(report.Skipped, in.excluded)
	case report.Schemas == 0 && len(c.Schemas) > 0 && report.Whole:
		return noDocuments("nothing was checked: there is no DataSchema in " + strings.Join(c.Schemas, ", ") + ", which " +
			"--schemas names\nName the files that hold them, or their folders, or leave --schemas out")
	}
	if c.WriteBaseline {
		return c.writeBaseline(ctx, around, report)
	}
	if c.Baseline != "" {
		baseline, err := check.ReadBaseline(ctx, c.Baseline)
		if err != nil {
			return err
		}
		report = report.Without(baseline)
	}
	out := around.stdout
	if c.Render == "-" { // the documents are on standard output
		out = around.stderr
	}
	options := check.FormatOptions{Color: hasColors(out), Version: versionText()}
	if err := check.Write(out, c.Format, report, options); err != nil {
		return err
	}
	if err := c.render(around.stdout, report); err != nil {
		return err
	}
	if report.Fails(levelOf(c.FailOn)) {
		return no("")
	}
	return nil
}

func levelOf(word string) check.Level {
	for level := range queries.LevelInfo {
		if level.String() == word {
			return level
		}
	}
	return queries.LevelInfo
}

func (c *checkCommand) writeBaseline(ctx context.Context, around *surroundings, report check.Report) error {
	old, err := os.ReadFile(c.Baseline)
	if err == nil && !check.MayReplace(ctx, old) {
		return fmt.Errorf("%s is no baseline, and is not overwritten; name another file", c.Baseline)
	}
	var text strings.Builder
	if err := report.Baseline().Write(&text); err != nil {
		return err
	}
	if err := os.WriteFile(c.Baseline, []byte(text.String()), 0o644); err != nil { //nolint:gosec // it is committed
		return fmt.Errorf("write the baseline: %w", err)
	}
	return write(around, words.Count(len(report.Findings), "finding")+" written to "+c.Baseline)
}

// render writes the rendered documents.
func (c *checkCommand) render(stdout io.Writer, report check.Report) error {
	switch {
	case c.Render == "":
		return nil
	case report.Rendered == nil:
		return no("nothing is rendered: the documents do not render to valid ones, or none of them has a layer")
	case c.Render != "-":
		return check.WriteFolder(c.Render, report.Render(), report.Files)
	}
	texts := report.Render()
	for _, bucket := range slices.Sorted(maps.Keys(texts)) {
		if _, err := stdout.Write(texts[bucket]); err != nil {
			return fmt.Errorf("write rendered documents: %w", err)
		}
	}
	return nil
}

// watch checks the paths, and again whenever they change.
func (c *checkCommand) watch(ctx context.Context, around *surroundings, checker *check.Checker, reader *check.Reader,
	progress *progress,
) error {
	const often, share = 50 * time.Millisecond, 10 // share: of the time is spent on looking for changes
	var last []check.File
	var said string
	for first := true; ; first = false {
		began := time.Now()
		in, err := c.read(reader)
		wait := max(often, share*time.Since(began))
		if err == nil && (first || !check.Same(last, in.files)) {
			if last, said = in.files, ""; isTerminal(around.stdout) {
				_, _ = io.WriteString(below(around.stdout), "\x1b[2J\x1b[H") // clear the screen
			}
			err = c.check(ctx, around, checker, in, progress)
			_, isEmpty := errors.AsType[noDocuments](err)
			if _, found := errors.AsType[no](err); found {
				err = nil
			} else if err != nil && !isEmpty {
				return err
			}
		}
		switch {
		case err != nil && first:
			return err
		case err != nil && said != err.Error(): // for example, a path is missing for a moment
			said = err.Error()
			_, _ = fmt.Fprintln(around.stderr, "purser:", said)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
	}
}

// progress shows the progress of a long check on a terminal.
type progress struct {
	w     io.Writer // nil if it is not a terminal
	began time.Time
	shown bool
}

func newProgress(w io.Writer) *progress {
	if w = below(w); !isTerminal(w) {
		w = nil
	}
	return &progress{w: w, began: time.Now()}
}

func (p *progress) show(done, of int) {
	const patience, width = 300 * time.Millisecond, 30
	if p.w == nil || of == 0 || time.Since(p.began) < patience {
		return
	}
	p.shown = true
	full := width * done / of
	_, _ = fmt.Fprintf(p.w, "\r\x1b[K[%s%s] %d of %d documents", strings.Repeat("=", full),
		strings.Repeat(" ", width-full), done, of)
}

// clear removes the progress bar.
func (p *progress) clear() {
	if p.shown {
		_, _ = io.WriteString(p.w, "\r\x1b[K")
		p.shown = false
	}
}
