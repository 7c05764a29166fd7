package regex

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"

	"purser/internal/budget"
	"purser/internal/cache"
)

// MaxLength is the maximum length of an expression, in bytes.
const MaxLength = 4096

// maxSteps is the maximum price of an expression. It also bounds the memory for compiling it, to a few MiB.
const maxSteps = 15_000_000

// Expression is a compiled regular expression. It is safe for concurrent use.
type Expression struct {
	*regexp.Regexp

	text   string
	Size   int  // about the number of instructions of its program, which bounds the work for a byte of text
	Reach  int  // how many bytes it looks at from where it matches, at most
	InLine bool // it looks at no more than a line
	Bytes  int  // about the memory that it takes
}

// Error is why an expression is refused before it is parsed.
type Error string

func (e Error) Error() string { return string(e) }

// outcome is an expression or the reason why it is refused.
type outcome struct {
	*Expression

	err error
}

func (o outcome) size() int {
	if o.Expression == nil {
		return 0
	}
	return o.Bytes
}

// known has the outcomes of the recent expressions of all callers.
var known = cache.New[string, outcome](16 * budget.MiB) //nolint:gochecknoglobals // its size is bounded

// Costs in steps.
const (
	knownSteps = 300 // finding an outcome
	matchSteps = 30  // looking for a match
	matchByte  = 8   // additionally, for each byte of the text and each instruction
)

// CheckLength returns an Error if an expression is longer than MaxLength.
func CheckLength(text string) error {
	if len(text) <= MaxLength {
		return nil
	}
	return Error(fmt.Sprintf("it has %d bytes, and at most %d are allowed; shorten it, or split it into several",
		len(text), MaxLength))
}

// Compile compiles an expression. It charges the price first, unless it knows the outcome. The errors are of type Error
// or *syntax.Error. The meter may be nil; otherwise callers must check it, at least after every few expressions.
func Compile(meter *budget.Meter, text string) (*Expression, error) {
	if err := CheckLength(text); err != nil {
		return nil, err
	}
	return CompileTranslated(meter, text)
}

// CompileTranslated is Compile without a maximum length, for the translation of an expression that has passed
// CheckLength.
func CompileTranslated(meter *budget.Meter, text string) (*Expression, error) {
	charge(meter, knownSteps+len(text))
	if found, ok := known.Get(text); ok {
		return found.Expression, found.err
	}
	text = strings.Clone(text) // without the document that it is a part of
	p := priceOf(text)
	found := outcome{err: errTooLarge}
	if p.steps <= maxSteps {
		charge(meter, p.steps)
		found = compile(text, p)
	} else {
		charge(meter, byteSteps*len(text)) // for the price alone
	}
	known.Add(text, found, len(text)+found.size())
	return found.Expression, found.err
}

const errTooLarge Error = "it takes too much work to compile; make its repetitions and its classes smaller"

func charge(meter *budget.Meter, steps int) {
	if meter != nil {
		meter.Charge(steps)
	}
}

// onePass is the size up to which an expression may be compiled to a one-pass program. That makes matching faster, but
// package regexp takes time in the cube of the size to find out whether it is possible.
const onePass = 40

// notOnePass before an expression matches the same and prevents a one-pass program.
const notOnePass = `(?:)`

// String returns the text that was compiled.
func (e *Expression) String() string { return e.text }

// MatchSteps returns the cost of looking for a match in a text of n bytes, in steps. Callers spend them before, because
// a search cannot be stopped.
func (e *Expression) MatchSteps(n int) int { return matchSteps + e.Size*(n+1)*matchByte }

func compile(text string, p price) outcome {
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return outcome{err: err}
	}
	runs := text
	if p.size > onePass {
		runs = notOnePass + text
	}
	re, err := regexp.Compile(runs)
	if err != nil {
		return outcome{err: err}
	}
	const instructionBytes, runeBytes = 64, 4
	bytes := instructionBytes*p.instructions + runeBytes*runes(tree)
	return outcome{Expression: &Expression{re, text, p.size, reach(tree), !crossesLines(tree), bytes}}
}

// runes returns the number of characters in an expression, where classes have two for each range. Repetitions share
// them.
func runes(re *syntax.Regexp) int {
	n := len(re.Rune)
	for _, sub := range re.Sub {
		n += runes(sub)
	}
	return n
}
