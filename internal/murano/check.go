package murano

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"sync"

	"purser/internal/budget"
	"purser/internal/murano/yaql"
)

// Validator checks one aspect of packages.
type Validator struct {
	Name  string // short, for the option --scope
	Codes []Code // that it may report, besides the general codes
	Run   func(*Check)
}

// Builtin returns the validators of this package, in the order in which they run.
func Builtin() []Validator {
	return []Validator{
		{"manifest", manifestCodes(), checkManifest},
		{"class", classCodes(), checkClasses},
		{"ui", uiCodes(), checkUI},
		{"package", layoutCodes(), checkLayout},
	}
}

// Options select what is checked and reported. The zero Options check everything.
type Options struct {
	Validators     []Validator // nil means Builtin
	Scope          []string    // names of validators; nil means all
	Select, Ignore []string    // codes, or their numbers without prefix; nil means all and none
	Discover       bool        // of RunPath: the path is a folder to search for packages
	Nested         bool        // of RunPath: archives at the top of a package are packages, too
}

// maxIssues bounds the issues of a report, because people read them.
const maxIssues = 10_000

// Run checks a package. Errors come from the budget of ctx.
func Run(ctx context.Context, pkg *Package, o Options) (Report, error) {
	validators := o.Validators
	if validators == nil {
		validators = Builtin()
	}
	c := &Check{ctx: ctx, meter: budget.NewMeter(ctx), Package: pkg, options: o, refused: map[string]bool{}}
	for _, issue := range pkg.Problems {
		c.Report(issue)
	}
	for _, issue := range c.report.Issues {
		c.refused[plainName(issue.File)] = true
	}
	c.Manifest = pkg.Manifest(c.meter)
	c.Format = formatOf(c.Manifest)
	for _, v := range validators {
		if pkg.Unread {
			break
		}
		if o.Scope == nil || slices.Contains(o.Scope, v.Name) {
			c.run(v)
		}
	}
	if c.err == nil {
		c.err = c.meter.Check()
	}
	c.report.sort()
	if c.err == nil {
		c.err = c.report.addSources(c.meter, pkg)
	}
	return c.report, c.err
}

// Check is the state of the check of one package. Validators use it.
type Check struct {
	Package  *Package
	Manifest *Value // nil if there is none
	Format   Format

	ctx     context.Context //nolint:containedctx // of this check
	meter   *budget.Meter
	options Options
	refused map[string]bool // files that the loader has reported, by their plain names: they are not missing
	file    string          // the file being checked
	report  Report
	err     error // of the budget; if set, the check ends early
}

// Context returns the context of the check.
func (c *Check) Context() context.Context { return c.ctx }

// fail ends the check with an error, unless it is nil.
func (c *Check) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// spend charges steps to the budget and reports whether the check continues.
func (c *Check) spend(steps int) bool {
	if c.err == nil {
		c.err = c.meter.Spend(steps)
	}
	return c.err == nil
}

func (c *Check) run(v Validator) {
	defer func() {
		if p := recover(); p != nil {
			c.Report(Issue{Code: "E000", Message: fmt.Sprintf("Checker %s failed: %v", v.Name, p), File: c.file})
		}
	}()
	v.Run(c)
}

// The costs of an issue and of a byte of its message in steps, and its memory besides its message in bytes.
const (
	issueSteps   = 2_000
	messageSteps = 5
	issueBytes   = 300
)

// Report adds an issue, unless its code is not selected. It sets the severity.
func (c *Check) Report(issue Issue) {
	isIn := func(selectors []string) bool {
		return slices.ContainsFunc(selectors, Code{Code: issue.Code}.Is)
	}
	if !c.spend(issueSteps+messageSteps*len(issue.Message)) || c.options.Select != nil && !isIn(c.options.Select) ||
		isIn(c.options.Ignore) {
		return
	}
	switch n := len(c.report.Issues); {
	case n > maxIssues:
		return
	case n == maxIssues:
		issue = Issue{Code: "E003", Message: fmt.Sprintf("There are more than %d issues", maxIssues)}
	}
	issue.Severity = severityOf(issue.Code)
	c.fail(c.meter.Hold(issueBytes + len(issue.Message)))
	c.report.Issues = append(c.report.Issues, issue)
}

// atf reports an issue at a value of the current file. If the value is nil, the issue has no place.
func (c *Check) atf(code string, v *Value, format string, args ...any) {
	issue := Issue{Code: code, Message: fmt.Sprintf(format, args...)}
	if v != nil {
		issue.File, issue.Located, issue.Line, issue.Column = c.file, true, v.Line, v.Column
	}
	c.Report(issue)
}

// aboutf reports an issue about a file as a whole.
func (c *Check) aboutf(code, file, format string, args ...any) {
	c.Report(Issue{Code: code, Message: fmt.Sprintf(format, args...), File: file})
}

