// Package pattern searches texts for the patterns of substitutions, which are regular expressions in RE2's dialect
// (spec/rendering.md §0 R7).
//
// A search cannot be stopped, so its cost is counted before it begins. The size of the pattern's program bounds the
// work for each character, and the length of its longest match bounds the work to search again behind one.
package pattern

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/document/repr"
	"purser/internal/rendering/meter"
	"purser/internal/words"
)

const (
	// maxLength bounds a pattern, in bytes, and maxInstructions the program that it is compiled to.
	maxLength       = 10_000
	maxInstructions = 10_000
	// maxMatching bounds the steps of one search through a text, which cannot be stopped, and maxMatches its matches.
	maxMatching = budget.Second
	maxMatches  = 1 << 18

	compileCost     = 300 // to compile an instruction
	instructionCost = 6   // to run an instruction on a character
	matchCost       = 200 // to begin to search, and to note a match
	instructionSize = 300
	matchSize       = meter.List + meter.Word
)

// ErrTooMuchWork is the error of a search that would take too long.
var ErrTooMuchWork = errors.New("a pattern takes too much work on a text of this length; make it simpler")

// Pattern is a regular expression.
type Pattern struct {
	re           *regexp.Regexp
	literal      string // the only text it matches, if there is just one
	instructions int    // about as many as its program has
	reach        int    // how many bytes it looks at from where it matches, at most
	inLine       bool   // it looks at no more than a line
	err          error
}

// Compiler compiles each pattern once.
type Compiler struct {
	*meter.Meter

	known map[string]*Pattern
}

// NewCompiler returns a compiler that counts its work.
func NewCompiler(m *meter.Meter) *Compiler { return &Compiler{m, map[string]*Pattern{}} }

// Compile compiles a pattern.
func (c *Compiler) Compile(written string) (*Pattern, error) {
	known := c.known[written]
	if known == nil {
		known = compile(written)
		c.known[written] = known
		c.Charge(compileCost * (len(written) + known.instructions))
		c.Hold(meter.Entry + instructionSize*known.instructions)
	}
	return known, known.err
}

func compile(written string) *Pattern {
	if len(written) > maxLength {
		return &Pattern{err: fmt.Errorf("the pattern '%s' is too large", words.Excerpt(written))}
	}
	parsed, err := syntax.Parse(written, syntax.Perl)
	if err != nil {
		return &Pattern{err: fmt.Errorf("the pattern '%s' is not valid RE2 (https://github.com/google/re2/wiki/Syntax): %w",
			words.Excerpt(written), err)}
	}
	p := &Pattern{instructions: 1 + instructions(parsed), reach: reach(parsed), inLine: !crossesLines(parsed)}
	if p.instructions > maxInstructions {
		return &Pattern{err: fmt.Errorf("the pattern '%s' is too large", words.Excerpt(written))}
	}
	if p.re, err = regexp.Compile(written); err != nil {
		return &Pattern{err: fmt.Errorf("the pattern '%s': %w", words.Excerpt(written), err)}
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
	return min(n, 2*maxInstructions) // far from overflowing
}

// unbounded is the reach of a pattern that matches texts of any length.
const unbounded = 1 << 40

// reach returns the maximum length of a match with one character on each side, in bytes.
func reach(re *syntax.Regexp) int {
	n := utf8.UTFMax
	switch re.Op { //nolint:exhaustive // all others match as their parts do
	case syntax.OpStar, syntax.OpPlus:
		return unbounded
	case syntax.OpLiteral:
		n *= 1 + len(re.Rune)
	}
	for _, sub := range re.Sub {
		n += reach(sub)
	}
	if re.Op == syntax.OpRepeat {
		if re.Max < 0 {
			return unbounded
		}
		n *= 1 + re.Max
	}
	return min(n, unbounded)
}

// crossesLines reports whether a part of an expression matches the end of a line.
func crossesLines(re *syntax.Regexp) bool {
	switch re.Op { //nolint:exhaustive // all others match as their parts do
	case syntax.OpAnyChar:
		return true
	case syntax.OpLiteral:
		return slices.Contains(re.Rune, '\n')
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			if re.Rune[i] <= '\n' && '\n' <= re.Rune[i+1] {
				return true
			}
		}
	}
	return slices.ContainsFunc(re.Sub, crossesLines)
}

// longestLine returns the length of the longest line of a text.
func longestLine(text string) (longest int) {
	for line := range strings.Lines(text) {
		longest = max(longest, len(line))
	}
	return longest
}

// afford charges for a search through a text in advance.
func (p *Pattern) afford(m *meter.Meter, text string) error {
	cost := matchCost + len(text)*p.instructions*instructionCost
	if cost > maxMatching {
		return ErrTooMuchWork
	}
	m.Charge(cost)
	return m.Err
}

// Matches finds all matches of a pattern in a text. After each match, the search restarts behind it and may read the
// same text again, so some patterns take time quadratic in the length of the text.
func (p *Pattern) Matches(m *meter.Meter, text string) ([][]int, error) {
	if p.literal != "" {
		return occurrences(m, text, p.literal)
	}
	if err := p.afford(m, text); err != nil {
		return nil, err
	}
	reach := min(p.reach, len(text))
	if p.inLine && reach > longestLine(text) {
		reach = longestLine(text)
	}
	again := matchCost + reach*p.instructions*instructionCost
	most := min(maxMatches, 1+maxMatching/again)
	found := p.re.FindAllStringIndex(text, most)
	m.Charge(again * len(found))
	m.HoldBriefly(matchSize * len(found))
	if len(found) == most {
		return nil, ErrTooMuchWork
	}
	return found, m.Err
}

// occurrences finds the positions of one text in another.
func occurrences(m *meter.Meter, text, part string) ([][]int, error) {
	m.Charge(meter.Visit + len(text)/meter.BytesPerStep)
	count := strings.Count(text, part)
	m.Charge(meter.Visit * count)
	if m.HoldBriefly(matchSize * count); m.Err != nil {
		return nil, m.Err
	}
	found, bounds := make([][]int, count), make([]int, 2*count)
	for i, at := 0, 0; i < count; i++ {
		at += strings.Index(text[at:], part)
		found[i] = append(bounds[2*i:2*i], at, at+len(part))
		at += len(part)
	}
	return found, nil
}

// Group searches a text and returns the group that is asked for: nil if it took no part, all of the text if nothing is
// found.
func (p *Pattern) Group(m *meter.Meter, text string, asked any) (value any, found bool, err error) {
	number := 0
	if asked != nil {
		written, _ := asked.(document.Number)
		if number, err = strconv.Atoi(string(written)); err != nil || number < 0 || number > p.re.NumSubexp() {
			return nil, false, fmt.Errorf("src.match_group %s is not one of the %d groups of the pattern", repr.Of(asked),
				p.re.NumSubexp())
		}
	}
	if err := p.afford(m, text); err != nil {
		return nil, false, err
	}
	at := p.re.FindStringSubmatchIndex(text)
	switch {
	case at == nil:
		return text, false, nil
	case at[2*number] < 0:
		return nil, true, nil
	}
	return text[at[2*number]:at[2*number+1]], true, nil
}
