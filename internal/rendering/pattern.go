package rendering

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strconv"

	"purser/internal/document"
)

const (
	// mostInstructions bounds the program that a pattern is compiled to.
	mostInstructions = 10_000
	// mostMatching bounds instructions times characters of one search, which cannot be stopped: a second or two.
	mostMatching = 1 << 28
	// bytesPerStep is how much of a text a search for another text gets through in the time of one step.
	bytesPerStep = 8
)

var errTooMuchWork = errors.New("a pattern takes too much work on a text of this length; make it simpler")

// pattern is a regular expression in RE2's dialect (R7).
type pattern struct {
	re           *regexp.Regexp
	literal      string // what it matches, if it matches but one text
	instructions int    // about as many as its program has
	err          error
}

// compile compiles a pattern once a rendering.
func (e *engine) compile(written string) (*pattern, error) {
	known := e.patterns[written]
	if known == nil {
		e.charge(len(written))
		known = newPattern(written)
		e.patterns[written] = known
	}
	return known, known.err
}

func newPattern(written string) *pattern {
	parsed, err := syntax.Parse(written, syntax.Perl)
	if err != nil {
		return &pattern{err: fmt.Errorf("the pattern '%s' is none of RE2's (https://github.com/google/re2/wiki/Syntax): %w",
			shorten(written), err)}
	}
	p := &pattern{instructions: 1 + instructions(parsed)}
	if p.instructions > mostInstructions {
		return &pattern{err: fmt.Errorf("the pattern '%s' is too large", shorten(written))}
	}
	if p.re, err = regexp.Compile(written); err != nil {
		return &pattern{err: fmt.Errorf("the pattern '%s': %w", shorten(written), err)}
	}
	if prefix, complete := p.re.LiteralPrefix(); complete {
		p.literal = prefix
	}
	return p
}

// instructions estimates the size of a program before repetitions are written out.
func instructions(re *syntax.Regexp) int {
	n := 1 + len(re.Rune)
	if re.Op == syntax.OpCharClass {
		n = 1
	}
	for _, sub := range re.Sub {
		n += instructions(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= 1 + max(re.Min, re.Max)
	}
	return min(n, 2*mostInstructions) // far from overflowing
}

// afford charges for a search.
func (e *engine) afford(p *pattern, text string) error {
	cost := 1 + len(text)/bytesPerStep
	if p.literal == "" {
		if cost = len(text) * p.instructions; cost > mostMatching {
			return errTooMuchWork
		}
	}
	e.charge(cost)
	return nil
}

// group searches a text and returns the group that is asked for: nil if it took no part, all of the text if nothing is
// found.
func (e *engine) group(p *pattern, text string, asked any) (any, error) {
	number := 0
	if asked != nil {
		written, _ := asked.(document.Number)
		var err error
		if number, err = strconv.Atoi(string(written)); err != nil || number < 0 || number > p.re.NumSubexp() {
			return nil, fmt.Errorf("src.match_group %s is none of the %d groups of the pattern", repr(asked), p.re.NumSubexp())
		}
	}
	if err := e.afford(p, text); err != nil {
		return nil, err
	}
	found := p.re.FindStringSubmatchIndex(text)
	switch {
	case found == nil:
		return text, nil
	case found[2*number] < 0:
		return nil, nil
	}
	return text[found[2*number]:found[2*number+1]], nil
}