// visitSteps is the cost of visiting a value.
const visitSteps = 100

// enter charges a visit of a value to the budget and reports whether the check continues.
func (c *Check) enter(v *Value) bool {
	cost := visitSteps
	if v != nil {
		cost += len(v.Text)
	}
	return c.spend(cost)
}

// items yields the items of a list, or the value itself, and charges a visit of each, until the budget is exceeded.
func (c *Check) items(v *Value) iter.Seq[*Value] {
	return func(yield func(*Value) bool) {
		for _, item := range itemsOf(v) {
			if !c.enter(item) || !yield(item) {
				return
			}
		}
	}
}

// members yields the keys and values of a mapping, and charges a visit of each value, until the budget is exceeded.
func (c *Check) members(v *Value) iter.Seq2[*Value, *Value] {
	return func(yield func(key, value *Value) bool) {
		for _, e := range v.Entries {
			if !c.enter(e.Value) || !yield(e.Key, e.Value) {
				return
			}
		}
	}
}

// yaqlSteps is the cost of parsing a byte of an expression.
const yaqlSteps = 100

// parses reports whether a text is a valid expression.
func (c *Check) parses(text string, engine yaql.Engine) bool {
	return !c.spend(yaqlSteps*(1+len(text))) || yaql.Valid(text, engine)
}

// keywords maps the known keys of a document to the checks of their values. A nil check accepts any value.
type keywords map[string]func(*Value)

// documents checks the documents of a YAML file: it calls whole for each document, then the check of each key.
func (c *Check) documents(name string, several bool, keys keywords, whole func(doc *Value)) []*Value {
	c.file = name
	docs, err := c.Package.Files[name].Documents(c.meter)
	if problem, ok := errors.AsType[*yamlError](err); ok {
		c.Report(Issue{
			Code: "E002", Message: "Yaml Error: " + problem.Message, File: name, Located: problem.Line >= 0,
			Line: max(0, problem.Line), Column: problem.Column,
		})
		return nil
	}
	if err != nil {
		c.fail(err)
		return nil
	}
	if len(docs) > 1 && !several {
		c.atf("E005", docs[1], "Multi document is not allowed in %s", name)
	}
	for _, doc := range docs {
		if doc.Kind != Map {
			c.atf("E004", doc, "The document is not a mapping")
			continue
		}
		c.twice(doc)
		whole(doc)
		for key, value := range c.members(doc) {
			check, known := keys[key.String()]
			switch {
			case !known || key.Kind != String:
				c.atf("W010", key, `Unknown keyword "%s"`, key)
			case check != nil:
				check(value)
			}
		}
	}
	return docs
}

// twice warns of duplicate keys in a mapping and its descendants.
func (c *Check) twice(v *Value) {
	if !c.enter(nil) {
		return
	}
	for _, key := range v.Twice {
		c.atf("W012", key, `Key "%s" appears twice; the last value counts`, key)
	}
	for _, item := range v.Items {
		if item.Kind >= Seq {
			c.twice(item)
		}
	}
	for _, e := range v.Entries {
		if e.Value.Kind >= Seq {
			c.twice(e.Value)
		}
	}
}

// isString checks that a value is a string.
func (c *Check) isString(v *Value) {
	if v.Kind != String {
		c.atf("E040", v, `Value is not a string "%s"`, v)
	}
}

// mustCompile returns a function that compiles a pattern when it is first called. For those with letters of any script
// this takes a millisecond each, which programs need not spend that check no package.
func mustCompile(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// The patterns of names. \p{L} and \p{N} allow letters and digits of any script.
var (
	namePattern = mustCompile(`^[A-Za-z_][\p{L}\p{N}_]*$`)
	fqnPattern  = mustCompile(`^([a-zA-Z_$][\p{L}\p{N}_$]*\.)*[a-zA-Z_$][\p{L}\p{N}_$]*$`)
	typePattern = mustCompile(`^([A-Za-z_][\p{L}\p{N}_]*:|:)?([a-zA-Z_$][\p{L}\p{N}_$]*\.)*[a-zA-Z_$][\p{L}\p{N}_$]*$`)
)

// nameSteps is the cost of matching a byte of a name.
const nameSteps = 200

// isName reports whether a value is a string that matches a pattern.
func (c *Check) isName(v *Value, pattern func() *regexp.Regexp) bool {
	return v.Kind == String && (!c.spend(nameSteps*len(v.Text)) || pattern().MatchString(v.Text))
}

// oneOf reports whether a value is one of the given strings.
func oneOf(v *Value, words ...string) bool {
	return v.Is(String) && slices.Contains(words, v.Text)
}

// itemsOf returns the items of a list, or the value itself.
func itemsOf(v *Value) []*Value {
	if v.Kind == Seq {
		return v.Items
	}
	return []*Value{v}
}
